"""The proof of a network: five equations for every block, each with its largest error.

E1  hidden W₂ + b₂ = what the FFN's last layer wrote
E2  φ(pre) [· value] = hidden
E3  the stream after the FFN = the stream before it + what it wrote, with the norms there are
E4  what a block writes is what the next one reads
E5  the rest of the network, from the last stream alone = the network's own result
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from ffnviz.models.external.attention_roles import AttentionRoles, find_attention
from ffnviz.models.external.blocks import find_blocks, n_experts
from ffnviz.models.external.compare import TOLERANCE, error, rows
from ffnviz.models.external.ffn_roles import FfnRoles, find_ffn
from ffnviz.models.external.phi import same
from ffnviz.models.external.refusal import NotProvedError, in_short
from ffnviz.models.external.stream_roles import StreamRoles, find_stream
from ffnviz.models.external.tail import make_skippable, result_of, tail
from ffnviz.models.external.watch import BlockPass, watch

EQUATIONS = {
    "E1": "hidden W₂ + b₂ is what the FFN writes",
    "E2": "φ(pre) [· value] is hidden",
    "E3": "the stream moves by what the FFN writes",
    "E4": "what a block writes is what the next one reads",
    "E5": "from the last stream alone come the network's own results",
}

MIXTURE = ("it is a mixture of {n} experts. Its router sends each token to a few of them, so there "
           "is no one FFN that every token passes")  # fmt: skip


@dataclass(frozen=True, eq=False)
class ProvedBlock:
    """One pass through one block, with the roles that were proved for it."""

    block: nn.Module
    ffn: FfnRoles  # which of its modules makes which stage of the FFN
    stream: StreamRoles  # how what the FFN writes is added
    attention: AttentionRoles | None  # None if no one module writes what the attention adds

    @property
    def edits_middle_norm(self) -> bool:
        """Whether a norm of x + r a makes the stream between attention and FFN."""
        return self.stream.norm_before is None and self.stream.middle_norm is not None

    @property
    def ffn_multiplier(self) -> float:
        """What the FFN's last layer wrote is multiplied with this; 1 if a norm reads it instead."""
        return 1.0 if self.stream.written_norm else self.stream.multiplier


@dataclass(frozen=True, eq=False)
class Proof:
    """A network whose equations hold.

    Examples:
        >>> model = ffnviz.from_module(gpt2, tokenizer)
        >>> sorted(model.proof.errors), model.proof.causal
        (['E1', 'E2', 'E3', 'E4', 'E5'], True)
    """

    blocks: tuple[ProvedBlock, ...]  # one for each pass through a block, in their order
    # the largest error of each equation by its name, as a share of the largest value
    errors: dict[str, float]
    tolerance: float  # the largest error that was allowed
    embedding: Tensor  # the first stream on the probe, (B, T, d_model)
    last: Tensor  # the last stream on it, (B, T, d_model)
    # the network's own logits on it, (B, T, vocab_size); without a head, what it returns
    result: Tensor
    causal: bool  # whether no token depends on later ones

    @property
    def in_words(self) -> list[str]:
        """A line for each equation: what it says, and its largest error."""
        n = len(self.blocks)
        one = f"all {n} blocks" if n > 1 else "its one block"
        return [f"{name} ({one}): {says}; {_off(self.errors[name])}"
                for name, says in EQUATIONS.items()]  # fmt: skip


def _off(largest: float) -> str:
    return f"largest error {largest:.0e}" if largest else "equal to the bit"


@torch.no_grad()
def prove(model: nn.Module, ids: Tensor, changed: int) -> Proof:
    """See that all five equations hold on a probe, for every block.

    Args:
        model: as transformers made it, in evaluation mode.
        ids: (2, T), two texts that differ at one place alone.
        changed: that place: in a causal network, no earlier token depends on it.

    Raises:
        NotProvedError: naming the first equation that does not hold, and its block.
    """
    returned, passes = watch(model, find_blocks(model), ids)
    if not passes:
        raise NotProvedError(
            "E4", "what seem to be its blocks are never called as modules with a stream of "
            "vectors, so what they do cannot be watched: some networks nest their blocks, or call "
            "forward() past PyTorch's hooks",
        )  # fmt: skip
    proved = tuple(_proved(passes, ids))
    for number, each in enumerate(proved):
        if not same(proved[0].ffn.phi, each.ffn.phi):
            raise NotProvedError("E2", "its φ is another one than the first block's", number)
    chained = max((error(b.input, a.output) for a, b in pairwise(passes)), default=0.0)
    tolerance, last = TOLERANCE[passes[0].input.dtype], passes[-1].output
    if chained > tolerance:
        raise NotProvedError("E4", f"a block reads something else than what the one before it "
                             f"wrote ({chained:.0e} off)")  # fmt: skip
    result = result_of(returned)
    for seen in passes:
        make_skippable(seen.block, seen.raw)
    try:
        again = tail(model, rows(last))
    except Exception as failure:  # the network's own code, which ran before, raises what it likes
        raise NotProvedError(
            "E5", f"it does not run on from the last stream alone ({in_short(failure)})"
        ) from failure
    apart = error(again, result)
    if apart > tolerance:
        raise NotProvedError(
            "E5", "its result does not follow from the last stream alone, or the stream ends "
            f"elsewhere ({apart:.0e} off)",
        )  # fmt: skip
    before_change = error(last[0, :changed], last[1, :changed]) if changed else float("inf")
    errors = {
        "E1": max(each.ffn.product_error for each in proved),
        "E2": max(each.ffn.phi_error for each in proved),
        "E3": max(each.stream.error for each in proved),
        "E4": chained,
        "E5": apart,
    }
    return Proof(
        proved, errors, tolerance, passes[0].input, last, result, before_change <= tolerance
    )


def _proved(passes: list[BlockPass], ids: Tensor) -> Iterator[ProvedBlock]:
    for number, seen in enumerate(passes):
        if seen.input.shape[:-1] != ids.shape:
            raise NotProvedError(
                "E3", f"its stream has the shape {tuple(seen.input.shape)}, where one vector a "
                "token is expected", number,
            )  # fmt: skip
        try:
            ffn = find_ffn(seen, number)
            stream = find_stream(seen, ffn, number)
        except NotProvedError as failure:
            n = n_experts(seen.block, seen.input.shape[-1])
            if not n:
                raise
            raise NotProvedError(failure.equation, MIXTURE.format(n=n), number) from failure
        yield ProvedBlock(seen.block, ffn, stream, find_attention(seen, ffn, stream))
