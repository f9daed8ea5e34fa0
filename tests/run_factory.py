"""A run without a session around it, for tests of what pages read off one."""

from typing import Any

from ffnviz.models.card import NetworkSize
from ffnviz.models.encoder.model import Model
from ffnviz.state.cache import Cache
from ffnviz.state.run import Run, TracedModel, TraceTiming
from ffnviz.state.state import State


def run_of(model: Model, text: str, token: int | None = None, page: str = "journey") -> Run:
    """A model alone, with no partner, on the CPU."""
    cache, size = Cache(), model.sizes
    state = State(page, page, text, model.name, 0, token, None, "token")

    def cached(name: tuple[Any, ...], compute: Any) -> Any:
        return cache.get(name, compute)

    subject = TracedModel(
        model,
        text,
        cached,
        lambda: model.trace(text),
        lambda: model.trace(text),
        lambda: TraceTiming(1.0, 0.5),
    )
    return Run(
        state, "cpu", subject, None, {}, "", {model.name: NetworkSize(size.n_blocks, size.d_ff)}
    )
