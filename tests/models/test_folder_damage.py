"""Each way a model folder can be wrong gives one error that names the file and says why."""

import json
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


def change_weights(folder: Path, changes: dict[str, Tensor | None]) -> None:
    """Replace tensors in the weights, or take them out."""
    weights = {**load_file(folder / WEIGHTS), **changes}
    save_file({n: t for n, t in weights.items() if t is not None}, folder / WEIGHTS)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert "no such folder" in refusal(tmp_path / "nowhere", "")


def test_a_file_in_place_of_the_folder(folder: Path) -> None:
    with pytest.raises(ModelFolderError, match="no such folder"):
        read_folder(folder / CONFIG)


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file(folder: Path, file: str) -> None:
    (folder / file).unlink()
    assert "missing" in refusal(folder, file)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    "content", [b"", b"no model at all", b"\xff\xfe\x00\x01", b"\x00" * 1_000], ids=repr
)
def test_a_file_with_something_else_in_it(folder: Path, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)
    assert refusal(folder, file)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("kept", [0.01, 0.5, 0.99])
def test_a_file_cut_off(folder: Path, file: str, kept: float) -> None:
    content = (folder / file).read_bytes()
    (folder / file).write_bytes(content[: int(kept * len(content))])
    assert refusal(folder, file)


@pytest.mark.parametrize("values", [[], 3, "relu", None, [1, 2]])
def test_a_configuration_that_is_no_object(folder: Path, values: object) -> None:
    change_json(folder / CONFIG, lambda _: values)
    assert "object" in refusal(folder, CONFIG)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"activation": "sine"}, "activation = 'sine'"),
        ({"activation": []}, "activation = []"),
        ({"d_ff": 10**30}, "d_ff = 1000"),
        ({"n_heads": 3}, "n_heads = 3"),
        ({"hidden": 3}, "hidden = 3"),
        ({"dropout": float("nan")}, "dropout = nan"),
    ],
)
def test_a_configuration_with_a_wrong_field(
    folder: Path, change: dict[str, object], why: str
) -> None:
    change_json(folder / CONFIG, lambda values: {**values, **change})
    assert why in refusal(folder, CONFIG)


@pytest.mark.parametrize("file", [CONFIG, COUNTS])
def test_json_nested_beyond_measure(folder: Path, file: str) -> None:
    (folder / file).write_text("[" * 200_000, encoding="utf-8")
    assert "JSON" in refusal(folder, file)


def test_a_tokenizer_of_another_size(folder: Path) -> None:
    change_json(folder / CONFIG, lambda values: {**values, "vocab_size": 301})
    assert "300 entries" in refusal(folder, TOKENIZER)


def test_a_tokenizer_without_mask(folder: Path) -> None:
    text = (folder / TOKENIZER).read_text(encoding="utf-8")
    (folder / TOKENIZER).write_text(text.replace("[MASK]", "[NONE]"), encoding="utf-8")
    assert "[MASK]" in refusal(folder, TOKENIZER)


@pytest.mark.parametrize("id_", [5, 299_999], ids=["twice", "beyond the embedding"])
def test_a_tokenizer_with_a_wrong_id(folder: Path, id_: int) -> None:
    def change(values: dict[str, Any]) -> dict[str, Any]:
        vocabulary = values["model"]["vocab"]
        vocabulary[max(vocabulary, key=vocabulary.get)] = id_
        return values

    change_json(folder / TOKENIZER, change)
    assert refusal(folder, TOKENIZER)


@pytest.mark.parametrize(
    "counts",
    [
        {},
        [1] * 299,
        [1] * 301,
        [1] * 299 + [-1],
        [1] * 299 + [0.5],
        [1] * 299 + [True],
        [1] * 299 + ["1"],
        [1] * 299 + [10**30],
    ],
    ids=["object", "short", "long", "negative", "fraction", "boolean", "text", "too large"],
)
def test_counts_that_are_no_counts(folder: Path, counts: object) -> None:
    change_json(folder / COUNTS, lambda _: counts)
    assert "300 counts" in refusal(folder, COUNTS)


def test_weights_of_another_shape(folder: Path) -> None:
    change_weights(folder, {EMBEDDING: torch.zeros(300, 17)})
    why = refusal(folder, WEIGHTS)
    assert EMBEDDING in why
    assert "(300, 17)" in why
    assert "(300, 16)" in why


def test_a_tensor_too_few(folder: Path) -> None:
    change_weights(folder, {"blocks.1.ffn.expand.bias": None})
    assert "blocks.1.ffn.expand.bias is nothing" in refusal(folder, WEIGHTS)


def test_a_tensor_too_many(folder: Path) -> None:
    change_weights(folder, {"blocks.1.ffn.gated_value.bias": torch.zeros(32)})
    assert "blocks.1.ffn.gated_value.bias" in refusal(folder, WEIGHTS)


@pytest.mark.parametrize("n_blocks", [1, 3, 1_000_000])
def test_weights_of_another_number_of_blocks(folder: Path, n_blocks: int) -> None:
    # A million blocks must be refused without building them.
    change_json(folder / CONFIG, lambda values: {**values, "n_blocks": n_blocks})
    assert f"2 blocks, but config.json asks for {n_blocks}" in refusal(folder, WEIGHTS)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_weight_that_is_not_finite(folder: Path, value: float) -> None:
    embedding = load_file(folder / WEIGHTS)[EMBEDDING]
    embedding[123, 4] = value
    change_weights(folder, {EMBEDDING: embedding})
    assert f"{EMBEDDING} has values that are not finite" in refusal(folder, WEIGHTS)


def test_a_weight_too_large_for_float32(folder: Path) -> None:
    change_weights(folder, {EMBEDDING: torch.full((300, 16), 1e300, dtype=torch.float64)})
    assert "not finite" in refusal(folder, WEIGHTS)


@pytest.mark.parametrize(
    "dtype", [torch.int16, torch.bool, torch.float8_e4m3fn, torch.complex64], ids=str
)
def test_weights_that_are_no_floating_point_numbers(folder: Path, dtype: torch.dtype) -> None:
    embedding = load_file(folder / WEIGHTS)[EMBEDDING]
    change_weights(folder, {EMBEDDING: embedding.to(dtype)})
    assert f"{EMBEDDING} holds {dtype}" in refusal(folder, WEIGHTS)


# (place in the file from 0 to 1, bytes to take out, bytes to put in)
EDITS = st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(max_size=3))


@pytest.mark.parametrize("file", FILES)
def test_random_damage_never_raises_anything_else(folder: Path, file: str) -> None:
    good = (folder / file).read_bytes()
    # Damage to the numbers of the weights is harmless; that to the header is where it gets hard.
    reach = good.index(b"}}") + 3 if file == WEIGHTS else len(good)

    @settings(suppress_health_check=[HealthCheck.too_slow])
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
