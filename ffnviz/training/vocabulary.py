"""Training the byte-level BPE tokenizer."""

from collections.abc import Iterable

from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as BytePairTokenizer

from ffnviz.models.encoder.tokenizer import MASK, Tokenizer


def train_tokenizer(lines: Iterable[str], vocab_size: int) -> Tokenizer:
    """A byte-level BPE tokenizer with [MASK] as id 0.

    Args:
        lines: the text, a paragraph each.
        vocab_size: entries, among them [MASK] and the 256 bytes.
    """
    # lstrip: a typed "the [MASK]" then reads as in training, where [MASK] stands for " mat",
    # its space included. normalized: also [mask] is found, the text being lower-cased by then.
    mask = AddedToken(MASK, special=True, lstrip=True, normalized=True)
    bpe = BytePairTokenizer(models.BPE())
    bpe.normalizer = normalizers.Lowercase()
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[mask],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator((" " + line for line in lines), trainer)
    return Tokenizer(bpe)
