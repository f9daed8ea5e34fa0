"""Twelve questions whose wrong answers people give: each with an experiment and a reason."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ffnviz.analysis.exercises import evidence
from ffnviz.analysis.lab.experiment import FFN_NEEDS
from ffnviz.analysis.needs import Capability

TEXTS = Path(__file__).with_suffix(".json")  # of each question, by its name


@dataclass(frozen=True)
class Question:
    """One misconception."""

    name: str  # in links, which keep it for ever
    believed: str  # the misconception
    ask: str  # the question; {token}, {d_ff} and {tokens} are those of the page
    options: Sequence[str]  # to choose from; the experiment finds which is right
    see: evidence.Experiment
    did: str  # what is done in the experiment
    why: str  # the reason, with its source
    leads: Sequence[str]  # page and part where it is looked at further
    needs: tuple[Capability, ...]  # of a network, for the experiment


EXPERIMENTS: dict[str, tuple[evidence.Experiment, tuple[Capability, ...]]] = {
    "tokens": (evidence.tokens_related, FFN_NEEDS),
    "own": (evidence.own_ffn, FFN_NEEDS),
    "phi": (evidence.without_phi, FFN_NEEDS),
    "words": (evidence.words_stored, ()),
    "attention": (evidence.attention_linear, (Capability.OURS,)),
    "gelu": (evidence.gelu_sparse, ()),
    "dead": (evidence.silent_is_dead, ()),
    "residual": (evidence.stream_replaced, (Capability.PRE_NORM,)),
    "norm": (evidence.norm_scales, (Capability.PRE_NORM,)),
    "work": (evidence.most_work, (Capability.OURS,)),
    "order": (evidence.neuron_order, FFN_NEEDS),
    "logits": (evidence.logits_shifted, (Capability.WORD_HEAD,)),
}

QUESTIONS = tuple(
    Question(name=name, see=EXPERIMENTS[name][0], needs=EXPERIMENTS[name][1], **said)
    for name, said in json.loads(TEXTS.read_text(encoding="utf-8")).items()
)
