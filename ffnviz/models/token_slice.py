"""Some of a trace's tokens: neighbours as a trace of their own, and the default token."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from jaxtyping import Float
from torch import Tensor

from ffnviz.models.encoder.feed_forward import FeedForwardRecord
from ffnviz.models.encoder.tokenizer import Token
from ffnviz.models.trace import BlockTrace, LazyValue, Trace, token_place


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TraceSlice(Trace):
    """Neighbouring tokens of a trace: no pass of its own, but rows of one; nothing is copied.

    A block's attention is that of all tokens, as a token may attend to one that is left out here.
    """

    whole: Trace = field(repr=False)  # the trace of all tokens
    first: int  # the place of the first of these tokens in it

    def logits_at(self, token: int) -> Float[Tensor, "*batch vocab_size"]:
        """See Trace."""
        return self.whole.logits_at(self.first + token_place(token, len(self.tokens)))


def token_slice(trace: Trace, tokens: range) -> Trace:
    """A trace of these neighbouring tokens alone; the same trace if these are all."""
    if tokens == range(len(trace.tokens)):
        return trace
    if not tokens or tokens.step != 1 or tokens[0] < 0 or tokens[-1] >= len(trace.tokens):
        raise ValueError(f"{tokens} are not neighbours among {len(trace.tokens)} tokens.")
    kept = slice(tokens.start, tokens.stop)
    blocks = tuple(
        BlockTrace(
            block.input[kept],
            block.middle[kept],
            block.output[kept],
            block.attention_stages,
            LazyValue(partial(_rows, block.ffn_stages, kept)),
            None if block.behind_ffn is None else block.behind_ffn[kept],
        )
        for block in trace.blocks
    )
    return TraceSlice(
        trace.ids[kept],
        trace.embedding[kept],
        blocks,
        trace.final[kept],
        trace.unembed,
        text=trace.text,
        tokens=trace.tokens[kept],
        n_left_out=trace.n_left_out,
        network=trace.network,
        edits=trace.edits,
        whole=trace,
        first=tokens.start,
    )


def full_trace(trace: Trace) -> Trace:
    """The trace of all tokens, of a slice or of a whole trace."""
    return trace.whole if isinstance(trace, TraceSlice) else trace


def index_in_full(trace: Trace, token: int) -> int:
    """A token's place among all tokens."""
    return token + (trace.first if isinstance(trace, TraceSlice) else 0)


def _rows(stages: LazyValue[FeedForwardRecord], kept: slice) -> FeedForwardRecord:
    record = stages.get()
    return type(record)(**{name: stage[kept] for name, stage in vars(record).items()})


def words_among(tokens: Sequence[Token]) -> range:
    """The places from the first word to the last, without special tokens at both ends; or all."""
    typed = [place for place, token in enumerate(tokens) if not token.special]
    return range(typed[0], typed[-1] + 1) if typed else range(len(tokens))


def usual_token(tokens: Sequence[Token], mask_id: int | None) -> int:
    """The token to look at by default: the first [MASK], or else the last word."""
    masks = [place for place, token in enumerate(tokens) if token.id == mask_id]
    words = [place for place, token in enumerate(tokens) if any(map(str.isalnum, token.text))]
    return (masks[:1] or words[-1:] or [len(tokens) - 1])[0]
