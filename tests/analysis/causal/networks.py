"""Other people's networks for interventions, and the same with hooks by hand beside them."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.analysis.causal.measure import LogitDifference, logit_difference
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import from_module
from tests.models.external.by_hand import NAMES, Change, hooked, logits_of
from tests.models.external.families import FAMILIES, build
from tests.models.external.tokenizers import byte_level, word_piece

KINDS = ["GPT-2", "GPT-NeoX", "Llama", "Granite"]  # LayerNorm, parallel, gated RMSNorm, multiplied
SOURCE, TARGET, REFERENCE = "the cat sat", "the mat sat", ["a door", "she sat on it", "out"]


@cache
def network_of_kind(family: str) -> ExternalNetwork:
    tokenizer = word_piece() if family == "BERT" else byte_level()
    return from_module(build(FAMILIES[family]), tokenizer, family)


def setup_of(family: str) -> tuple[ExternalNetwork, LogitDifference, Tensor]:
    """A network, what is measured of it, and the ids of what it reads."""
    network = network_of_kind(family)
    return network, logit_difference(network, 5, 9), ids_of(network, SOURCE)


def ids_of(network: ExternalNetwork, text: str) -> Tensor:
    return torch.tensor([network.tokenizer.encode(text).ids])


@cache
def bare(family: str) -> nn.Module:
    return build(FAMILIES[family])


@contextmanager
def hooks(family: str, *changes: tuple[int, str, Change]) -> Iterator[nn.Module]:
    """A family's network with hooks by hand, of a block, a place and a change each."""
    model = bare(family)
    for block, at, change in changes:
        hooked(family, block, at, change, model)
    try:
        yield model
    finally:
        for module in model.modules():
            module._forward_hooks.clear()
            module._forward_pre_hooks.clear()


def by_hand(family: str, ids: Tensor, *changes: tuple[int, str, Change]) -> Tensor:
    """Logits, (T, vocab_size), of the network with hooks."""
    with hooks(family, *changes) as model:
        return logits_of(model, ids)[0]


def seen(family: str, ids: Tensor, block: int, at: str) -> Tensor:
    """What a hook sees at a place, (T, width)."""
    found: list[Tensor] = []

    def look(x: Tensor) -> Tensor:
        found.append(x[0].clone())
        return x

    by_hand(family, ids, (block, at, look))
    return found[0]


def put(rows: Tensor, *at: Any) -> Change:
    """A change that puts these rows there, of all texts; by itself everywhere."""

    def change(x: Tensor) -> Tensor:
        x = x.clone()
        x[(slice(None), *at)] = rows
        return x

    return change


def keeping(kept: list[Tensor]) -> Change:
    """A hook that puts what passes where autograd keeps its gradient."""

    def keep(x: Tensor) -> Tensor:
        kept.append(x.detach().clone().requires_grad_())
        return kept[-1]

    return keep


def module_of(model: nn.Module, family: str, block: int, path: str) -> Any:
    return model.get_submodule(f"{NAMES[family].blocks}.{block}.{path}")
