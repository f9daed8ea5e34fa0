"""An index as a table and as a file, against its arrays, and against counting by hand."""

import builtins
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ffnviz
from ffnviz.analysis.neurons.counting import COARSE
from ffnviz.analysis.neurons.index_file import INDEXES, IndexFileError, write_index
from ffnviz.analysis.neurons.neuron_index import NeuronIndex, build_index, write_table
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import ours

pandas: Any = pytest.importorskip("pandas")
TEXTS = ["The cat sat on the mat.", "She had two dogs.", "The river", "and the cat had gone to"]


@pytest.fixture(scope="module", params=["relu", "gelu"])
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return ours(tokenizer, activation=request.param)


@pytest.fixture(scope="module")
def index(model: Model) -> NeuronIndex:
    probes = [Probe(text, ("cat",) if "cat" in text else ()) for text in TEXTS]
    return build_index(model, iter(probes), ("cat",), "made up", blocks=[1])


def test_a_row_a_neuron_says_what_the_network_did_on_the_texts(
    model: Model, index: NeuronIndex
) -> None:
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
    both_tagged = [True, False, False, True]
    for neuron in range(32):
        best = 0.0
        for side in (1, -1):
            awake = [(side * each[:, neuron] > index.threshold).any() for each in hidden]
            both = sum(a and t for a, t in zip(awake, both_tagged, strict=True))
            best = max(best, 2 * both / (sum(awake) + 2))
        assert table.tag_f1[1, neuron] == pytest.approx(best)
    assert set(table.tag) == {"cat"}


def test_a_row_an_example_is_where_the_neuron_is_furthest_from_zero(
    model: Model, index: NeuronIndex
) -> None:
    table = index.to_pandas(examples=True)
    hidden = {text: model.trace(text).blocks[1].ffn.hidden.numpy() for text in TEXTS}
    for (_, neuron, side, rank), row in table.iterrows():
        values = hidden[row.text][:, neuron]
        assert row.value == pytest.approx(float(side * (side * values).max()), abs=2e-3)
        assert values[row.token] == pytest.approx(row.value, abs=2e-3)
        if rank:
            assert abs(row.value) <= abs(table.value[1, neuron, side, rank - 1])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("examples", [False, True])
def test_what_is_read_from_the_file_is_the_table(
    index: NeuronIndex, ending: str, examples: bool, tmp_path: Path
) -> None:
    path = tmp_path / f"index.{ending}"
    index.save_table(path, examples)
    wanted = index.to_pandas(examples)
    read = pandas.read_csv(path) if ending == "csv" else pandas.read_parquet(path)
    pandas.testing.assert_frame_equal(
        read.set_index(wanted.index.names), wanted, check_dtype=ending == "parquet"
    )


def test_what_cannot_be_written_is_said_before_anything_is(
    index: NeuronIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"ends in \.csv or \.parquet"):
        index.save_table(tmp_path / "index.xlsx")
    whole = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="needs the package pandas"):
        index.save_table(tmp_path / "index.csv")
    assert not list(tmp_path.iterdir())


def test_the_public_reader_needs_no_network(index: NeuronIndex, tmp_path: Path) -> None:
    write_index(index, tmp_path / "mine.npz")
    read = ffnviz.read_index(str(tmp_path / "mine.npz"))
    assert read.numbers == (1,)
    np.testing.assert_array_equal(read.by_number[1].fired, index.by_number[1].fired)
    assert len(ffnviz.read_index(INDEXES / "gelu.npz").to_pandas()) == 4_096
    with pytest.raises(IndexFileError, match="not an index of neurons"):
        ffnviz.read_index(tmp_path / "none.npz")
    (tmp_path / "other.npz").write_text(json.dumps([]))
    with pytest.raises(ValueError, match="not an index of neurons"):
        ffnviz.read_index(tmp_path / "other.npz")


def test_no_spreadsheet_takes_a_text_for_a_formula(tmp_path: Path) -> None:
    table = pandas.DataFrame({"text": ["=1+1", "+x", "-y", "@z", "\tq", "a=b", ""], "n": -1.5})
    write_table(table, tmp_path / "it.csv")
    found = pandas.read_csv(tmp_path / "it.csv", keep_default_na=False)
    assert list(found["text"]) == ["“=1+1”", "“+x”", "“-y”", "“@z”", "“\tq”", "a=b", ""]
    assert list(found["n"]) == [-1.5] * 7
