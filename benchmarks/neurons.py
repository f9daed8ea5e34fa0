"""Indexing against a bare forward pass over the same batches; an edited trace against a plain one.

Run it with `python -m benchmarks.neurons`.
"""

import torch

import ffnviz
from benchmarks.measure import machine, table
from ffnviz.analysis.measuring import in_turn
from ffnviz.analysis.neurons.gathering import batches
from ffnviz.analysis.neurons.neuron_index import build_index
from ffnviz.analysis.neurons.probes import read_probes
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model

INDEX_REPEATS = 12
TRACE_REPEATS = 300
INDEX_TARGET, TRACE_TARGET = 1.3, 1.1
TEXTS = {
    8: "She opened the [MASK] and looked out.",
    24: "the little girl opened a door and looked out of her window but it was dark there and she "
    "saw nothing but a star",
    128: "the old man sat by the river and slept until the morning came and " * 12,
}


def indexing(model: Model) -> list[object]:
    """One pass over all probe sentences: with the index made, without logits, and with them."""
    probes = read_probes()
    tags = tuple(sorted({tag for probe in probes for tag in probe.tags}))
    made = list(batches(probes, model.tokenizer, model.encoder.config.max_tokens))
    n_tokens = sum(batch.ids.numel() for batch in made)

    @torch.inference_mode()
    def bare() -> None:
        for batch in made:
            model.encoder.stream(batch.ids)

    @torch.inference_mode()
    def with_logits() -> None:
        for batch in made:
            model.encoder(batch.ids)

    taken = in_turn(
        {
            "index": lambda: build_index(model, probes, tags, "probes"),
            "bare": bare,
            "with logits": with_logits,
        },
        INDEX_REPEATS,
    )
    index, stream, whole = taken["index"], taken["bare"], taken["with logits"]
    return [
        model.name,
        f"{n_tokens:,}",
        index,
        stream,
        whole,
        f"{index.median / stream.median:.2f}",
        f"{index.median / whole.median:.2f}",
        f"{1e3 * n_tokens / index.median:,.0f}",
    ]


def edited(model: Model, n_neurons: int, text: str) -> list[object]:
    """A trace with neurons of both blocks put to sleep against one without."""
    neurons = tuple(range(n_neurons))

    def with_edits() -> None:
        model.trace(text, edits=[Edit(block, neurons, scale=0.0) for block in (0, 1)])

    taken = in_turn({"edited": with_edits, "plain": lambda: model.trace(text)}, TRACE_REPEATS)
    ratio = taken["edited"].median / taken["plain"].median
    n_tokens = len(model.trace(text).tokens)
    return [model.name, n_tokens, n_neurons, taken["edited"], taken["plain"], f"{ratio:.2f}"]


def main() -> None:
    """Print both tables."""
    torch.set_num_threads(1)
    models = [ffnviz.load(name) for name in ("relu", "gelu")]
    print(f"\n## Indexing against a forward pass (target: at most {INDEX_TARGET})\n")
    print(f"{machine()}\n{INDEX_REPEATS} runs of each, in turn; median (quartiles) in ms.\n")
    header = ["twin", "tokens", "index", "forward, no logits", "forward", "ratio to no logits",
              "ratio to forward", "tokens/s"]  # fmt: skip
    print(table(header, [indexing(model) for model in models]))
    print(f"\n## An edited trace against a plain one (target: at most {TRACE_TARGET})\n")
    print(f"{TRACE_REPEATS} runs of each, in turn; neurons switched off in both blocks.\n")
    header = ["twin", "T", "neurons", "edited", "plain", "ratio"]
    print(table(header, [edited(m, n, text) for m in models for text in TEXTS.values()
                         for n in (1, 100, 2_048)]))  # fmt: skip


if __name__ == "__main__":
    main()
