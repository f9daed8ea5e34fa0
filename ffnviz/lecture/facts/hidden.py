"""Numbers of the hidden layer: its width, its active neurons, and the training that led there."""

from collections.abc import Callable

import numpy as np

from ffnviz.analysis.sparsity import active, record_of, threshold_for
from ffnviz.lecture.facts.registry import fact, fact_of_both, facts, partner
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.journey.neurons import awake_of
from ffnviz.parts.sparsity.keep import KeptPass, carried_by, kept, random_pass, strongest_pass
from ffnviz.pictures.wording import Sentence, number, percent, signed
from ffnviz.state.run import Run, TracedModel

FEW = 0.05  # of the neurons, the first setting of “Keep the top k”


def _awake_here(run: Run) -> int:
    return int(awake_of(run.subject, run.state.block).counts[run.token])


def _awake_anywhere(run: Run) -> int:
    hidden = run.trace.blocks[run.state.block].ffn.hidden
    return int(active(hidden, threshold_for(run.card.phi)).any(dim=0).sum())


def _awake_of(run: Run, traced: TracedModel) -> Sentence:
    return number(percent(awake_of(traced, run.state.block).share), traced.card.colour)


@fact_of_both
def asleep(run: Run, traced: TracedModel) -> str:
    """The share of hidden values that are not active, over the sentence."""
    return percent(1 - awake_of(traced, run.state.block).share)


@fact_of_both
def negative(run: Run, traced: TracedModel) -> str:
    """The share of values below zero before φ."""
    pre_activation = traced.trace.blocks[run.state.block].ffn.pre_activation
    return percent(float((pre_activation < 0).float().mean()))


@fact_of_both
def exact_zeros(run: Run, traced: TracedModel) -> str:
    """The share of hidden values that are exactly zero."""
    hidden = traced.trace.blocks[run.state.block].ffn.hidden
    return percent(float((hidden == 0).float().mean()))


@fact_of_both
def strongest_carry(run: Run, traced: TracedModel) -> str:
    """How much of the FFN's output each token's strongest 5% of the neurons carry."""
    shares = carried_by(traced, run.state.block)
    return percent(float(shares[max(1, round(FEW * len(shares))) - 1]))


@fact
def strongest_off(run: Run) -> str:
    """How far the FFN's output is off if only each token's strongest 5% of the neurons stay."""
    return _off(run, strongest_pass)


@fact
def random_off(run: Run) -> str:
    """How far it is off if the same number of active neurons, drawn at random, stay."""
    return _off(run, random_pass)


def _off(run: Run, keep: Callable[[Network, ForwardPass, int, int], KeptPass]) -> str:
    return percent(kept(run, keep, max(1, round(FEW * run.model.sizes.d_ff))).error)


@fact
def largest_hidden(run: Run) -> str:
    """The hidden value furthest from zero on the chosen token."""
    hidden = run.trace.blocks[run.state.block].ffn.hidden[run.token].float().cpu().numpy()
    return signed(float(hidden[np.abs(hidden).argmax()]))


def _recorded_share(run: Run, step: int) -> str:
    return percent(float(record_of(run.model).above_zero[step, run.state.block]))


facts({
    "d_model": ("The width of the residual stream", lambda run: run.model.sizes.d_model),
    "d_ff": ("How many neurons an FFN has", lambda run: run.model.sizes.d_ff),
    "times": ("d_ff ÷ d_model",
              lambda run: f"{run.model.sizes.d_ff / run.model.sizes.d_model:.3g}"),
    "awake": ("How many neurons are active on the chosen token", _awake_here),
    "awake_share": ("The share of neurons that are active on the chosen token",
                    lambda run: percent(_awake_here(run) / run.model.sizes.d_ff)),
    "awake_anywhere": ("How many neurons are active on at least one token of the sentence",
                       _awake_anywhere),
    "cut": ("How many neurons are not active on the chosen token",
            lambda run: run.model.sizes.d_ff - _awake_here(run)),
    "awake_in_sentence": ("The share of hidden values that are active, over the sentence",
                          lambda run: _awake_of(run, run.subject)),
    "partner_awake": ("{awake_in_sentence} in the other network",
                      lambda run: _awake_of(run, partner(run))),
    "born_from": ("The share of active neurons before training",
                  lambda run: _recorded_share(run, 0)),
    "born_to": ("The share of active neurons after training",
                lambda run: _recorded_share(run, -1)),
    "trained_on": ("How many tokens the network was trained on",
                   lambda run: f"{record_of(run.model).tokens[-1] / 1e6:.1f} million"),
    "never_awake": ("The share of neurons that, at the end of training, are active on no token",
                    lambda run: percent(len(record_of(run.model).final_never[run.state.block])
                                        / run.model.sizes.d_ff)),
})  # fmt: skip
