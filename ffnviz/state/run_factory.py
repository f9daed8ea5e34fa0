"""From a State to a Run: networks are loaded once, and what they compute is cached."""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import torch

from ffnviz.analysis.measuring import timed_trace
from ffnviz.analysis.needs import Capability
from ffnviz.analysis.sparsity import with_activation
from ffnviz.models.card import NetworkSize
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.folder import ModelFolderError
from ffnviz.models.encoder.model import Model
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.registry import available_networks, open_network
from ffnviz.models.trace import ForwardPass
from ffnviz.state.cache import Cache
from ffnviz.state.run import Run, TracedModel, TraceTiming
from ffnviz.state.state import State

THREADS = 1  # at these sizes a second thread gains little, and on a busy machine it waits
CACHE = Cache()
START_WITH = "relu"
TIMED = 3  # passes, of which the quickest counts
_LOADING = threading.Lock()


@dataclass(frozen=True)
class Gpu:
    """The GPU's name in PyTorch, or why there is none."""

    device: str | None
    why: str


@cache
def find_gpu() -> Gpu:
    """The GPU that PyTorch can use, if any."""
    if torch.cuda.is_available():
        return Gpu("cuda", f"found {torch.cuda.get_device_name()}")
    if torch.backends.mps.is_available():
        return Gpu("mps", "found Apple's Metal GPU")
    built = f"CUDA {torch.version.cuda}" if torch.version.cuda else "the CPU only"
    why = f"this PyTorch is built for {built}, and sees no Apple GPU either."
    return Gpu(None, f"No GPU was found: {why}")


def make_run(state: State, device: str, networks: Mapping[str, NetworkSize]) -> Run:
    """The Run of a state with a sentence, on a device; raises ModelFolderError."""
    others = (name for name in networks if name != state.network)
    partner, gpu = state.partner or next(others, None), find_gpu()
    return Run(
        state,
        device,
        _traced_model(state.network, device, state),
        _traced_model(partner, device, state) if partner else None,
        {d: partial(loaded_network, state.network, d) for d in ("cpu", gpu.device) if d},
        gpu.why,
        networks,
    )


def loaded_network(name: str, device: str) -> Network:
    """A network at hand by its id, loaded once for each device and shared by all visitors."""
    with _LOADING:
        return _network(name, device)


def load_networks() -> None:
    """Load all networks at hand, so that the first visitor need not wait for them.

    One that cannot be read is left to the page, which says so.
    """
    with suppress(ModelFolderError):
        for name in available_networks():
            loaded_network(name, find_gpu().device or "cpu")


def any_network_is_loaded() -> bool:
    """Whether a network has been loaded; the first takes seconds."""
    return _network.cache_info().currsize > 0


def forget_networks() -> None:
    """Forget the loaded networks; each is loaded again when it is next needed."""
    _network.cache_clear()


@cache
def _network(name: str, device: str) -> Network:
    torch.set_num_threads(THREADS)
    return open_network(name, device)


def _traced_model(name: str, device: str, state: State) -> TracedModel:
    model, text = loaded_network(name, device), state.sentence

    def cached(key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        return CACHE.get((name, device, *key), compute)

    def untrained() -> ForwardPass:
        return _before_training(model).run(traced.whole.ids)

    def timing() -> TraceTiming:
        # The first pass of a length is slower than all that follow, and a busy machine slows some.
        runs = [timed_trace(model, text)[1:] for _ in range(TIMED)]
        return TraceTiming(min(total for total, _ in runs), min(ffn for _, ffn in runs))

    # A link may name a block that the network beside has not.
    hold = [state.block] if state.block < model.sizes.n_blocks else []
    trace = partial(model.trace, text, hold=hold)
    traced = TracedModel(model, text, cached, trace, untrained, timing, state.special)
    return traced  # which `untrained` reads


def _before_training(network: Network) -> Model:
    provenance = network.card.provenance
    if provenance is None or provenance.seed is None or not isinstance(network, Model):
        raise NotForThisNetwork(f"Not for {network.card.label}: {Capability.SEED.value}")
    config, seed = network.encoder.config, provenance.seed
    # The twins began with the same weights: these are kept once, for either φ.
    initial = replace(config, activation=START_WITH) if not network.card.gated else config
    key = ("untrained", initial, seed, str(network.device))
    encoder = CACHE.get(key, lambda: initial_encoder(initial, seed).to(network.device).eval())
    untrained = replace(network, encoder=encoder)
    return untrained if initial == config else with_activation(untrained, config.activation)
