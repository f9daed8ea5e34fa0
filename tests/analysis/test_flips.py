"""The search for sentences that the FFN decides finds those, and no others."""

import torch

from ffnviz.analysis.journey import find_flips, hidden_words
from ffnviz.app.page_controls import read_examples
from ffnviz.models.encoder.model import TWINS, Model, load

LEAST = 0.05


def test_each_word_is_hidden_in_turn() -> None:
    assert list(hidden_words("It's 2 dogs.")) == [
        ("[MASK]'s 2 dogs.", "it"),
        ("It'[MASK] 2 dogs.", "s"),
        ("It's 2 [MASK].", "dogs"),
    ]


def test_what_is_found_flips_in_both_twins_and_what_is_not_found_does_not() -> None:
    twins = [load(name) for name in TWINS]
    known = {each.sentence: each.says for each in read_examples() if each.says}
    sentences = [masked.replace("[MASK]", word) for masked, word in known.items()]
    sentences.append("The cat sat on the mat.")
    found = {flip.sentence: flip for flip in find_flips(twins, sentences, LEAST)}
    assert set(known) <= set(found)
    for sentence in sentences:
        for masked, word in hidden_words(sentence):
            assert (masked in found) == all(decided(twin, masked, word) for twin in twins)
    values = [flip.least for flip in found.values()]
    assert values == sorted(values, reverse=True)


def decided(twin: Model, masked: str, word: str) -> bool:
    """By hand: the last stream with and without what the last FFN wrote, through the word head."""
    trace = twin.trace(masked)
    at = [token.id for token in trace.tokens].index(twin.tokenizer.mask_id)
    with torch.inference_mode():
        block = trace.blocks[-1]
        told = twin.encoder.unembed(twin.encoder.final_norm(block.middle + block.ffn.output))[at]
        untold = twin.encoder.unembed(twin.encoder.final_norm(block.middle))[at]
    best = int(told.argmax())
    sure = float(told.softmax(-1)[best]) >= LEAST
    return twin.tokenizer.label(best) == word and sure and int(untold.argmax()) != best
