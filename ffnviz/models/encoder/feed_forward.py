"""The position-wise feed-forward network, plain and gated."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.edit import Edit, edited
from ffnviz.models.encoder.linear import Linear

Stream = Float[Tensor, "*batch tokens d_model"]
Hidden = Float[Tensor, "*batch tokens d_ff"]


@dataclass(frozen=True)
class FeedForwardRecord:
    """Every stage of one pass through an FFN.

    Attributes:
        input: x, (*batch, T, d_model).
        pre_activation: x W1 + b1, (*batch, T, d_ff).
        hidden: φ(x W1 + b1), (*batch, T, d_ff); gated, times the value projection; after any edits.
        output: hidden W2 + b2, (*batch, T, d_model).

    Examples:
        >>> trace = ffnviz.load("relu").trace("How [MASK] they know?")
        >>> ffn = trace.blocks[0].ffn
        >>> ffn.input.shape, ffn.hidden.shape, ffn.output.shape
        (torch.Size([5, 512]), torch.Size([5, 2048]), torch.Size([5, 512]))
        >>> torch.equal(ffn.hidden, ffn.pre_activation.relu())
        True
    """

    input: Float[Tensor, "*batch tokens d_model"]
    pre_activation: Float[Tensor, "*batch tokens d_ff"]
    hidden: Float[Tensor, "*batch tokens d_ff"]
    output: Float[Tensor, "*batch tokens d_model"]

    @property
    def above_zero(self) -> Bool[Tensor, "*batch tokens d_ff"]:
        """Where a neuron is above zero, (*batch, T, d_ff)."""
        return self.hidden > 0


@dataclass(frozen=True)
class GatedFeedForwardRecord(FeedForwardRecord):
    """The stages of a gated FFN: also what the gate is multiplied by.

    Attributes:
        value: x V + c, (*batch, T, d_ff).

    Examples:
        >>> x = torch.ones(1, 4)
        >>> record = ffnviz.GatedFeedForwardRecord(x, x, 3 * x, x, value=3 * x)
        >>> torch.equal(record.hidden, record.pre_activation * record.value)
        True
    """

    value: Float[Tensor, "*batch tokens d_ff"]

    @property
    def above_zero(self) -> Bool[Tensor, "*batch tokens d_ff"]:
        """Where x W1 + b1 is above zero: the sign of hidden depends on the value as well.

        For every φ here φ(x) > 0 where x > 0. Edits do not change it.
        """
        return self.pre_activation > 0


class FeedForward(nn.Module):
    """FFN(x) = φ(x W1 + b1) W2 + b2, the same for every token.

    Vaswani et al. 2017, eq. 2 (φ = ReLU); Hendrycks & Gimpel 2016 (φ = GELU).
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: str, dropout: float = 0.0, bias: bool = True
    ) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.expand = Linear(d_model, d_ff, bias)
        self.compress = Linear(d_ff, d_model, bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Stream, edits: Sequence[Edit] = ()) -> FeedForwardRecord:
        """All stages for each token of x, (*batch, T, d_model), with edits of whatever block."""
        pre_activation = self.expand(x)  # (*batch, T, d_model) -> (*batch, T, d_ff)
        hidden = edited(self.activation.function(pre_activation), edits)
        return FeedForwardRecord(x, pre_activation, hidden, self.write(hidden, edits))

    def write(self, hidden: Hidden, edits: Sequence[Edit]) -> Stream:
        """hidden W2 + b2, (*batch, T, d_ff) -> (*batch, T, d_model), with edits made."""
        return edited(self.compress(self.dropout(hidden)), edits, "ffn")

    def hidden(self, x: Stream) -> Hidden:
        """Hidden alone for x, (*batch, T, d_model), to the bit as in a whole pass."""
        return self.activation.function(self.expand(x))


class GatedFeedForward(FeedForward):
    """FFN(x) = (φ(x W1 + b1) ⊗ (x V + c)) W2 + b2, Shazeer 2020, eq. 6 (there without biases)."""

    def __init__(
        self, d_model: int, d_ff: int, activation: str, dropout: float = 0.0, bias: bool = True
    ) -> None:
        super().__init__(d_model, d_ff, activation, dropout, bias)
        self.gated_value = Linear(d_model, d_ff, bias)

    def forward(self, x: Stream, edits: Sequence[Edit] = ()) -> GatedFeedForwardRecord:
        """All stages for each token of x, (*batch, T, d_model), with edits of whatever block."""
        pre_activation = self.expand(x)  # (*batch, T, d_model) -> (*batch, T, d_ff)
        value = self.gated_value(x)  # (*batch, T, d_model) -> (*batch, T, d_ff)
        hidden = edited(self.activation.function(pre_activation) * value, edits)
        output = self.write(hidden, edits)
        return GatedFeedForwardRecord(x, pre_activation, hidden, output, value)

    def hidden(self, x: Stream) -> Hidden:
        """Hidden alone for x, (*batch, T, d_model), to the bit as in a whole pass."""
        value: Tensor = self.gated_value(x)
        return super().hidden(x) * value


def feed_forward(
    d_model: int, d_ff: int, activation: str, dropout: float = 0.0, bias: bool = True
) -> FeedForward:
    """The FFN for an activation by its name: gated where the activation is."""
    kind = GatedFeedForward if ACTIVATIONS[activation].gated else FeedForward
    return kind(d_model, d_ff, activation, dropout, bias)
