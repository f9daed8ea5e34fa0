"""From books to a model folder: what is written can be loaded, and what is said of it is so."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import ffnviz
from ffnviz.analysis.sparsity import record_of
from ffnviz.models.card import seed_in
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.folder import ModelFolderError, read_folder
from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.training.corpus import Corpus
from ffnviz.training.loop import train
from ffnviz.training.masking import Recipe, sentence_batches, validation_batches
from ffnviz.training.twin import make_twin, read_earlier
from tests.training.conftest import silent
from tests.training.test_validation import recount

CPU = torch.device("cpu")
Made = tuple[Path, dict[str, Any]]  # a model folder, and its record


@pytest.fixture(scope="module")
def twin(
    config: EncoderConfig,
    recipe: Recipe,
    prepared: tuple[Tokenizer, Corpus],
    tmp_path_factory: pytest.TempPathFactory,
) -> Made:
    """Of a short run."""
    folder = tmp_path_factory.mktemp("twin")
    out = folder / "models" / "relu"
    record = make_twin(config, recipe, *prepared, folder / "c", out, CPU, silent)
    return out, record


def test_the_folder_can_be_traced_and_has_the_record_that_is_returned(twin: Made) -> None:
    model = ffnviz.load(twin[0])
    trace = model.trace("Four five [MASK] seven.")
    assert [token.text for token in trace.tokens[:3]] == ["Four", " five", " [MASK]"]
    assert trace.logits.isfinite().all()
    out, record = twin
    assert json.loads((out / "training.json").read_text(encoding="utf-8")) == record


def test_the_weights_are_those_of_the_run(
    twin: Made, config: EncoderConfig, recipe: Recipe, corpus: Corpus, tmp_path: Path
) -> None:
    result = train(config, recipe, corpus, 0, tmp_path / "checkpoint", CPU, silent)
    trained = result.encoder.state_dict()
    for name, tensor in read_folder(twin[0])[0].state_dict().items():
        assert torch.equal(tensor, trained[name].half().float()), name


def test_the_final_figures_are_those_of_the_written_model_on_all_held_out_tokens(
    twin: Made, corpus: Corpus, recipe: Recipe
) -> None:
    out, record = twin
    final = record["final"]
    batches = validation_batches(corpus.validation, recipe, 0, 32, None)
    expected = recount(load(out).encoder, batches)
    assert final["loss"] == pytest.approx(expected.loss, rel=1e-5)
    assert final["top1"] == pytest.approx(expected.top1, abs=2e-3)
    assert final["top5"] == pytest.approx(expected.top5, abs=2e-3)
    assert final["n_masked"] == expected.n_masked
    assert final["n_tokens"] == len(corpus.validation) // 16 * 16
    for block, hidden in zip(final["blocks"], expected.hidden, strict=True):
        assert block["active"] == pytest.approx((hidden > 0).mean(), abs=5 / hidden.size)


def test_the_record_and_the_card_say_how_it_was_made(
    twin: Made, config: EncoderConfig, recipe: Recipe, corpus: Corpus
) -> None:
    out, record = twin
    assert EncoderConfig.from_dict(record["config"]) == config
    assert record["recipe"] == recipe.to_dict()
    assert record["corpus"] == {
        "training_books": ["first", "second"],
        "training_tokens": len(corpus.training),
        "held_out_books": ["unseen"],
        "held_out_tokens": len(corpus.validation),
    }
    assert [point["step"] for point in record["points"]] == [0, 1, 3, 7]
    assert record["tokens_seen"] == record["points"][-1]["tokens"] == record["final"]["tokens"]
    assert f"PyTorch {torch.__version__}" in record["hardware"]

    card = (out / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert card.startswith("# The ReLU twin\n")
    assert "first, second" in card
    held_out = card.split("Held out as whole books")[1].split("\n")[0]
    assert held_out.endswith(": unseen.")
    assert f"loss {record['final']['loss']:.3f} nats" in card
    assert "seed 5" in card
    for i, block in enumerate(record["final"]["blocks"], start=1):
        started = record["points"][0]["blocks"][i - 1]["active"]
        assert f"| {i} | {started:.1%} | {block['active']:.1%} |" in card


@pytest.fixture(scope="module")
def gone_on_with(
    twin: Made, half_sentences: Recipe, both: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> Made:
    """The twin after a second run, with sentences, on one book more."""
    folder = tmp_path_factory.mktemp("further")
    first = read_earlier(twin[0])
    config = first.encoder.config
    added = replace(both, training_books=(*both.training_books, "encyclopedia-articles"))
    out = folder / "relu"
    record = make_twin(
        config, half_sentences, first.tokenizer, added, folder / "c", out, CPU, silent, first
    )
    return out, record


def test_of_a_further_run_some_of_the_earlier_weights_can_be_kept(
    twin: Made, gone_on_with: Made, half_sentences: Recipe, both: Corpus, tmp_path: Path
) -> None:
    first, out = read_earlier(twin[0]), tmp_path / "relu"
    config, tokenizer = first.encoder.config, first.tokenizer
    checkpoint = gone_on_with[0].parent / "c"  # of the same run, at its end
    record = make_twin(
        config, half_sentences, tokenizer, both, checkpoint, out, CPU, silent, first, 0.25
    )
    before, after = (read_folder(each)[0].state_dict() for each in (twin[0], gone_on_with[0]))
    for name, tensor in read_folder(out)[0].state_dict().items():
        mixed = 0.25 * before[name].double() + 0.75 * after[name].double()
        assert torch.allclose(tensor.double(), mixed, rtol=2e-3, atol=1e-5), name
        assert not torch.equal(tensor, after[name]) or torch.equal(before[name], after[name])
    assert record["further"][-1]["kept"] == 0.25
    card = (out / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "those at its end (75%) and at its beginning (25%)" in card
    assert "kept" not in gone_on_with[1]["further"][-1]


def test_a_further_run_begins_with_the_weights_that_were_written(
    twin: Made, gone_on_with: Made, both: Corpus, half_sentences: Recipe
) -> None:
    assert both.sentences is not None
    first, second = twin[1], gone_on_with[1]
    n = len(first["points"])
    joint = second["points"][n - 1]
    assert second["points"][: n - 1] == first["points"][:-1]
    assert {**joint, **first["points"][-1]} == joint
    single = sentence_batches(both.sentences, half_sentences, 0)
    expected = recount(load(twin[0]).encoder, single)
    assert joint["sentences"]["loss"] == pytest.approx(expected.loss, rel=1e-5)
    tokenizers = [(out / "tokenizer.json").read_bytes() for out, _ in (twin, gone_on_with)]
    assert tokenizers[0] == tokenizers[1]


def test_a_further_runs_record_counts_on_and_its_card_too(twin: Made, gone_on_with: Made) -> None:
    (_, first), (out, second) = twin, gone_on_with
    assert json.loads((out / "training.json").read_text(encoding="utf-8")) == second
    assert [point["step"] for point in second["points"]] == [0, 1, 3, 7, 8, 10, 14]
    tokens = [point["tokens"] for point in second["points"]]
    assert tokens == sorted(set(tokens))
    (further,) = second["further"]
    assert second["tokens_seen"] == tokens[-1] == first["tokens_seen"] + further["tokens_seen"]
    for key in ("config", "recipe", "corpus", "seconds", "hardware"):
        assert second[key] == first[key]
    assert further["recipe"]["sentence_share"] == 0.5
    assert ["sentences" in point for point in second["points"]] == [False] * 3 + [True] * 4
    network = load(out)
    assert record_of(network).tokens.tolist() == tokens
    assert record_of(network).seed == seed_in(out / "training.json") == 5

    card = (out / "MODEL_CARD.md").read_text(encoding="utf-8")
    recipe = card.split("## Recipe")[1].split("## Results")[0]
    former, added = recipe.split("Further training")
    assert "single sentences" not in former
    assert f"\n{further['tokens_seen']:,} tokens seen in 7 steps" in added
    assert "50% of the steps are single sentences" in added
    assert "with encyclopedia-articles (WikiText-2, from Wikipedia, CC BY-SA 3.0) added" in card
    found = second["final"]["sentences"]
    assert f"in each of {found['n_masked']:,} held-out sentences: loss {found['loss']:.3f}" in card


def test_the_counts_are_of_the_sentences_too(gone_on_with: Made, both: Corpus) -> None:
    assert both.sentences is not None
    counts = Counter([*both.training.tolist(), *both.sentences.training_ids.tolist()])
    read = load(gone_on_with[0]).token_counts.tolist()
    assert read == [counts[i] for i in range(len(read))]


@pytest.mark.parametrize("content", [None, "", "[]", '{"points": []}'], ids=repr)
def test_a_folder_without_a_record_cannot_be_gone_on_from(
    twin: Made, tmp_path: Path, content: str | None
) -> None:
    folder = shutil.copytree(twin[0], tmp_path / "relu")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del config["sha256"]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "training.json").unlink()
    if content is not None:
        (folder / "training.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelFolderError, match="not a training record"):
        read_earlier(folder)
