"""A typed text, and everything the encoder computed for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from ffnviz.model.encoder import EncoderTrace
from ffnviz.model.tokenizer import Token


@dataclass(frozen=True)
class Trace(EncoderTrace):
    """The forward pass of one text; shapes as in EncoderTrace, without a batch dimension.

    Attributes:
        text: the text as typed.
        tokens: T tokens, each with its stretch of the text.
        n_left_out: how many tokens of the text were beyond max_tokens and are not in this trace.
    """

    text: str
    tokens: tuple[Token, ...]
    n_left_out: int

    @property
    def left_out(self) -> str:
        """The end of the text that is not in this trace."""
        return self.text[self.tokens[-1].end :] if self.n_left_out else ""


def usual_token(tokens: Sequence[Token], mask_id: int) -> int:
    """The token one looks at unless told otherwise: the first [MASK], or else the last word."""
    masks = [place for place, token in enumerate(tokens) if token.id == mask_id]
    words = [place for place, token in enumerate(tokens) if any(map(str.isalnum, token.text))]
    return (masks[:1] or words[-1:] or [len(tokens) - 1])[0]
