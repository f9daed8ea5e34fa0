"""Small tokenizers of the three kinds that networks come with, of fewer than 97 entries."""

from collections.abc import Iterable

from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, Unigram, WordPiece
from transformers import PreTrainedTokenizerFast

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ("the", "cat", "sat", "on", "mat", "door", "she", "out", "and", "it")


def _fast(words: Tokenizer, specials: Iterable[str], **names: str) -> PreTrainedTokenizerFast:
    words.add_special_tokens([AddedToken(name, special=True) for name in specials])
    return PreTrainedTokenizerFast(tokenizer_object=words, **names)


def word_piece() -> PreTrainedTokenizerFast:
    """BERT's: lower-cased words and pieces, [CLS] in front, [SEP] behind."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    names = [*special, *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS, ".", ",", "!"]
    words = Tokenizer(WordPiece({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    words.normalizer = normalizers.BertNormalizer()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.decoder = decoders.WordPiece()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return _fast(words, special, mask_token="[MASK]", pad_token="[PAD]", unk_token="[UNK]",
                 cls_token="[CLS]", sep_token="[SEP]")  # fmt: skip


def byte_level() -> PreTrainedTokenizerFast:
    """GPT-2's and RoBERTa's: bytes, of which this small one knows those of plain English."""
    names = ["<s>", "</s>", "<mask>", *LETTERS, *LETTERS.upper(), "Ġ", "Ċ", ".", ",", "!", "'",
             "Ã", "©", "Ģ", "1", "2", "3", "[", "]", "Ġt", "he"]  # fmt: skip
    merges = [("Ġ", "t"), ("h", "e")]
    words = Tokenizer(BPE({name: i for i, name in enumerate(names)}, merges))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    return _fast(words, ["<s>", "</s>"], eos_token="</s>")


def metaspace() -> PreTrainedTokenizerFast:
    """SentencePiece's, as Llama, T5 and ALBERT have it: ▁ for a space, <s> in front."""
    pieces = ["<unk>", "<s>", "</s>", "▁", *LETTERS, *LETTERS.upper(), *(f"▁{w}" for w in WORDS),
              ".", ",", "!"]  # fmt: skip
    words = Tokenizer(Unigram([(p, -1.0 - len(p) % 3) for p in pieces], unk_id=0))
    words.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    words.decoder = decoders.Metaspace(prepend_scheme="always")
    words.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    return _fast(words, ["<unk>", "<s>", "</s>"], bos_token="<s>", eos_token="</s>")
