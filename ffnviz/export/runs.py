"""Runs outside of any session."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ffnviz.models.card import NetworkSize
from ffnviz.models.network import Network
from ffnviz.models.trace import Trace
from ffnviz.state.cache import Cache
from ffnviz.state.run import Run, TracedModel
from ffnviz.state.state import State


def network_of(trace: Trace) -> Network:
    """The network of a trace.

    Raises:
        ValueError: if the trace was saved or pickled.
    """
    if trace.network is None:
        raise ValueError(
            "This trace was saved or pickled, which leaves its network out. Trace the text again."
        )
    network: Network = trace.network
    return network


def exported_run(networks: Sequence[Network], text: str, traced: Trace | None = None) -> Run:
    """A run on the Journey of a sentence.

    Args:
        networks: the one that drives the page, and perhaps a partner.
        text: the sentence.
        traced: the first network's trace of it, if there is one already.
    """
    cache, first = Cache(), networks[0]
    sizes = {n.card.id: NetworkSize(n.sizes.n_blocks, n.sizes.d_ff) for n in networks}
    state = State("journey", "journey", text, first.card.id, first.sizes.n_blocks - 1, None, None,
                  "token")  # fmt: skip

    def traced_model(network: Network) -> TracedModel:
        def cached(key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
            return cache.get((network.card.id, *key), compute)

        def trace() -> Trace:
            return traced if traced is not None and network is first else network.trace(text)

        return TracedModel(network, text, cached, trace, _unavailable, _unavailable)

    subject = traced_model(first)
    partner = traced_model(networks[1]) if networks[1:] else None
    return Run(state, first.device.type, subject, partner, {}, "", sizes)


def _unavailable() -> NoReturn:
    raise RuntimeError("Neither training nor time is looked at here.")
