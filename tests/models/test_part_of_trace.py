"""A trace as of some of its tokens alone: rows of the same pass."""

import pytest
import torch

import ffnviz
from ffnviz.models.encoder.tokenizer import Token
from ffnviz.models.token_slice import token_slice, words_among

TEXT = "The cat sat on the [MASK]."


def test_it_has_the_rows_of_the_whole_and_computes_no_pass() -> None:
    whole = ffnviz.load("relu").trace(TEXT)
    part = token_slice(whole, range(2, 5))
    assert [token.text for token in part.tokens] == [" sat", " on", " the"]
    for here, there in zip(part.blocks, whole.blocks, strict=True):
        for name in ("input", "middle", "output"):
            assert torch.equal(getattr(here, name), getattr(there, name)[2:5])
        for name in ("input", "pre_activation", "hidden", "output"):
            assert torch.equal(getattr(here.ffn, name), getattr(there.ffn, name)[2:5])
    assert torch.equal(part.ids, whole.ids[2:5])
    assert torch.equal(part.logits_at(0), whole.logits_at(2))
    assert torch.equal(part.logits_at(-1), whole.logits_at(4))
    torch.testing.assert_close(part.logits, whole.logits[2:5])
    assert part.blocks[0].output.data_ptr() == whole.blocks[0].output[2:].data_ptr(), "no copy"


def test_all_tokens_are_the_trace_itself_and_none_is_refused() -> None:
    whole = ffnviz.load("relu").trace(TEXT)
    assert token_slice(whole, range(len(whole.tokens))) is whole
    for wrong in (range(3, 3), range(-1, 2), range(2, 99), range(0, 4, 2)):
        with pytest.raises(ValueError, match="are not neighbours"):
            token_slice(whole, wrong)


def test_words_are_all_between_special_tokens() -> None:
    def tokens(*special: str) -> list[Token]:
        return [Token(0, "", 0, 0, name) for name in special]

    assert words_among(tokens("[CLS]", "", "", "[SEP]")) == range(1, 3)
    assert words_among(tokens("", "")) == range(2)
    assert words_among(tokens("[CLS]", "[SEP]")) == range(2), "nothing else is there to show"
