"""What stands in braces is computed: against PyTorch with the same weights, or a closed form."""

import re
from functools import partial
from pathlib import Path
from string import Formatter
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ffnviz.analysis.lens import Contributions
from ffnviz.lecture.facts import FACTS, MEANINGS, parts
from ffnviz.lecture.facts.registry import fact
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.model import Model
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run
from tests.lecture.lecture_runs import said, share, shown

TEXT = "How [MASK] you spell your name?"
near = partial(pytest.approx, abs=0.006)  # half of the last digit that is shown


@pytest.fixture(scope="module")
def run() -> Run:
    return shown("journey", text=TEXT, neuron="relu-1935")


@pytest.fixture(scope="module")
def encoder(run: Run) -> Encoder:
    assert isinstance(run.model, Model)
    return run.model.encoder


def test_every_fact_reads_as_a_short_text(run: Run) -> None:
    for name in FACTS:
        text = said(f"{{{name}}}", run)
        assert 0 < len(text) < 60, name
        assert text != "–", name


def test_what_is_said_of_the_hidden_layer_is_what_pytorch_computes(
    run: Run, encoder: Encoder
) -> None:
    ffn, x = encoder.blocks[1].ffn, run.trace.blocks[1].ffn.input
    with torch.inference_mode():
        before = torch.nn.functional.linear(x, ffn.expand.weight, ffn.expand.bias)
        hidden = torch.relu(before)
    awake = int((hidden[run.token] > 0).sum())
    assert said("{awake} of {d_ff}; {cut}", run) == f"{awake} of 2,048; {2048 - awake:,}"
    assert share(said("{negative}", run)) == near(float((before < 0).float().mean()))
    assert share(said("{asleep}", run)) == near(float((hidden == 0).float().mean()))


def test_a_neuron_switched_off_is_its_column_set_to_zero(run: Run, encoder: Encoder) -> None:
    block, stream = encoder.blocks[1], run.trace.blocks[1].middle
    with torch.inference_mode():
        hidden = torch.relu(block.ffn.expand(run.trace.blocks[1].ffn.input))
        hidden[:, 1935] = 0
        after = stream + block.ffn.compress(hidden)
        logits = encoder.final_norm(after) @ encoder.token_embedding.weight.T
    plain = run.trace.logits_at(run.token)
    then = float(logits[run.token].softmax(-1)[int(plain.argmax())])
    assert share(said("{says_share_without_neuron}", run)) == near(then)
    assert share(said("{says_share}", run)) == near(float(plain.softmax(-1).max()))


def test_an_ffn_without_phi_is_its_two_matrices_one_after_the_other(
    run: Run, encoder: Encoder
) -> None:
    ffn, x = encoder.blocks[1].ffn, run.trace.blocks[1].ffn.input[run.token]
    with torch.inference_mode():
        straight = (x @ ffn.expand.weight.T + ffn.expand.bias) @ ffn.compress.weight.T
        straight = straight + ffn.compress.bias
        written = run.trace.blocks[1].ffn.output[run.token]
    times = float(straight.norm() / written.norm())
    cosine = float(straight @ written / (straight.norm() * written.norm()))
    assert float(said("{no_phi_times}", run)) == pytest.approx(times, abs=0.06)
    told = said("{no_phi_cosine}", run).replace("−", "-")
    assert float(told) == near(cosine)


def test_counts_are_those_of_the_shape(run: Run) -> None:
    # 512 and 2,048: two matrices with their biases, beside four of attention and two LayerNorms.
    ffn = 2 * 512 * 2048 + 2048 + 512
    attention = 4 * 512 * 512 + 4 * 512
    assert said("{ffn_parameters}", run) == f"{ffn:,}"
    assert said("{ffn_of_block}", run) == f"{ffn / (ffn + attention + 4 * 512):.0%}"
    # 2 n d d_ff against 4 n d² + 2 n² d: equal at n = d_ff − 2 d.
    assert said("{overtaken_at}", run) == "1,024"
    assert said("{ffn_over_attention}", run) == f"{ffn / attention:.1f}"
    n = run.model.sizes.max_tokens  # 2 n d d_ff against 4 n d² + 2 n² d
    assert said("{cost_tokens}", run) == f"{n:,}"
    assert said("{ffn_work_over_attention}", run) == f"{2 * 2048 / (4 * 512 + 2 * n):.1f}"


def test_a_part_a_width_and_a_neuron_are_said_so_that_a_sentence_can_hold_them(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert re.fullmatch(r"FFN 1 \(\d\.\d\d\)", said("{most_added}", run))
    shares = Contributions(("word", "FFN 1"), np.array([2.0, -1.0]), 1.0)
    monkeypatch.setattr(parts, "_contributions", lambda _: shares)
    assert FACTS["most_added"](run) == "the word's embedding (2.00)"
    sizes = SimpleNamespace(d_model=768, d_ff=2_048)
    assert said("{times}", run) == "4"
    assert FACTS["times"](SimpleNamespace(model=SimpleNamespace(sizes=sizes))) == "2.67"  # type: ignore[arg-type]
    run = shown("journey", text=TEXT)
    quiet = run.trace.blocks[1].ffn.hidden.amax(dim=0).argmin()
    run = shown("journey", text=TEXT, neuron=f"relu-{int(quiet)}")
    assert said("{neuron_fires}; {neuron_strongest_at}", run) == "0; no token"
    typed = "<b>{says}</b> {0} [MASK]"
    run = shown("journey", text=typed)
    assert said("{sentence}", run) == f"“{typed}”"
    assert said("{{", run) == "{"


def test_every_number_says_what_it_is_also_in_the_document() -> None:
    meanings = list(MEANINGS.values())
    assert set(MEANINGS) == set(FACTS)
    assert len(set(meanings)) == len(meanings)
    mentioned = {name for text in meanings for _, name, _, _ in Formatter().parse(text)}
    assert mentioned - {None} <= set(FACTS)
    table = "".join(f"| `{{{name}}}` | {meaning} |\n" for name, meaning in MEANINGS.items())
    written = (Path(__file__).parents[2] / "docs" / "lecture.md").read_text(encoding="utf-8")
    assert f"\n| --- | --- |\n{table}\n" in written, f"docs/lecture.md should have\n{table}"

    def nameless(run: Run) -> Sentence:
        return number(run.card.label)

    for function in (nameless, FACTS["largest_hidden"]):
        with pytest.raises(ValueError, match="name of its own and a docstring"):
            fact(function)
    assert "nameless" not in FACTS
