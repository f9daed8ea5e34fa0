"""An index as a file and as a table, against its arrays, and against counting by hand."""

import copy
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ffnviz
from ffnviz.analysis.neurons.counting import COARSE
from ffnviz.analysis.neurons.index_file import (
    INDEXES,
    IndexFileError,
    in_words,
    read_index,
    write_index,
)
from ffnviz.analysis.neurons.neuron_index import NeuronIndex, build_index, overview, write_table
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.fingerprint import is_of
from tests.analysis.networks import ours, small_model
from tests.analysis.neurons.test_index import made_up, of_version_2

pandas: Any = pytest.importorskip("pandas")

TEXTS = ["The cat sat on the mat.", "She had two dogs.", "The river", "and the cat had gone to"]
TAGGED = ["cat", "no cat", "no cat", "cat"]
TAGS = ("even", "long", "odd")
Indexed = tuple[Model, NeuronIndex]


@pytest.fixture(scope="module", params=["relu", "gelu"])
def tabled(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Indexed:
    model = ours(tokenizer, activation=request.param)
    probes = [Probe(text, (tag,)) for text, tag in zip(TEXTS, TAGGED, strict=True)]
    return model, build_index(model, iter(probes), ("cat", "no cat"), "made up", blocks=[1])


@pytest.fixture(scope="module", params=["relu", "gelu"])
def made(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Indexed:
    """With one side, and with both."""
    model = small_model(tokenizer, "pre", request.param)
    return model, build_index(model, made_up(40), TAGS, "made up")


@pytest.fixture
def path(made: Indexed, tmp_path: Path) -> Path:
    write_index(made[1], tmp_path / "here.npz")
    return tmp_path / "here.npz"


def read(path: Path) -> NeuronIndex:
    return read_index(path, d_ff=32, n_blocks=3)


def test_what_is_written_is_read(made: Indexed, path: Path) -> None:
    (model, index), again = made, read(path)
    for name in ("source", "tags", "texts", "n_texts", "threshold"):
        assert getattr(again, name) == getattr(index, name)
    assert again.network == model.fingerprint
    for one, two in zip(index.blocks, again.blocks, strict=True):
        for name in ("by_position", "examples", "low_examples", "low_tokens"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        for name in ("values", "low_values"):
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-3)
    of_version_2(path)
    old = read(path)
    assert not old.both_sides
    for one, two in zip(old.blocks, again.blocks, strict=True):
        np.testing.assert_array_equal(one.values, two.values)
        assert not one.least.any()
        np.testing.assert_array_equal(one.fired_texts, two.texts)
        assert set(one.sides) == {1}
        assert all(each.value > 0 for each in one.strongest(3))


def test_a_file_that_is_no_index_of_this_model_is_refused(path: Path) -> None:
    with pytest.raises(IndexFileError, match="3 blocks with 2048"):
        read_index(path, d_ff=2_048, n_blocks=3)
    good, refused = path.read_bytes(), 0
    for place in range(0, len(good), len(good) // 100):  # one byte is damaged
        path.write_bytes(good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :])
        try:
            read(path)
        except IndexFileError:
            refused += 1
    assert refused > 75
    for damaged in (b"", b"no zip", good[:300]):
        path.write_bytes(damaged)
        with pytest.raises(IndexFileError, match="is not an index"):
            read(path)
    with pytest.raises(IndexFileError, match="is not an index"):
        read(path.with_name("missing.npz"))


def test_an_index_is_that_of_its_weights_alone(made: Indexed, path: Path) -> None:
    model, _ = made
    assert is_of(path, model)
    others = model.encoder.state_dict()
    name = next(name for name in others if "attention" in name)
    encoder = copy.deepcopy(model.encoder)
    encoder.load_state_dict(others | {name: others[name] + 0.1})
    assert not is_of(path, replace(model, encoder=encoder)), "the FFNs are the same"


def test_some_blocks_are_counted_alone(made: Indexed, path: Path) -> None:
    model, index = made
    write_index(build_index(model, made_up(40), TAGS, "made up", blocks=(2, 0)), path)
    some = read(path)
    assert some.numbers == tuple(sorted(some.by_number)) == (0, 2)
    for number, block in some.by_number.items():
        np.testing.assert_array_equal(block.histogram, index.blocks[number].histogram)
    with pytest.raises(
        IndexFileError, match=r"blocks 1 and 3 \(from 1\), with 32 .* has 2 blocks with 32"
    ):
        read_index(path, d_ff=32, n_blocks=2)
    wrong: list[tuple[Any, ...]] = [(0, 2, 1), (0, 0, 1), (-1, 0, 1), (0, True, 2), (0, 1, 2.5)]
    for numbers in (*wrong, ("0", "1", "2")):
        write_index(replace(index, numbers=numbers), path)
        with pytest.raises(IndexFileError, match="is not an index of neurons"):
            read(path)
    write_index(replace(index, numbers=(), blocks=()), path)
    with pytest.raises(IndexFileError, match="does not say which blocks"):
        read(path)


def test_blocks_are_named_as_people_count_them() -> None:
    assert in_words((2,)) == "3"
    assert in_words((2, 6, 10)) == "3, 7 and 11"
    assert in_words((0, 1)) == "1 and 2"
    assert in_words((0, 2, 3, 4, 7, 8)) == "1, 3–5, 8 and 9"
    assert in_words(tuple(range(32))) == "1–32"


def test_what_points_to_nothing_is_refused(made: Indexed, path: Path) -> None:
    _, index = made
    first, *rest = index.blocks
    wrong = (
        replace(first, examples=first.examples + 40),
        replace(first, partners=first.partners + 32),
        replace(first, tokens=first.tokens - 9),
        replace(first, mean=first.mean[:-1]),
        replace(first, histogram=first.histogram[:, :-1]),
        replace(first, low_values=np.zeros((5, 32), np.float32)),
        replace(first, low_by_tag=first.by_tag[:1]),
        *([replace(first, low_examples=first.low_examples + 40)] * index.both_sides),
    )
    for block in wrong:
        write_index(replace(index, blocks=(block, *rest)), path)
        with pytest.raises(IndexFileError, match=r"points to what is not there|has another shape"):
            read(path)


def test_a_row_says_what_the_network_did(tabled: Indexed) -> None:
    model, index = tabled
    table = index.to_pandas()
    assert table.index.names == ["block", "neuron"]
    assert len(table) == 32
    assert set(table.index.get_level_values("block")) == {1}
    hidden = [model.trace(text).blocks[1].ffn.hidden.numpy() for text in TEXTS]
    fires = [np.abs(each) > index.threshold for each in hidden]
    rows = np.concatenate(hidden)
    np.testing.assert_array_equal(table.tokens, sum(each.sum(axis=0) for each in fires))
    np.testing.assert_array_equal(table.texts, sum(each.any(axis=0) for each in fires))
    np.testing.assert_allclose(table.tokens_share, np.concatenate(fires).mean(axis=0))
    np.testing.assert_allclose(table["mean"], rows.mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(table.deviation**2, rows.var(axis=0), atol=2.0**-COARSE)
    np.testing.assert_allclose(table.most, np.maximum(rows.max(axis=0), 0), atol=1e-3)
    for neuron in range(32):
        f1 = {"cat": 0.0, "no cat": 0.0}
        for tag, side in product(f1, (1, -1)):
            awake = [(side * each[:, neuron] > index.threshold).any() for each in hidden]
            both = sum(a and t == tag for a, t in zip(awake, TAGGED, strict=True))
            f1[tag] = max(f1[tag], 2 * both / (sum(awake) + 2))
        assert table.tag_f1[1, neuron] == pytest.approx(max(f1.values()))
        assert f1[table.tag[1, neuron]] == max(f1.values())
    shown = overview(index, 1, lambda text, _: text)  # the page's table has the same
    assert (list(shown.tag), shown.selective.tolist()) == (list(table.tag), table.tag_f1.tolist())
    assert shown.awake.tolist() == table.tokens_share.tolist()
    assert shown.texts.tolist() == table.texts_share.tolist()
    assert shown.high.tolist() == table["quantile_0.99"].tolist()
    examples = index.to_pandas(examples=True)
    for (_, neuron, side, rank), row in examples.iterrows():
        values = hidden[TEXTS.index(row.text)][:, neuron]
        assert row.value == pytest.approx(float(side * (side * values).max()), abs=2e-3)
        assert values[row.token] == pytest.approx(row.value, abs=2e-3)
        if rank:
            assert abs(row.value) <= abs(examples.value[1, neuron, side, rank - 1])


def test_a_table_is_read_as_written(tabled: Indexed, tmp_path: Path) -> None:
    for ending, examples in product(("csv", "parquet"), (False, True)):
        path = tmp_path / f"index.{ending}"
        tabled[1].save_table(path, examples)
        wanted = tabled[1].to_pandas(examples)
        table = pandas.read_csv(path) if ending == "csv" else pandas.read_parquet(path)
        pandas.testing.assert_frame_equal(
            table.set_index(wanted.index.names), wanted, check_dtype=ending == "parquet"
        )


def test_what_cannot_be_written_is_said_first(
    tabled: Indexed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"ends in \.csv or \.parquet"):
        tabled[1].save_table(tmp_path / "index.xlsx")
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it was not installed
    with pytest.raises(ImportError, match="needs the package pandas"):
        tabled[1].save_table(tmp_path / "index.csv")
    assert not list(tmp_path.iterdir())


def test_reading_needs_no_network(made: Indexed, path: Path) -> None:
    found = ffnviz.read_index(str(path))
    assert found.numbers == (0, 1, 2)
    np.testing.assert_array_equal(found.by_number[1].fired, made[1].by_number[1].fired)
    assert len(ffnviz.read_index(INDEXES / "gelu.npz").to_pandas()) == 4_096


def test_no_spreadsheet_takes_a_text_for_a_formula(tmp_path: Path) -> None:
    table = pandas.DataFrame({"text": ["=1+1", "+x", "-y", "@z", "\tq", "a=b", ""], "n": -1.5})
    write_table(table, tmp_path / "it.csv")
    found = pandas.read_csv(tmp_path / "it.csv", keep_default_na=False)
    assert list(found["text"]) == ["“=1+1”", "“+x”", "“-y”", "“@z”", "“\tq”", "a=b", ""]
    assert list(found["n"]) == [-1.5] * 7
