"""Subjects for the Lab's tests: a small model, as it is or broken on purpose; and bits."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ffnviz.analysis.lab.experiment import Finding, Result, Subject
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.attention import AttentionRecord, SelfAttention
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.feed_forward import FeedForward, FeedForwardRecord
from ffnviz.models.encoder.linear import Linear
from ffnviz.models.encoder.model import Model, load

TEXT = "The cat sat on the mat, and the dog sat on the floor."


def subject(
    folder: Path, breaks: Callable[[Encoder], None] | None = None, text: str = TEXT
) -> Subject:
    """The small model, with weights large enough to matter, after `breaks` had its way with it."""
    model = load(folder)
    encoder = copy.deepcopy(model.encoder)
    generator = torch.Generator().manual_seed(5)
    for parameter in encoder.parameters():
        parameter.data = 0.4 * torch.randn(parameter.shape, generator=generator)
    if breaks:
        breaks(encoder)
    model = Model(model.name, encoder.eval(), model.tokenizer, model.token_counts)
    trace = model.trace(text)
    return Subject(model, trace, 1, len(trace.tokens) - 1)


def finding(result: Result, start: str) -> Finding:
    """The one finding whose claim begins so."""
    (found,) = [each for each in result.findings if each.claim.startswith(start)]
    return found


class Peeking(FeedForward):
    """An FFN that looks at its neighbour, a little."""

    def forward(self, x: Tensor, edits: object = ()) -> FeedForwardRecord:
        record = super().forward(x + 0.01 * x.roll(1, dims=-2), edits)  # type: ignore[arg-type]
        return FeedForwardRecord(x, record.pre_activation, record.hidden, record.output)


class ByPosition(FeedForward):
    """An FFN with weights of its own at every position, nearly."""

    def forward(self, x: Tensor, edits: object = ()) -> FeedForwardRecord:
        record = super().forward(x, edits)  # type: ignore[arg-type]
        here = 0.001 * torch.arange(x.shape[-2], dtype=x.dtype)[:, None]
        output = record.output + here
        return FeedForwardRecord(x, record.pre_activation, record.hidden, output)


class Bent(Linear):
    """A layer that should be linear and is not."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).tanh()


def with_ffn(kind: type[FeedForward]) -> Callable[[Encoder], None]:
    """Each block's FFN replaced by a broken one with the same weights."""

    def breaks(encoder: Encoder) -> None:
        for block in encoder.blocks:
            config = encoder.config
            made = kind(config.d_model, config.d_ff, config.activation)
            made.load_state_dict(block.ffn.state_dict())
            block.ffn = made

    return breaks


def bent(layer: nn.Linear) -> Bent:
    """The same weights in a layer that bends."""
    made = Bent(layer.in_features, layer.out_features)
    made.load_state_dict(layer.state_dict())
    return made


def bending(*layers: str) -> Callable[[Encoder], None]:
    """All blocks' layers of these names bend."""

    def bend(encoder: Encoder) -> None:
        for block in encoder.blocks:
            for layer in layers:
                straight: Any = block.get_submodule(layer)
                block.set_submodule(layer, bent(straight))

    return bend


class Deaf(SelfAttention):
    """Attention that hears nobody: a linear layer a token."""

    def forward(
        self, x: Tensor, attention_mask: Tensor | None = None, edits: Sequence[Edit] = ()
    ) -> AttentionRecord:
        record = super().forward(x, attention_mask, edits)
        output = self.project_out(record.values.transpose(-3, -2).flatten(-2))
        return AttentionRecord(x, record.queries, record.keys, record.values, output, record.causal)


def deaf(encoder: Encoder) -> None:
    """All attentions hear nobody."""
    for block in encoder.blocks:
        block.attention.__class__ = Deaf


def bits(value: object) -> object:
    """The same nest of tuples for two values, only if they agree in every bit."""
    if isinstance(value, Tensor):
        return bits(value.detach().numpy())
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return np.float64(value).tobytes()
    if is_dataclass(value):
        compared = [field.name for field in fields(value) if field.compare]
        return tuple((name, bits(getattr(value, name))) for name in compared)
    if isinstance(value, Mapping):
        return tuple((name, bits(each)) for name, each in value.items())
    if isinstance(value, tuple | list):
        return tuple(map(bits, value))
    return value
