"""Small tokenizers of the three kinds that networks come with, of fewer than 97 entries."""

from collections.abc import Iterable

from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, Unigram, WordPiece
from transformers import (
    AlbertTokenizer,
    LlamaTokenizer,
    PreTrainedTokenizerFast,
    T5Tokenizer,
    XLMRobertaTokenizer,
)

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


PIECES = [("▁", -2.0), ("▁This", -2.0), ("▁is", -2.0), ("▁test", -2.0), ("日本", -3.0),
          *((letter, -4.0) for letter in (*LETTERS, "é", '"', "2", "0", "4", "."))]  # fmt: skip


def t5() -> PreTrainedTokenizerFast:
    """T5's own class: it writes a space before each word, with the offsets of its first letter."""
    return T5Tokenizer(vocab=[("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *PIECES], extra_ids=0)


def xlm_roberta() -> PreTrainedTokenizerFast:
    """XLM-RoBERTa's own class."""
    special = [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")]
    return XLMRobertaTokenizer(vocab=[*special, *PIECES, ("<mask>", 0.0)])


def albert() -> PreTrainedTokenizerFast:
    """ALBERT's own class, which takes accents away."""
    special = [(name, 0.0) for name in ("<pad>", "<unk>", "[CLS]", "[SEP]")]
    return AlbertTokenizer(vocab=[*special, *PIECES, ("[MASK]", 0.0)])


def llama() -> PreTrainedTokenizerFast:
    """Llama 2's own class: letters that it does not know are bytes."""
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *LETTERS,
             "▁t", "▁th"]  # fmt: skip
    return LlamaTokenizer(
        vocab={name: i for i, name in enumerate(names)}, merges=[("▁", "t"), ("▁t", "h")]
    )
