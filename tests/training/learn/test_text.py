"""The sentences that the package brings, and the vocabulary made for them."""

import hashlib

from ffnviz.analysis.facts import EVERYDAY
from ffnviz.models.encoder.folder import TOKENIZER
from ffnviz.models.encoder.model import MODELS
from ffnviz.models.encoder.tokenizer import MASK, Tokenizer
from ffnviz.training.learn.text import LOOKED_AT, VOCABULARY, commonest, everyday


def test_500_sentences_are_held_out_and_hardly_one_of_them_is_trained_on() -> None:
    _, sentences = everyday()
    held_out = [row.tobytes() for rows in sentences.held_out.values() for row in rows]
    training = {row.tobytes() for rows in sentences.training.values() for row in rows}
    assert len(held_out) == LOOKED_AT
    assert len(training) > 79_000
    assert sum(row in training for row in held_out) < 10  # that differ in capitals alone


def test_the_vocabulary_is_small_and_reads_common_words_whole_and_anything_else_in_pieces() -> None:
    tokenizer, _ = everyday()
    assert tokenizer.vocab_size <= VOCABULARY
    assert len(tokenizer.encode(f"What {MASK} is it?").ids) == 5
    odd = "Zyzzyva 東京"
    assert tokenizer.decode(tokenizer.encode(odd).ids) == odd.lower()
    assert tokenizer.encode(MASK).ids == [tokenizer.mask_id]


def test_what_is_kept_is_read_as_the_full_tokenizer_reads_it() -> None:
    full = Tokenizer.from_json((MODELS / "relu" / TOKENIZER).read_bytes())
    lines = ["the cat sat on the mat.", "a dog looked at the cat."]
    small = commonest(full, lines, 400)
    assert small.vocab_size <= 400
    for line in lines:
        whole = [full.word(i) for i in full.encode(line).ids]
        assert [small.word(i) for i in small.encode(line).ids] == whole


def test_the_sentences_are_those_of_the_licence_file() -> None:
    digest = hashlib.sha256(EVERYDAY.read_bytes()).hexdigest()
    about = (EVERYDAY.parent / "README.md").read_text(encoding="utf-8")
    assert "CC BY 2.0 FR" in about
    assert digest in about
