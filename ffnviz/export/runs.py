"""Runs outside of any session."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ffnviz.models.card import NetworkSize
from ffnviz.models.network import Network
from ffnviz.models.trace import Trace
from ffnviz.parts.part import Part
from ffnviz.parts.sheet import Measured, Measurement, cells_of, measured_at_once, resolved
from ffnviz.pictures.cell import Cell
from ffnviz.state.actions import reduce
from ffnviz.state.cache import Cache
from ffnviz.state.run import Run, TracedModel
from ffnviz.state.settings import Values
from ffnviz.state.state import Catalog, State


def followed(part: Part, state: State, make_run: Callable[[State], Run], catalog: Catalog) -> State:
    """The state after the part has set what follows from the run."""
    if part.follow is None:
        return state
    action = part.follow(make_run(state), Values(state.settings))
    return state if action is None else reduce(state, action, catalog)


def cells_shown(
    part: Part, state: State, make_run: Callable[[State], Run], catalog: Catalog
) -> list[Cell]:
    """All cells of a part's sheet, in order; its measurements are made at once.

    Nothing is trained: shown is a recorded training, or what stands before one.
    """
    state = followed(part, state, make_run, catalog)
    run = make_run(state)
    sheet = part.sheet(run, Values(state.settings))

    def look(measurement: Measurement[Any]) -> Measured[Any] | None:
        if not measurement.live:
            return measured_at_once(measurement, run)
        recorded = measurement.recorded
        return Measured(measurement.setup, recorded(), "", "") if recorded else None

    return list(cells_of(resolved(sheet, look).rows))


def exported_run(networks: Sequence[Network], text: str, traced: Trace | None = None) -> Run:
    """A run on the Journey of a sentence; the first network drives the page."""
    cache, first = Cache(), networks[0]
    sizes = {n.card.id: NetworkSize(n.sizes.n_blocks, n.sizes.d_ff) for n in networks}
    block = first.sizes.n_blocks - 1
    state = State("journey", "journey", text, first.card.id, block, None, None, "token")

    def traced_model(network: Network) -> TracedModel:
        def cached(key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
            return cache.get((network.card.id, *key), compute)

        def trace() -> Trace:
            return traced if traced is not None and network is first else network.trace(text)

        def unavailable() -> NoReturn:
            raise RuntimeError("Neither training nor timing is shown here.")

        return TracedModel(network, text, cached, trace, unavailable, unavailable)

    subject = traced_model(first)
    partner = traced_model(networks[1]) if networks[1:] else None
    return Run(state, first.device.type, subject, partner, {}, "", sizes)
