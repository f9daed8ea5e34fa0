"""A trace of a network of somebody else against its own bare forward, and its proof.

The network has GPT-2's shape (124 million parameters) and random weights. A trace is timed with
everything recorded (the stages of every FFN, and all logits), as the page asks for it (streams and
one FFN), and with all patterns, beside hooks that keep each leaf's output.
The memory of a trace is counted for Llama 3 8B's shape, with all its blocks.
"""

import copy
import gc
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import nn

from benchmarks.measure import machine, ratios, table
from ffnviz.analysis.measuring import in_turn
from ffnviz.models.external.hooks import Recording, record
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import CPU, proved_network
from ffnviz.models.external.proof import prove
from ffnviz.models.trace import StreamTrace, nbytes_of

REPEATS = 15
LENGTH = 128
MOST_TRACE, MOST_PROOF, MOST_MEGABYTES = 1.15, 3.0, 250
PROBE_LENGTH = 12
N_BLOCKS = 32  # Llama 3 8B's


class NoTokenizer:
    """Ids are given: nothing is read."""

    vocab_size = 50_257
    mask_id = None
    special_ids: frozenset[int] = frozenset()


def gpt2() -> nn.Module:
    """GPT-2's shape, with random weights."""
    import transformers

    torch.manual_seed(0)
    config = transformers.GPT2Config(use_cache=False)
    model: nn.Module = transformers.AutoModelForCausalLM.from_config(config)
    return model.eval().requires_grad_(False)


def two_texts(length: int, vocab_size: int) -> torch.Tensor:
    """(2, T): ids that differ at the last place but one."""
    ids = torch.randint(vocab_size, (length,), generator=torch.Generator().manual_seed(1))
    other = ids.clone()
    other[-2] = (other[-2] + 1) % vocab_size
    return torch.stack([ids, other])


def speed() -> str:
    """The table of times, and whether the targets are met."""
    model = gpt2()
    probe = two_texts(PROBE_LENGTH, 50_257)
    ids = two_texts(LENGTH, 50_257)[:1]
    bare = gpt2()  # without hooks

    @torch.inference_mode()
    def forward(traced: torch.Tensor) -> None:
        bare(input_ids=traced)

    external_network = as_external(model, probe)
    everything = range(external_network.sizes.n_blocks)

    @torch.inference_mode()
    def all_recorded() -> None:
        recording = Recording(ids, hold=everything, to_the_end=True, chained=True)
        record(external_network.model, recording)

    traces = in_turn(
        {
            "bare forward": lambda: forward(ids),
            "everything recorded": all_recorded,
            "hooks by hand, every leaf's output": lambda: hooked(bare, ids),
            "a trace": lambda: external_network.run(ids[0]),
            "a trace, one FFN kept": lambda: external_network.run(ids[0], hold=(11,)),
            "a trace, all FFNs kept, logits": lambda: whole(external_network, ids[0], "ffn"),
            "a trace, all kept, patterns, logits": lambda: whole(external_network, ids[0], "all"),
            "a trace, all patterns asked for later": lambda: patterns(external_network.run(ids[0])),
            "another block's FFN": another_block(external_network, ids[0]),
        },
        REPEATS,
        device=CPU,
    )
    unproved = gpt2()
    proofs = in_turn(
        {
            "bare forward": lambda: forward(probe),
            "proof": lambda: prove(unproved, probe, PROBE_LENGTH - 2),
        },
        REPEATS,
        device=CPU,
    )
    trace = traces["everything recorded"].median / traces["bare forward"].median
    proof = proofs["proof"].median / proofs["bare forward"].median
    return "\n\n".join([
        f"{LENGTH} tokens:\n\n" + ratios(traces, "bare forward", "pass", "ms"),
        f"the probe, 2 × {PROBE_LENGTH} tokens:\n\n" + ratios(proofs, "bare forward", "pass", "ms"),
        f"Everything recorded: {trace:.2f} times a bare forward; at most {MOST_TRACE} "
        f"{'met' if trace <= MOST_TRACE else 'MISSED'}. Proof: {proof:.2f} times; at most "
        f"{MOST_PROOF:g} {'met' if proof <= MOST_PROOF else 'MISSED'}.",
    ])  # fmt: skip


def as_external(model: nn.Module, probe: torch.Tensor) -> ExternalNetwork:
    """The network, proved."""
    tokens: Any = NoTokenizer()
    return proved_network(model, tokens, probe, PROBE_LENGTH - 2, "shape", "Shape", "text")


