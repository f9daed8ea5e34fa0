"""One more neuron in an FFN: its key is read off a token, its value points at a word.

FFN(x) + φ(x · key + b) value: the same as an FFN of d_ff + 1 neurons with one more column of W1,
one more number in b1, one more row of W2 (Geva et al. 2021, eq. 2; so are facts written into a
network by De Cao et al. 2021 and, as an update of rank one, by Meng et al. 2022).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ffnviz.analysis.needs import Capability, require, word_head
from ffnviz.models.activations import Activation
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS, Capability.PLAIN_FFN)
AWAKE = 4.0  # its pre-activation at the token it was planted for
LONGEST_WORD = 40
OFFERED, SHORTEST = 3, 3  # words offered instead, and the least number of their letters


class PlantError(ValueError):
    """A text that is no word of the network's vocabulary: says why, and what to type."""


@dataclass(frozen=True, eq=False)
class Planted:
    """A neuron that is not in the network."""

    key: Float[Tensor, "d_model"]  # (d_model,)
    bias: float  # added to x · key
    value: Float[Tensor, "d_model"]  # what one unit of activation writes, (d_model,)
    phi: Activation  # the FFN's φ
    word: int  # the vocabulary entry that its value points at

    def hidden(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows"]:
        """Its activation φ(x · key + bias) on rows of the FFN's input, (…, d_model) -> (…)."""
        return self.phi.function(x @ self.key + self.bias)

    def writes(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows d_model"]:
        """What it adds to the FFN's output, (…, d_model), for rows of its input."""
        return self.hidden(x)[..., None] * self.value


def word_id(model: Network, typed: str) -> int:
    """The vocabulary entry of a typed word.

    Raises:
        PlantError: if there is no word, or the network has it only in pieces.
    """
    word = typed.strip()
    if not word:
        raise PlantError("Type a word for the neuron to say.")
    tokens = model.tokenizer.encode(word).tokens
    if tokens[0].id == model.tokenizer.mask_id and len(tokens) == 1:
        raise PlantError(f"{word} stands for a hidden word: type the word itself.")
    if len(tokens) == 1:
        return tokens[0].id
    pieces = [piece for token in tokens if (piece := token.text.strip())]
    offered = _beginning_with(model, pieces[0].lower())
    hint = f" Words it has whole: {', '.join(offered)}." if offered else " Type a more common word."
    raise PlantError(f"This network has “{word}” only in pieces: {' + '.join(pieces)}.{hint}")


def _beginning_with(model: Network, text: str) -> list[str]:
    """Some words that begin with a text, the shortest first."""
    vocabulary = map(model.tokenizer.word, range(model.tokenizer.vocab_size))
    words = (word.strip() for word in vocabulary if word.startswith(f" {text}"))
    return sorted((w for w in words if w.isalpha() and len(w) >= SHORTEST), key=len)[:OFFERED]


@torch.no_grad()
def plant(
    model: Network,
    trace: ForwardPass,
    block: int,
    token: int,
    word: int,
    strength: float,
    choosiness: float,
) -> Planted:
    """A neuron that is active at a token and writes towards a word.

    With x the FFN's input at the token, the pre-activation at any input y is 4 at y = x, and 0
    where the part of y along x has only the share `choosiness` of x's length:

        4 · (x·y / x·x − choosiness) / (1 − choosiness).

    The value is the direction in the stream along which the word's logit rises fastest above the
    average word's: gain ⊙ (E_w − mean(E)), centred as the final norm centres.

    Args:
        model: a network with a plain FFN and a plain word head.
        trace: its pass over the sentence.
        block: from 0.
        token: whose FFN input makes the key.
        word: the vocabulary entry.
        strength: length of what it writes at the token, relative to the FFN's own output.
        choosiness: below 1; taken as 0 where the FFN has no biases.

    Raises:
        NotForThisNetwork: for a gated FFN, or without a plain word head.
    """
    require(model, NEEDS)
    head, words = word_head(model)
    ffn, record = model.ffn(block), trace.blocks[block].ffn
    x = record.input[token]
    least = choosiness if ffn.key_bias is not None else 0.0
    key = AWAKE / (1 - least) * x / x.square().sum().clamp_min(1e-12)
    bias = -AWAKE * least / (1 - least)
    direction = words.vectors[word] - words.vectors.mean(dim=0)
    if head.norm is not None:
        direction = head.norm.undivided_along(direction)
    direction = direction / direction.norm().clamp_min(1e-12)
    awake = float(ffn.phi.function(x @ key + bias))
    length = strength * record.output[token].norm() / awake
    return Planted(key, bias, length * direction, ffn.phi, word)


@torch.no_grad()
def output_with(trace: ForwardPass, block: int, planted: Planted) -> Tensor:
    """The output of the block's FFN with the neuron in it, (*batch, T, d_model)."""
    record = trace.blocks[block].ffn
    return record.output + planted.writes(record.input)
