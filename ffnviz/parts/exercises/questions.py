"""Twelve questions whose wrong answers people give: each with an experiment and a reason."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ffnviz.analysis.exercises import evidence
from ffnviz.analysis.lab.experiment import FFN_NEEDS
from ffnviz.analysis.needs import Capability

TEXTS = Path(__file__).with_suffix(".json")  # what is said in each, by its name


@dataclass(frozen=True)
class Question:
    """One misconception.

    Attributes:
        name: in links, which keep it for ever.
        believed: the misconception.
        ask: the question; {token}, {d_ff} and {tokens} are those of the page.
        options: to choose from; which is right is what the experiment finds.
        see: the experiment.
        did: what is done in it.
        why: the reason, with its source.
        leads: page and part where it is looked at further.
        needs: what the experiment needs of a network.
    """

    name: str
    believed: str
    ask: str
    options: Sequence[str]
    see: evidence.Experiment
    did: str
    why: str
    leads: Sequence[str]
    needs: tuple[Capability, ...]


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
