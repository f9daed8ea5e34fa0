"""Every text family of transformers, as a small random network: opened, or refused in words.

`python -m benchmarks.families` writes docs/reference/families.md; `python -m benchmarks.families
gpt2 bert` prints the rows of two. Nothing is downloaded: each network is built from the default
configuration of its family, made small. Each is built in a process of its own, so that one that
fails, hangs or takes all memory is a row.
"""

import copy
import multiprocessing
import os
import resource
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from transformers.models.auto import modeling_auto

import ffnviz
from ffnviz.models.external.compare import error
from ffnviz.models.external.loading import kind_of
from ffnviz.models.external.proof import result_of, tail
from ffnviz.models.external.refusal import CannotOpenError, in_short
from tests.models.external.tokenizers import metaspace, word_piece

TEXT = "she sat on the mat"
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "families.md"
MAPPINGS = ("CAUSAL_LM", "MASKED_LM", "SEQ_TO_SEQ_CAUSAL_LM", "TEXT_ENCODING")
AT_ONCE = os.cpu_count() or 1
LONGEST_S, MOST_BYTES = 120, 6 * 2**30
NOISE = 0.1  # added to all weights: gains of one and biases of zero would hide a mistake

# By the names that configurations use; each takes those that it has.
SIZES: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "word_embed_proj_dim",
                     "embed_dim", "emb_dim", "attention_hidden_size", "linear_attn_hidden_size",
                     "embedding_size", "d_embed", "lru_width"), 32),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "d_ff", "n_inner", "hidden_dim",
                     "encoder_ffn_dim", "decoder_ffn_dim", "ffn_hidden_size", "d_inner",
                     "moe_intermediate_size", "shared_expert_intermediate_size",
                     "intermediate_size_mlp", "moe_shared_expert_intermediate_size",
                     "shared_intermediate_size", "feed_forward_size", "dim_ff", "dff",
                     "expert_ffn_hidden_size", "block_ff_dim"), 88),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "num_layers", "n_layers", "encoder_layers",
                     "decoder_layers", "num_decoder_layers", "num_encoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "num_heads", "n_heads",
                     "encoder_attention_heads", "decoder_attention_heads",
                     "linear_num_value_heads", "num_encoder_attention_heads",
                     "num_decoder_attention_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_kv_heads", "linear_num_key_heads"), 2),
    **dict.fromkeys(("head_dim", "d_kv", "kv_channels", "qk_nope_head_dim", "v_head_dim",
                     "qk_rope_head_dim", "global_head_dim", "linear_key_head_dim",
                     "linear_value_head_dim", "index_head_dim", "attention_head_dim",
                     "rotary_dim", "swa_head_dim", "swa_v_head_dim"), 8),
    **dict.fromkeys(("kv_lora_rank", "q_lora_rank", "o_lora_rank"), 16),
    **dict.fromkeys(("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts",
                     "num_moe_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk",
                     "top_k_experts", "num_selected_experts"), 2),
    **dict.fromkeys(("n_group", "topk_group", "n_groups"), 1),
    **dict.fromkeys(("vocab_size", "vocab_size_per_layer_input", "text_vocab_size"), 97),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len",
                     "max_sequence_length"), 64),
    **dict.fromkeys(("mamba_n_heads", "mamba_d_head", "mamba_num_heads", "mamba_head_dim",
                     "n_mamba_heads", "mamba_headdim", "mamba_chunk_size", "chunk_size",
                     "mamba_chunk_length", "mamba_chunk_scan_size"), 8),
    **dict.fromkeys(("mamba_d_state", "ssm_state_size", "state_size", "mamba_state_dim"), 16),
    **dict.fromkeys(("mamba_n_groups", "mamba_ngroups"), 1),
    "hidden_size_per_layer_input": 8, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "decoder_start_token_id": 1, "type_vocab_size": 2, "num_kv_shared_layers": 0,
}  # fmt: skip
DEPTHS = ("num_hidden_layers", "n_layer", "num_layers")
# Where these do not go together, others are tried; None leaves a size as it is.
OTHERS: tuple[dict[str, Any], ...] = (
    {},
    dict.fromkeys(DEPTHS, 4),
    {"num_key_value_heads": 4},
    {"head_dim": None, "hidden_size_per_layer_input": 0},
    dict.fromkeys(("moe_intermediate_size", "intermediate_size", *DEPTHS)),
    {**dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embedding_size"), 64),
     **dict.fromkeys(("head_dim", "d_kv", "v_head_dim", "qk_nope_head_dim", "rotary_dim"), 16),
     **dict.fromkeys(DEPTHS, 6)},
)  # fmt: skip


