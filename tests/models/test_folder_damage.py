"""Each way a model folder can be wrong gives one error that names the file and says why."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor

from ffnviz.models.encoder.folder import ModelFolderError, read_folder

CONFIG, TOKENIZER, COUNTS = "config.json", "tokenizer.json", "token_counts.json"
WEIGHTS = "weights.safetensors"
FILES = [CONFIG, TOKENIZER, COUNTS, WEIGHTS]
EMBEDDING = "token_embedding.weight"


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage; without checksums, which would find everything first."""
    copy = Path(shutil.copytree(model_folder, tmp_path / "copy"))
    change_json(copy / CONFIG, lambda values: values.pop("sha256") and values)
    return copy


def refusal(folder: Path, file: str) -> str:
    """Why the folder is refused; the message starts with the file."""
    with pytest.raises(ModelFolderError) as caught:
        read_folder(folder)
    assert caught.value.path == folder / file
    assert str(caught.value) == f"{folder / file}: {caught.value.why}"
    return caught.value.why


def change_json(path: Path, change: Callable[[Any], Any]) -> None:
    """Write what `change` makes of the values in a file."""
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(change(values)), encoding="utf-8")


def test_a_folder_or_a_file_that_is_not_there_or_is_a_folder(folder: Path, tmp_path: Path) -> None:
    assert "no such folder" in refusal(tmp_path / "nowhere", "")
    with pytest.raises(ModelFolderError, match="no such folder"):
        read_folder(folder / CONFIG)
    for file in FILES:
        content = (folder / file).read_bytes()
        (folder / file).unlink()
        assert "missing" in refusal(folder, file)
        (folder / file).mkdir()
        assert "it is a folder, not a file" in refusal(folder, file)
        (folder / file).rmdir()
        (folder / file).write_bytes(content)


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_is_cut_off_or_has_something_else_in_it(folder: Path, file: str) -> None:
    content = (folder / file).read_bytes()
    cut = [content[: int(kept * len(content))] for kept in (0.01, 0.5, 0.99)]
    for other in (*cut, b"", b"no model at all", b"\xff\xfe\x00\x01", b"\x00" * 1_000):
        (folder / file).write_bytes(other)
        assert refusal(folder, file), other[:20]
    if file in (CONFIG, COUNTS):
        (folder / file).write_text("[" * 200_000, encoding="utf-8")
        assert "JSON" in refusal(folder, file)


def fields(**changes: object) -> Callable[[Any], Any]:
    return lambda values: {**values, **changes}


def without_mask(values: Any) -> Any:
    return json.loads(json.dumps(values).replace("[MASK]", "[NONE]"))


def last_entry(id_: int) -> Callable[[Any], Any]:
    def change(values: Any) -> Any:
        vocabulary = values["model"]["vocab"]
        vocabulary[max(vocabulary, key=vocabulary.get)] = id_
        return values

    return change


# The file that is changed, the change, the file that is named, and why.
WRONG_VALUES: list[tuple[str, Callable[[Any], Any], str, str]] = [
    (CONFIG, lambda _: [], CONFIG, "object"),
    (CONFIG, lambda _: None, CONFIG, "object"),
    (CONFIG, fields(activation="sine"), CONFIG, "activation = 'sine'"),
    (CONFIG, fields(d_ff=10**30), CONFIG, "d_ff = 1000"),
    (CONFIG, fields(hidden=3), CONFIG, "hidden = 3"),
    (CONFIG, fields(dropout=float("nan")), CONFIG, "dropout = nan"),
    (CONFIG, fields(vocab_size=301), TOKENIZER, "300 entries"),
    (CONFIG, fields(n_blocks=1), WEIGHTS, "2 blocks, but config.json asks for 1"),
    # A million blocks must be refused without building them.
    (CONFIG, fields(n_blocks=1_000_000), WEIGHTS, "2 blocks, but config.json asks for 1000000"),
    (TOKENIZER, without_mask, TOKENIZER, "[MASK]"),
    (TOKENIZER, last_entry(5), TOKENIZER, ""),  # which another entry has
    (TOKENIZER, last_entry(299_999), TOKENIZER, ""),  # beyond the embedding
    *(
        (COUNTS, lambda _, counts=counts: counts, COUNTS, "300 counts")
        for counts in (
            {},
            [1] * 299,
            [1] * 301,
            *([1] * 299 + [odd] for odd in (-1, 0.5, True, "1", 10**30)),
        )
    ),
]


@pytest.mark.parametrize(("changed", "change", "named", "why"), WRONG_VALUES)
def test_values_that_cannot_be_these(
    folder: Path, changed: str, change: Callable[[Any], Any], named: str, why: str
) -> None:
    change_json(folder / changed, change)
    assert why in refusal(folder, named)


@pytest.mark.parametrize(
    ("name", "tensor", "why"),
    [
        (EMBEDDING, torch.zeros(300, 17), rf"{EMBEDDING} .*\(300, 17\).*\(300, 16\)"),
        ("blocks.1.ffn.expand.bias", None, r"blocks\.1\.ffn\.expand\.bias is nothing"),
        ("blocks.1.ffn.gated_value.bias", torch.zeros(32), r"blocks\.1\.ffn\.gated_value\.bias"),
        # Too large for float32.
        (EMBEDDING, torch.full((300, 16), 1e300, dtype=torch.float64), "not finite"),
        *(
            (EMBEDDING, torch.zeros(300, 16).index_fill(0, torch.tensor([123]), value),
             f"{EMBEDDING} has values that are not finite")
            for value in (float("nan"), float("-inf"))
        ),
        *(
            (EMBEDDING, torch.zeros(300, 16).to(dtype), f"{EMBEDDING} holds {dtype}")
            for dtype in (torch.bool, torch.float8_e4m3fn)
        ),
    ],
)  # fmt: skip
def test_weights_that_cannot_be_these(
    folder: Path, name: str, tensor: Tensor | None, why: str
) -> None:
    weights = {**load_file(folder / WEIGHTS), name: tensor}
    save_file({n: t for n, t in weights.items() if t is not None}, folder / WEIGHTS)
    assert re.search(why, refusal(folder, WEIGHTS))


# (place in the file from 0 to 1, bytes to take out, bytes to put in)
EDITS = st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(max_size=3))
HALF = settings().max_examples // 2  # each example reads a folder


@pytest.mark.parametrize("file", FILES)
def test_random_damage_never_raises_anything_else(folder: Path, file: str) -> None:
    good = (folder / file).read_bytes()
    # Damage to the numbers of the weights is harmless; that to the header is where it gets hard.
    reach = good.index(b"}}") + 3 if file == WEIGHTS else len(good)

    @settings(max_examples=HALF, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(EDITS, min_size=1, max_size=4), st.booleans())
    def refused_or_read(edits: list[tuple[float, int, bytes]], everywhere: bool) -> None:
        content = bytearray(good)
        for place, n_out, put_in in edits:
            start = int(place * (len(content) if everywhere else reach))
            content[start : start + n_out] = put_in
        (folder / file).write_bytes(content)
        try:
            encoder, tokenizer, counts = read_folder(folder)
        except ModelFolderError:
            return
        ids = tokenizer.encode("The cat [MASK].").ids
        assert encoder(torch.tensor(ids)).logits.shape == (len(ids), 300)
        assert len(counts) == 300

    refused_or_read()
