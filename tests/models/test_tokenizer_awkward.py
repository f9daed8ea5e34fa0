"""The same promises for texts that have broken other programs, one by one and by name."""

import pytest

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.spelling import as_read
from tests.models.awkward import AWKWARD

EACH = pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())


@EACH
def test_its_tokens_are_the_text(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    assert "".join(token.text for token in encoding.tokens) == text
    assert encoding.tokens[-1].end == len(text)
    assert encoding.n_left_out == 0


@EACH
def test_it_is_read_without_loss(tokenizer: Tokenizer, text: str) -> None:
    lower = "".join(character.lower() for character in as_read(text))
    assert tokenizer.decode(tokenizer.encode(text).ids) == lower


@EACH
def test_cut_after_any_of_its_first_tokens_the_rest_is_what_was_left_out(
    tokenizer: Tokenizer, text: str
) -> None:
    n_tokens = len(tokenizer.encode(text).tokens)
    for limit in range(1, min(n_tokens, 12)):
        cut = tokenizer.encode(text, limit)
        assert len(cut.tokens) == limit
        assert cut.n_left_out == n_tokens - limit
        assert "".join(token.text for token in cut.tokens) + cut.left_out == text


def test_the_empty_text_has_no_tokens(tokenizer: Tokenizer) -> None:
    encoding = tokenizer.encode("")
    assert encoding.tokens == ()
    assert encoding.left_out == ""