INTRO = """# Families of networks

Every family of transformers {version} that reads text, tried as a small network with random
weights: of {n}, {told}. The heads of all blocks are seen in {seen}. The largest error of
all that were opened is {largest}. `python -m benchmarks.families` writes this page; it downloads
nothing.

A network has its family's usual settings in small sizes, so a checkpoint with others may be
judged otherwise: `ffnviz check` says what holds of yours. Of an encoder-decoder the encoder is
shown. *Not built*: our small sizes make no network of this family; *failed*: it took too long.
Neither says anything about its checkpoints.

- **Family**: `model_type` in config.json.
- **Heads**: of how many blocks the attention patterns are seen. Elsewhere only the FFNs are taken
  apart, and pages say so.
- **Word**: what its head predicts, the next word or the hidden one; *none* has no head.
- **Equations**: the largest error of the five equations, in all blocks, as a share of the largest
  value; 0 means bit for bit equal.
- **Result**: the largest difference between what follows from the last stream of a trace and what
  an unmodified copy returns for the same sentence: logits, or vectors where there is no head.

## Why a mixture of experts stays closed

Its dense blocks would pass the proof, and the others could be named and left out. It is refused
all the same. In most mixtures no block is dense, and where some are, they are the first one to
three of dozens. What pages show runs over all blocks: the sums of attribution, the FFNs' share of
parameters and work, what a sentence loses without an FFN, neurons from block to block. With most
blocks left out, each of these numbers would be about a part of the network, while the words
around it speak of the whole.

## The table

| family | | heads | word | equations | result | why |
| --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Row:
    """A family, and what became of it."""

    family: str
    outcome: str  # "opened", "refused" or "not built"
    why: str = ""  # the sentence of a refusal, or why there was nothing to open
    attention: str = ""  # of how many blocks the heads are seen
    words: str = ""  # what its head predicts
    equations: float = 0.0  # the largest error of the five
    results: float = 0.0  # of its logits, or last vectors, against the unmodified network's

    def __str__(self) -> str:
        if self.outcome != "opened":
            sentence = self.why.replace("|", "\\|")
            return f"| {self.family} | {self.outcome} | | | | | {sentence} |"
        return (f"| {self.family} | opened | {self.attention} | {self.words} | "
                f"{_off(self.equations)} | {_off(self.results)} | |")  # fmt: skip


def _off(largest: float) -> str:
    return f"{largest:.0e}" if largest else "0"


def families() -> list[str]:
    """The types of networks that read text, by transformers' own lists."""
    names = (getattr(modeling_auto, f"MODEL_FOR_{each}_MAPPING_NAMES") for each in MAPPINGS)
    return sorted({family for mapping in names for family in mapping})


def small(kind: Any, sizes: Mapping[str, Any]) -> Any:
    """A configuration of small sizes, and of all configurations within it."""
    usual = kind()
    told = {
        name: size for name, size in sizes.items() if size is not None and _is_a_size(usual, name)
    }
    for name in getattr(kind, "sub_configs", {}):
        within = getattr(usual, name, None)
        if isinstance(within, transformers.PreTrainedConfig):
            told[name] = small(type(within), sizes).to_dict()
    return kind(**told)


def _is_a_size(config: Any, name: str) -> bool:
    try:
        return isinstance(getattr(config, name, ""), int | None)
    except RuntimeError:  # it differs from block to block, and one value is taken for all
        return True


