"""The traces of 64 texts against PyTorch's encoder on the padded batch, which keeps nothing.

Both have the same weights, and neither makes logits. The traces start from texts, the baseline from
padded ids and their mask: what tokenising and handing out cost counts against the traces.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

import ffnviz
from benchmarks.measure import machine, table
from benchmarks.trace import LARGEST_DIFFERENCE, FusedEncoder
from ffnviz.analysis.measuring import in_turn
from ffnviz.analysis.neurons.probes import read_probes

N_TEXTS = 64
REPEATS = 20
TARGET = 1.1


@torch.inference_mode()
def bare(fused: FusedEncoder, ids: Tensor, there: Tensor) -> Tensor:
    """The last stream, normed, (B, T, d_model); nobody attends to padding."""
    x = F.embedding(ids, fused.tokens) + fused.positions[: ids.shape[1]]
    made: Tensor = fused.layers(x, src_key_padding_mask=~there)
    return made


def line(model: ffnviz.Model, texts: list[str]) -> list[object]:
    """A line of the table; stops unless both compute the same."""
    fused = FusedEncoder(model.encoder)
    encoded = [model.tokenizer.encode(text).ids for text in texts]
    n = max(map(len, encoded))
    ids = torch.tensor([each + [0] * (n - len(each)) for each in encoded])
    there = torch.arange(n) < torch.tensor([len(each) for each in encoded])[:, None]
    expected = bare(fused, ids, there)
    apart = max(
        float((trace.final - row[: len(trace.tokens)]).abs().max())
        for trace, row in zip(model.traces(texts), expected, strict=True)
    )
    if apart > LARGEST_DIFFERENCE:
        raise SystemExit(f"The two do not compute the same: streams differ by {apart:.1e}.")
    taken = in_turn(
        {"traces": lambda: list(model.traces(texts)), "bare": lambda: bare(fused, ids, there)},
        REPEATS,
    )
    traces, baseline = taken["traces"], taken["bare"]
    share = f"{traces.median / baseline.median:.2f}"
    return [model.name, f"{len(texts)} × {n}", torch.get_num_threads(), traces, baseline, share,
            f"{traces.least / baseline.least:.2f}", f"{apart:.0e}"]  # fmt: skip


def main() -> None:
    """Print the table."""
    texts = [probe.text for probe in read_probes()[:N_TEXTS]]
    print(f"\n## model.traces against a padded bare forward (target: at most {TARGET})\n")
    print(machine())
    header = ["twin", "B × T", "threads", "traces, ms", "bare, ms", "median", "least", "differ"]
    print(table(header, [line(ffnviz.load(name), texts) for name in ("relu", "gelu")]))


if __name__ == "__main__":
    main()