@torch.inference_mode()
def hooked(model: nn.Module, ids: torch.Tensor) -> dict[str, object]:
    """What a forward hook on each leaf sees, by the leaf's name; nothing is copied."""
    seen: dict[str, object] = {}

    def keep(name: str) -> Callable[..., None]:
        return lambda _, __, output: seen.update({name: output})

    leaves = [(name, each) for name, each in model.named_modules() if not list(each.children())]
    handles = [each.register_forward_hook(keep(name)) for name, each in leaves]
    model(input_ids=ids)
    for handle in handles:
        handle.remove()
    return seen


def whole(external_network: ExternalNetwork, ids: torch.Tensor, hold: str) -> StreamTrace:
    """A trace with all FFNs' stages and logits, and if they are kept, all patterns."""
    trace = external_network.run(ids, hold=hold)
    for block in trace.blocks:
        _ = block.ffn
    _ = trace.logits
    if hold == "all":
        patterns(trace)
    return trace


def patterns(trace: StreamTrace) -> list[torch.Tensor]:
    """The patterns of all blocks' heads."""
    return [block.attention.weights for block in trace.blocks]


def another_block(external_network: ExternalNetwork, ids: torch.Tensor) -> Callable[[], object]:
    """What turning to another block of a trace computes."""
    trace = external_network.run(ids)

    def turn() -> object:
        trace.forget()
        return trace.blocks[5].ffn

    return turn


def llama() -> nn.Module:
    """Llama 3 8B's shape with all its blocks, which share one block's random weights; bfloat16."""
    import transformers

    config = transformers.LlamaConfig(
        hidden_size=4_096, intermediate_size=14_336, num_hidden_layers=1, num_attention_heads=32,
        num_key_value_heads=8, vocab_size=1_000, use_cache=False,
    )  # fmt: skip
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    try:
        model: Any = transformers.AutoModelForCausalLM.from_config(config)
    finally:
        torch.set_default_dtype(torch.float32)
    model = model.eval().requires_grad_(False)
    first, blocks = model.model.layers[0], model.model.layers
    shared = {id(weight): weight for weight in first.parameters()}
    for number in range(1, N_BLOCKS):
        block = copy.deepcopy(first, dict(shared))
        block.self_attn.layer_idx = number
        blocks.append(block)
    config.num_hidden_layers = N_BLOCKS
    return cast("nn.Module", model)


def alive() -> dict[int, int]:
    """The storages of all tensors that somebody still holds, with their bytes."""
    gc.collect()
    found = {}
    for thing in gc.get_objects():
        # isinstance() would ask lazy modules for their class, which warn.
        if issubclass(type(thing), torch.Tensor) and thing.device.type == "cpu":
            found[thing.untyped_storage().data_ptr()] = thing.untyped_storage().nbytes()
    return found


def memory() -> str:
    """Bytes that a trace of Llama 3 8B's shape holds, with the FFN of one block computed."""
    external_network = as_external(llama(), two_texts(PROBE_LENGTH, 1_000))
    before = alive()
    trace = external_network.run(two_texts(LENGTH, 1_000)[0])
    streams = trace.nbytes
    looked_at = nbytes_of(vars(trace.blocks[N_BLOCKS // 2].ffn).values())
    told = trace.nbytes
    held = sum(size for place, size in alive().items() if place not in before)
    rows = [
        (f"streams of {N_BLOCKS} blocks, float32", f"{streams / 1e6:.1f}"),
        ("the FFN that is looked at, float32", f"{looked_at / 1e6:.1f}"),
        ("the trace, as it tells", f"{told / 1e6:.1f}"),
        ("all tensors that are alive because of it", f"{held / 1e6:.1f}"),
    ]
    most = max(told, held)
    verdict = "met" if most <= MOST_MEGABYTES * 1e6 else "MISSED"
    return (
        f"Llama 3 8B's shape, {LENGTH} tokens, weights bfloat16, one block's shared by all:\n\n"
        f"{table(('what is held', 'MB'), rows)}\n\n"
        f"{most / 1e6:.0f} MB beyond the weights; at most {MOST_MEGABYTES} MB {verdict}."
    )


def main() -> None:
    """Print both."""
    torch.set_num_threads(1)
    print(machine(), end="\n\n")
    print(speed(), end="\n\n")
    print(memory())


if __name__ == "__main__":
    main()