def built(family: str) -> Any:
    """A small random network of a family.

    Raises:
        Exception: whatever its own code raises, if it takes none of our sizes.
    """
    failures: list[Exception] = []
    for other in OTHERS:
        try:
            kind = transformers.CONFIG_MAPPING[family]
            config = small(kind, {**SIZES, **other})
            config.use_cache = False
            torch.manual_seed(0)
            general = kind_of(transformers, config, {})
            model = general.from_config(config).float().eval().requires_grad_(False)
        except Exception as failure:  # each family's code raises what it likes
            failures.append(failure)
            continue
        noise = torch.Generator().manual_seed(1)
        for parameter in model.parameters():
            parameter.add_(NOISE * torch.randn(parameter.shape, generator=noise))
        return model
    raise failures[0]


def row(family: str) -> Row:
    """Build, open, and compare."""
    try:
        model = built(family)
    except Exception as failure:
        return Row(family, "not built", in_short(failure))
    plain = copy.deepcopy(model)
    masked = family in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    words = word_piece() if masked else metaspace()
    try:
        network = ffnviz.from_module(model, words, family)
    except CannotOpenError as refused:
        return Row(family, "refused", str(refused).removeprefix(f"{family}: "))
    proof = network.proof
    if plain.config.is_encoder_decoder:
        plain = plain.get_encoder()
    with torch.inference_mode():
        trace = network.trace(TEXT)
        results = error(
            tail(network.model, trace.final), result_of(plain(input_ids=trace.ids[None]))[0]
        )
    seen = sum(block.attention is not None and block.attention.heads is not None
               for block in proof.blocks)  # fmt: skip
    n = len(proof.blocks)
    head = "none" if not network.card.has_word_head else "next" if proof.causal else "hidden"
    return Row(family, "opened", "", "all" if seen == n else f"{seen} of {n}" if seen else "no",
               head, max(proof.errors.values()), results)  # fmt: skip


def _alone(family: str, sender: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    torch.set_num_threads(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sender.send(row(family))


@dataclass(frozen=True)
class Opening:
    """A family in a process of its own: one that fails without a sentence, or hangs, is a row."""

    family: str
    process: BaseProcess
    receiver: Connection
    until: float

    @classmethod
    def begin(cls, family: str) -> "Opening":
        """A process that has just begun."""
        receiver, sender = multiprocessing.Pipe(duplex=False)
        fork = multiprocessing.get_context("fork")  # transformers is imported once for all
        process = fork.Process(target=_alone, args=(family, sender))
        process.start()
        sender.close()
        return cls(family, process, receiver, monotonic() + LONGEST_S)

    def end(self) -> Row:
        """Its row, as soon as it is there."""
        try:
            if self.receiver.poll(max(0.0, self.until - monotonic())):
                found: Row = self.receiver.recv()
                return found
            return Row(self.family, "failed", f"it took more than {LONGEST_S} s")
        except EOFError:
            return Row(self.family, "failed", "ffnviz raised something else than a sentence")
        finally:
            self.process.kill()
            self.process.join()


def rows(names: Iterable[str], at_once: int = 2) -> Iterator[Row]:
    """The rows of these families, in their order."""
    running = deque[Opening]()
    for name in names:
        running.append(Opening.begin(name))
        if len(running) == at_once:
            yield running.popleft().end()
    while running:
        yield running.popleft().end()


def page(found: list[Row]) -> str:
    """The page of the documentation."""
    counts = Counter(each.outcome for each in found)
    told = ", ".join(f"{n} {outcome}" for outcome, n in counts.most_common())
    seen = sum(each.attention == "all" for each in found)
    opened = [each for each in found if each.outcome == "opened"]
    largest = max((max(each.equations, each.results) for each in opened), default=0.0)
    sizes = {"n": len(found), "told": told, "seen": seen, "largest": f"{largest:.0e}"}
    intro = INTRO.format(version=transformers.__version__, **sizes)
    return intro + "".join(f"{each}\n" for each in found)


if __name__ == "__main__":
    asked = sys.argv[1:]
    made = []
    for each in rows(asked or families(), AT_ONCE):
        print(each, flush=True)
        made.append(each)
    if not asked:
        PAGE.write_text(page(made), encoding="utf-8")
