"""`model.trace` with all logits against PyTorch's fused encoder, which keeps nothing.

Both are given the same weights. The trace starts from text, the baseline from token ids: what
tokenising costs counts against the trace. A second table has both beside what the machine allows.
"""

import os
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import ffnviz
from benchmarks.measure import machine, table
from ffnviz.analysis.measuring import CPU, in_turn
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.parts.timing.stages import speed, work

SENTENCE = "The little girl opened the door and looked out at the cat that sat on the mat. "
LENGTHS = (24, 128)
REPEATS = 200
TARGET = 1.15
LARGEST_DIFFERENCE = 1e-4
LIMITS = (
    "twin", "T", "threads", "GB/s", "G multiply-adds/s", "read", "multiply", "needed",
    "trace, least", "of the best", "fused",
)  # fmt: skip


class FusedEncoder:
    """The embedding, `torch.nn.TransformerEncoder` with an encoder's weights, and the logits."""

    def __init__(self, encoder: Encoder) -> None:
        config = encoder.config
        layer = nn.TransformerEncoderLayer(
            config.d_model,
            config.n_heads,
            config.d_ff,
            config.dropout,
            config.activation,
            config.layer_norm_eps,
            batch_first=True,
            norm_first=True,
        )
        norm = nn.LayerNorm(config.d_model, config.layer_norm_eps)
        # Nested tensors pack sentences of unequal length; here there is only one.
        self.layers = nn.TransformerEncoder(
            layer, config.n_blocks, norm, enable_nested_tensor=False
        )
        self.layers.load_state_dict(_renamed(encoder.state_dict()))
        self.layers.eval()
        self.tokens = encoder.token_embedding.weight
        self.positions = encoder.position_embedding.weight

    @torch.inference_mode()
    def logits(self, ids: Tensor) -> Tensor:
        """(T,) -> (T, vocab_size)."""
        x = F.embedding(ids, self.tokens) + self.positions[: len(ids)]
        return F.linear(self.layers(x[None])[0], self.tokens)  # only batches are fused


def _renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    names = {
        "blocks.": "layers.",
        "attention_norm.": "norm1.",
        "ffn_norm.": "norm2.",
        "attention.project_in.": "self_attn.in_proj_",
        "attention.project_out.": "self_attn.out_proj.",
        "ffn.expand.": "linear1.",
        "ffn.compress.": "linear2.",
        "final_norm.": "norm.",
    }
    renamed = {}
    for name, weight in weights.items():
        if "embedding" not in name:
            for ours, theirs in names.items():
                name = name.replace(ours, theirs)
            renamed[name] = weight
    return renamed


def text_of(model: ffnviz.Model, n_tokens: int) -> str:
    """A text of exactly so many tokens."""
    tokens = model.tokenizer.encode(SENTENCE * n_tokens, n_tokens).tokens
    return (SENTENCE * n_tokens)[: tokens[-1].end]


def check(model: ffnviz.Model, fused: FusedEncoder, text: str, ids: Tensor) -> float:
    """The largest difference of a logit; stops unless both compute the same, one of them fused."""
    difference = float((model.trace(text).logits - fused.logits(ids)).abs().max())
    if difference > LARGEST_DIFFERENCE:
        raise SystemExit(f"The two do not compute the same: logits differ by {difference:.1e}.")
    kernel = torch._transformer_encoder_layer_fwd
    with mock.patch.object(torch, kernel.__name__, wraps=kernel) as fast_path:
        fused.logits(ids)
    if fast_path.call_count != model.encoder.config.n_blocks:
        raise SystemExit("The baseline does not take PyTorch's fused path.")
    return difference


def rows(model: ffnviz.Model, n_tokens: int, threads: int) -> tuple[list[object], list[object]]:
    """A line of each table: both, timed in turn, and the least of each against the limits."""
    torch.set_num_threads(threads)
    fused = FusedEncoder(model.encoder)
    text = text_of(model, n_tokens)
    ids = torch.tensor(model.tokenizer.encode(text).ids)
    difference = check(model, fused, text, ids)
    taken = in_turn(
        {"trace": lambda: model.trace(text).logits, "fused": lambda: fused.logits(ids)}, REPEATS
    )
    trace, baseline = taken["trace"], taken["fused"]
    best, parts = speed(CPU), work(model, len(ids))
    least = sum(part.least(best) for part in parts)
    which: list[object] = [model.name, len(ids), threads]
    ratios = [
        *which,
        trace,
        baseline,
        f"{trace.median / baseline.median:.2f}",
        f"{trace.least / baseline.least:.2f}",
        f"{difference:.0e}",
    ]
    limits = [
        *which,
        f"{best.bytes / 1e9:.0f}",
        f"{best.multiply_adds / 1e9:.0f}",
        f"{sum(part.reading(best) for part in parts):.2f}",
        f"{sum(part.multiplying(best) for part in parts):.2f}",
        f"{least:.2f}",
        f"{trace.least:.2f}",
        f"{least / trace.least:.0%}",
        f"{least / baseline.least:.0%}",
    ]
    return ratios, limits


def main() -> None:
    """Print the table."""
    print(f"\n## model.trace against torch.nn.TransformerEncoder (target: at most {TARGET})\n")
    print(f"{machine()}\n{REPEATS} runs of each, in turn; median (quartiles) in milliseconds,")
    print("the ratio of the medians, and that of the least disturbed run of each.\n")
    header = [
        "twin",
        "T",
        "threads",
        "trace",
        "fused",
        "ratio of medians",
        "of minima",
        "|Δ logit|",
    ]
    models = [ffnviz.load(name) for name in ("relu", "gelu")]
    threads = sorted({1, min(2, os.cpu_count() or 1)})
    made = [rows(m, t, n) for n in threads for m in models for t in LENGTHS]
    print(table(header, [ratios for ratios, _ in made]))
    print("\nWhat the machine allows: each weight read once from memory, and the multiply-adds at")
    print("the pace of its best square product; each part needs the longer (milliseconds).\n")
    print(table(LIMITS, [limits for _, limits in made]))


if __name__ == "__main__":
    main()
