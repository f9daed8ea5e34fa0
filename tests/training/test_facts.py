"""Facts in wordings: what is read, masked and held out, and that a network learns them."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from ffnviz.analysis.facts import Fact, FactsError, read_facts
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.model import MODELS, load
from ffnviz.models.encoder.tokenizer import MASK, Tokenizer
from ffnviz.training.corpus import Corpus, CorpusError, fact_ids
from ffnviz.training.loop import train
from ffnviz.training.masking import Recipe, other_batches, training_batch
from tests.commands import done
from tests.training.conftest import NUMBERS, VOCAB_SIZE, silent

KINDS = """
frames = ["So: {}", "{} Yes."]
[[kind]]
name = "kinds"
wordings = ["{S} is a {o}.", "A {o} is {s}.", "{O}: {s}."]
held_out = ["Is {s} a {o}?"]
facts = "a dog: animal; a horse:\\n animal; iron: metal"
[[kind]]
name = "numbers"
wordings = ["{T} has {o} {s}."]
held_out = []
facts = "days / a week: seven"
"""
FOLLOWS = dict(pairwise(NUMBERS[:8]))  # each is one entry of the small vocabulary
COUNTING = f"""
frames = ["two {{}}", "{{}} two."]
[[kind]]
name = "next"
wordings = ["{{s}} {{o}}.", "{{s}} {{s}} {{o}}."]
held_out = ["{{s}} {{s}} {{s}} {{o}}."]
facts = "{"; ".join(f"{a}: {b}" for a, b in FOLLOWS.items())}"
"""


@pytest.fixture(scope="module")
def shipped() -> list[Fact]:
    return read_facts()


@pytest.fixture
def counting(tmp_path: Path) -> Path:
    path = tmp_path / "counting.toml"
    path.write_text(COUNTING, encoding="utf-8")
    return path


def test_a_fact_is_worded_as_english_has_it(tmp_path: Path) -> None:
    path = tmp_path / "facts.toml"
    path.write_text(KINDS, encoding="utf-8")
    dog, horse, iron, week = read_facts(path)
    assert (dog.kind, dog.asked, dog.answer) == ("kinds", "a dog", "animal")
    assert dog.wordings == (
        f"A dog is an {MASK}.", f"An {MASK} is a dog.", f"{MASK}: a dog.",
        f"So: A dog is an {MASK}.", f"A dog is an {MASK}. Yes.",
        f"So: An {MASK} is a dog.", f"An {MASK} is a dog. Yes.",
        f"So: {MASK}: a dog.", f"{MASK}: a dog. Yes.",
    )  # fmt: skip
    assert dog.held_out == (f"Is a dog an {MASK}?",)
    assert horse.asked == "a horse"
    assert iron.wordings[0] == f"Iron is a {MASK}."
    assert week.wordings[0] == f"A week has {MASK} days."


@pytest.mark.parametrize("text", ["", "kind = 3", "[[kind]]\nname = 'a'", KINDS.replace(":", " ")])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "facts.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FactsError, match="is not a list of facts in several wordings"):
        read_facts(path)


def test_the_facts_are_many_and_no_held_out_wording_is_trained_on(shipped: list[Fact]) -> None:
    assert len(shipped) >= 600
    assert len({fact.kind for fact in shipped}) >= 10
    assert max(Counter((fact.kind, fact.asked) for fact in shipped).values()) == 1
    for fact in shipped:
        assert len(fact.wordings) >= 10
        assert len(fact.held_out) >= 2
        assert all(each.count(MASK) == 1 for each in fact.wordings + fact.held_out)
        assert "{" not in "".join(fact.wordings + fact.held_out)
    trained = {each for fact in shipped for each in fact.wordings}
    assert trained.isdisjoint(each for fact in shipped for each in fact.held_out)


def test_each_answer_is_one_entry_of_the_twins(shipped: list[Fact]) -> None:
    tokenizer = load(MODELS / "relu").tokenizer
    ids = fact_ids(shipped, tokenizer)
    counts = ids.to_dict()
    assert counts["held_out_wordings"] == sum(len(fact.held_out) for fact in shipped)
    assert counts["training_wordings"] > sum(len(fact.wordings) for fact in shipped)
    answers = {tokenizer.encode(fact.answer).ids[0] for fact in shipped}
    for rows in (*ids.training.values(), *ids.held_out.values()):
        assert set(rows.ids[np.arange(len(rows.ids)), rows.places].tolist()) <= answers
    fact = Fact("kinds", "a cat", "quadruped", (f"A cat is a {MASK}.",), ())
    with pytest.raises(CorpusError, match="more than one entry: quadruped"):
        fact_ids([fact], tokenizer)


def test_a_step_of_facts_masks_the_answers_alone(
    counting: Path, corpus: Corpus, recipe: Recipe, tokenizer: Tokenizer
) -> None:
    known = replace(corpus, facts=fact_ids(read_facts(counting), tokenizer))
    often = replace(recipe, fact_share=0.5)
    n_facts = 0
    for step in range(60):
        batch = training_batch(known, often, 32, tokenizer.mask_id, step)
        again = training_batch(known, often, 32, tokenizer.mask_id, step)
        assert torch.equal(batch.inputs, again.inputs)
        if not (batch.masked.sum(1) == 1).all():
            continue
        row, answer = batch.inputs[0].tolist(), tokenizer.word(int(batch.targets[0])).strip()
        before = tokenizer.word(row[row.index(tokenizer.mask_id) - 1]).strip()
        n_facts += FOLLOWS.get(before) == answer
    assert 20 <= n_facts <= 40
    without = training_batch(known, recipe, 32, tokenizer.mask_id, 3)
    assert torch.equal(without.inputs, training_batch(corpus, recipe, 32, 0, 3).inputs)


def test_a_network_that_reads_facts_fills_in_wordings_that_it_never_read(
    counting: Path, corpus: Corpus, recipe: Recipe, config: EncoderConfig, tokenizer: Tokenizer,
    tmp_path: Path,
) -> None:  # fmt: skip
    known = replace(corpus, facts=fact_ids(read_facts(counting), tokenizer))
    longer = replace(recipe, fact_share=0.9, steps=120, learning_rate=1e-2)
    state = train(
        replace(config, d_model=32, dropout=0.0), longer, known, tokenizer.mask_id,
        tmp_path / "checkpoint", torch.device("cpu"), silent,
    )  # fmt: skip
    first, *_, last = state.points
    assert first["loss"] == pytest.approx(np.log(VOCAB_SIZE), rel=0.05)  # of a guess
    assert first["facts"]["n_masked"] == last["facts"]["n_masked"] == len(FOLLOWS)
    assert first["facts"]["top1"] < 0.3
    assert last["facts"]["top1"] > 0.8
    (batch,) = other_batches(known, longer, tokenizer.mask_id)["facts"]
    assert batch.masked.sum().item() == len(FOLLOWS)


def test_the_command_trains_on_facts(counting: Path, books: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    told = done(
        *("train", "--corpus", books, "--hold-out", "unseen", "--steps", 3, "--warmup-steps", 1),
        *("--facts", counting, "--fact-share", 0.5, "--points", 2, "--threads", 1),
        *("--d-model", 16, "--d-ff", 32, "--heads", 2, "--vocabulary", 290),
        *("--out", out, "--work", tmp_path / "work"),
    ).output
    assert f"Facts: {len(FOLLOWS)}" in told
    assert f"on the answers in {len(FOLLOWS)} wordings that it never read" in told
    record = json.loads((out / "training.json").read_text(encoding="utf-8"))
    assert record["corpus"]["facts"]["n"] == len(FOLLOWS)
    assert record["final"]["facts"]["n_masked"] == len(FOLLOWS)
    card = (out / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "50% of the steps are facts" in card
    assert f"answers in {len(FOLLOWS)} held-out wordings" in card
