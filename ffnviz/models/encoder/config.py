"""The shape of an encoder as one frozen, validated value."""

from dataclasses import asdict, dataclass, fields
from reprlib import Repr
from typing import Any

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.arguments import at_most

NORMS = ("pre", "post")
SHORT = Repr()
SHORT.maxstring = SHORT.maxother = 80  # a file may hold anything
LARGEST = 1_000_000  # far beyond any size that runs, far below what overflows


class ConfigError(ValueError):
    """A configuration value that cannot be: names the field, the value and what is allowed.

    Examples:
        >>> ffnviz.EncoderConfig(d_model=64, n_heads=5)
        Traceback (most recent call last):
            ...
        ffnviz.models.encoder.config.ConfigError: n_heads = 5 is not allowed: ...
    """


@at_most(5)
@dataclass(frozen=True)
class EncoderConfig:
    """Everything that fixes the shapes and the equations of an encoder.

    Attributes:
        vocab_size: entries of the vocabulary, rows of the embedding matrix.
        max_tokens: the longest sequence there are positions for.
        d_model: width of the residual stream.
        n_heads: attention heads; divides d_model.
        d_ff: neurons of each FFN.
        n_blocks: encoder blocks.
        activation: φ of the FFN, a name in ``ffnviz.models.activations.ACTIVATIONS``.
        norm: "pre" (LayerNorm before each sub-layer) or "post" (after the residual sum).
        causal: True if a token may only attend to itself and what came before it.
        dropout: probability in [0, 1) of dropping a value while training.
        layer_norm_eps: added to the variance in every LayerNorm.
        bias: whether attention, FFN and LayerNorm have bias vectors.

    Raises:
        ConfigError: on a value outside what is allowed.

    Examples:
        >>> ffnviz.EncoderConfig(d_model=64, n_heads=4, d_ff=256).d_head
        16
    """

    vocab_size: int = 8_192
    max_tokens: int = 128
    d_model: int = 512
    n_heads: int = 8
    d_ff: int = 2_048
    n_blocks: int = 2
    activation: str = "relu"
    norm: str = "pre"
    causal: bool = False
    dropout: float = 0.0
    layer_norm_eps: float = 1e-5
    bias: bool = True

    def __post_init__(self) -> None:
        for name in ("vocab_size", "max_tokens", "d_model", "n_heads", "d_ff", "n_blocks"):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= LARGEST:
                raise _wrong(name, value, f"a whole number from 1 to {LARGEST:,}")
        if self.d_model % self.n_heads:
            raise _wrong("n_heads", self.n_heads, f"a divisor of d_model = {self.d_model}")
        if type(self.activation) is not str or self.activation not in ACTIVATIONS:
            raise _wrong("activation", self.activation, f"one of {', '.join(ACTIVATIONS)}")
        if self.norm not in NORMS:
            raise _wrong("norm", self.norm, f"one of {', '.join(NORMS)}")
        for name in ("causal", "bias"):
            if type(getattr(self, name)) is not bool:
                raise _wrong(name, getattr(self, name), "true or false")
        if not _is_number(self.dropout) or not 0 <= self.dropout < 1:
            raise _wrong("dropout", self.dropout, "a number from 0 up to but not including 1")
        if not _is_number(self.layer_norm_eps) or not 0 < self.layer_norm_eps < 1:
            raise _wrong("layer_norm_eps", self.layer_norm_eps, "a number between 0 and 1")

    @property
    def d_head(self) -> int:
        """Width of one attention head."""
        return self.d_model // self.n_heads

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values; `bias` only where there is none."""
        values = asdict(self)
        if self.bias:
            del values["bias"]  # folders written before it could be left out have no such field
        return values

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "EncoderConfig":
        """A configuration from JSON values.

        Raises:
            ConfigError: on an unknown field, or a value outside what is allowed.
        """
        known = [field.name for field in fields(cls)]
        for name, value in values.items():
            if name not in known:
                raise _wrong(name, value, f"only these fields: {', '.join(known)}")
        return cls(**values)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _wrong(field: str, value: object, allowed: str) -> ConfigError:
    return ConfigError(f"{field} = {SHORT.repr(value)} is not allowed: it must be {allowed}.")
