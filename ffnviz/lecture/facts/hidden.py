"""Numbers of the hidden layer: how wide it is, who is awake, and what that took."""

from collections.abc import Callable

import numpy as np

from ffnviz.analysis.dimensions.rank import spectra
from ffnviz.analysis.needs import Capability
from ffnviz.analysis.sparsity.awake import Awake, awake, threshold_for
from ffnviz.analysis.sparsity.keep import concentration, keep_strongest
from ffnviz.analysis.sparsity.record import TrainingRecord, record_of
from ffnviz.figures.wording import Number, number, percent, signed
from ffnviz.models.network import NotForThisNetwork
from ffnviz.state.run import Run, TracedModel

FEW = 0.05  # of the neurons, as the page “The strongest few” begins with


def _partner(run: Run) -> TracedModel:
    if run.partner is None:
        raise NotForThisNetwork(Capability.PARTNER.value)
    return run.partner


def _awake(run: Run, traced: TracedModel) -> Awake:
    return awake(traced.trace, run.state.block, threshold_for(traced.card.phi))


def _asleep(run: Run, traced: TracedModel) -> Number:
    return number(percent(1 - _awake(run, traced).share), traced.card.colour)


def _awake_here(run: Run) -> tuple[int, int]:
    found = _awake(run, run.subject)
    return int(found.counts[run.token]), found.d_ff


def _awake_of(run: Run, traced: TracedModel) -> Number:
    return number(percent(_awake(run, traced).share), traced.card.colour)


def _negative(run: Run, traced: TracedModel) -> Number:
    before = traced.trace.blocks[run.state.block].ffn.pre_activation
    return number(percent(float((before < 0).float().mean())), traced.card.colour)


def _exact_zeros(run: Run, traced: TracedModel) -> Number:
    hidden = traced.trace.blocks[run.state.block].ffn.hidden
    return number(percent(float((hidden == 0).float().mean())), traced.card.colour)


def _carried(run: Run, traced: TracedModel) -> Number:
    shares = concentration(traced.network, traced.trace, run.state.block).shares
    return number(percent(float(shares[max(1, round(FEW * len(shares))) - 1])), traced.card.colour)


def _few_off(run: Run) -> Number:
    n = max(1, round(FEW * run.model.sizes.d_ff))
    found = keep_strongest(run.model, run.whole, run.state.block, run.place, n)
    return number(percent(found.error))


def _effective_rank(run: Run, stage: str) -> Number:
    found = spectra(run.trace, run.state.block)
    return number(f"{found[stage].effective_rank:.1f}")


def _largest_hidden(run: Run) -> Number:
    hidden = run.trace.blocks[run.state.block].ffn.hidden[run.token].float().cpu().numpy()
    return number(signed(float(hidden[np.abs(hidden).argmax()])))


def _record(run: Run) -> TrainingRecord:
    return record_of(run.model)


def _never(run: Run) -> Number:
    asleep = _record(run).final_never[run.state.block]
    return number(percent(len(asleep) / run.model.sizes.d_ff))


FACTS: dict[str, Callable[[Run], Number]] = {
    "d_model": lambda run: number(f"{run.model.sizes.d_model:,}"),
    "d_ff": lambda run: number(f"{run.model.sizes.d_ff:,}"),
    "times": lambda run: number(f"{run.model.sizes.d_ff / run.model.sizes.d_model:g}"),
    "awake": lambda run: number(f"{_awake_here(run)[0]:,}"),
    "awake_share": lambda run: number(percent(_awake_here(run)[0] / _awake_here(run)[1])),
    "cut": lambda run: number(f"{_awake_here(run)[1] - _awake_here(run)[0]:,}"),
    "asleep": lambda run: _asleep(run, run.subject),
    "awake_in_sentence": lambda run: _awake_of(run, run.subject),
    "partner_awake": lambda run: _awake_of(run, _partner(run)),
    "partner_asleep": lambda run: _asleep(run, _partner(run)),
    "negative": lambda run: _negative(run, run.subject),
    "partner_negative": lambda run: _negative(run, _partner(run)),
    "exact_zeros": lambda run: _exact_zeros(run, run.subject),
    "partner_exact_zeros": lambda run: _exact_zeros(run, _partner(run)),
    "strongest_carry": lambda run: _carried(run, run.subject),
    "partner_strongest_carry": lambda run: _carried(run, _partner(run)),
    "strongest_off": _few_off,
    "rank_before": lambda run: _effective_rank(run, "before φ"),
    "rank_after": lambda run: _effective_rank(run, "after φ"),
    "largest_hidden": _largest_hidden,
    "born_from": lambda run: number(percent(float(_record(run).above_zero[0, run.state.block]))),
    "born_to": lambda run: number(percent(float(_record(run).above_zero[-1, run.state.block]))),
    "trained_on": lambda run: number(f"{_record(run).tokens[-1] / 1e6:.1f} million"),
    "never_awake": _never,
}
