"""What is timed is the pass itself; counts, bytes and convolutions are right."""

import itertools
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from ffnviz.analysis import measuring as spread_module
from ffnviz.analysis.measuring import Spread, in_turn
from ffnviz.analysis.timing.growth import as_convolution
from ffnviz.analysis.timing.memory import at_once, in_chunks, memory, peak_by_hand, peak_of
from ffnviz.analysis.timing.stages import StageTimes, throughput, time_stages
from ffnviz.analysis.timing.stages import stages as block_stages
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.timing import stages
from ffnviz.parts.timing.stages import Speed, Work, speed, work
from tests.analysis.networks import network, small_model
from tests.run_factory import run_of

TEXT = "The cat sat on the [MASK]."


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_stage_gives_what_the_trace_recorded(tokenizer: Tokenizer, norm: str) -> None:
    model = small_model(tokenizer, norm)
    trace = model.trace(TEXT)
    with torch.inference_mode():
        found = {stage.name: stage.run() for stage in block_stages(model, trace)}
    assert found.pop("tokenise").ids == trace.ids.tolist()  # type: ignore[attr-defined]
    expected = {"embed": trace.embedding, "output": trace.logits}
    post = norm == "post"
    for number, block in enumerate(trace.blocks, start=1):
        expected |= {
            f"block {number} norm 1": block.middle if post else block.attention.input,
            f"block {number} attention": block.attention.output,
            f"block {number} add 1": block.input + block.attention.output,
            f"block {number} norm 2": block.output if post else block.ffn.input,
            f"block {number} expand": block.ffn.pre_activation,
            f"block {number} φ": block.ffn.hidden,
            f"block {number} compress": block.ffn.output,
            f"block {number} add 2": block.middle + block.ffn.output,
        }
    if not post:
        expected["final norm"] = trace.final
    assert found.keys() == expected.keys()
    for name, value in found.items():
        value = getattr(value, "output", value)
        torch.testing.assert_close(value, expected[name], rtol=1e-5, atol=1e-6)


def test_medians_and_quartiles_of_a_known_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(1)

    def clock(work: Callable[[], object], _: torch.device) -> float:
        work()
        return float(next(ticks))

    monkeypatch.setattr(spread_module, "milliseconds", clock)
    order: list[str] = []
    found = in_turn(
        {"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeats=4, warm_up=1
    )
    assert "".join(order) == "abbaabbaab"
    # After the first round: b 3, a 4, a 5, b 6, b 7, a 8, a 9, b 10.
    assert (found["a"].median, found["b"].median) == (6.5, 6.5)
    assert (found["a"].least, found["b"].least) == (4, 3)
    assert Spread.of([1, 2, 3, 4, 5]) == Spread(3, 2, 4, 1, 5)


def test_the_products_count_what_the_flop_counter_counts(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    trace = model.trace(TEXT)
    found = throughput(model, trace, 1, repeats=2)
    block, record = model.encoder.blocks[1], trace.blocks[1]
    for run, names in (
        (lambda: block.attention(record.attention.input),
         ("W_Q, W_K, W_V", "scores and mixing", "W_O")),
        (lambda: block.ffn(record.ffn.input), ("W₁ (expand)", "W₂ (compress)")),
        (lambda: model.encoder.unembed(trace.final), ("output",)),
    ):  # fmt: skip
        with FlopCounterMode(display=False) as counter:
            run()
        counted = sum(p.multiply_adds for p in found.products if p.name in names)
        assert counted == counter.get_total_flops() // 2
    assert found.best.multiply_adds == 1_024**3
    assert found.best_per_second > 0
    product = found.products[0]
    rate = product.multiply_adds / product.time.median * 1_000
    assert product.per_second == pytest.approx(rate, rel=1e-12)


def test_a_convolution_that_is_not_the_ffn_would_be_seen(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = small_model(tokenizer)
    monkeypatch.setattr(torch.nn.Conv1d, "forward", lambda self, x: 2 * self._conv_forward(
        x, self.weight, self.bias))  # fmt: skip
    assert as_convolution(model, model.trace(TEXT), 0, repeats=1).difference > 1e-2


FLOAT = 4


def test_the_peak_of_a_computation_known_by_hand() -> None:
    x = torch.ones(100)

    def two_then_one() -> torch.Tensor:
        a, b = x + 1, x + 2  # 200 numbers
        c = a + b  # 300
        del a, b
        return c[:10] + 1  # 100 and 10, as a view keeps all

    assert peak_of(two_then_one, [x]) == 300 * FLOAT
    assert peak_of(lambda: x.view(10, 10), [x]) == 0
    assert peak_of(lambda: x.clone().relu_().mul_(2), [x]) == 100 * FLOAT
    assert peak_of(lambda: x + 1, []) == 100 * FLOAT, "what is there before is not made"


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_measured_is_what_arithmetic_says(tokenizer: Tokenizer, norm: str, activation: str) -> None:
    model = small_model(tokenizer, norm, activation)
    shares: list[float] = []
    first, found = memory(model, 1, 64, 2, shares.append)
    assert (first.peaks, first.times) == (found.peaks, ())
    d_model, d_ff = 16, 32
    assert found.chunks == (64, 32, 16, 8)
    assert found.peaks == found.expected
    assert found.expected[0] == FLOAT * 64 * 2 * d_ff
    assert found.expected[2] == FLOAT * (64 * d_model + 16 * 2 * d_ff)
    assert found.kept == FLOAT * 64 * d_ff * {"relu": 1, "gelu": 2}[activation]
    ffn = model.encoder.blocks[1].ffn
    assert found.weights == FLOAT * sum(weight.numel() for weight in ffn.parameters())
    assert found.difference < 1e-4
    assert [spread.repeats for spread in found.times] == [2] * 4
    assert shares[-1] == 1


def test_chunks_of_any_size_give_the_same(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    ffn, x = model.encoder.blocks[0].ffn, torch.randn(30, 16)
    with torch.inference_mode():
        torch.testing.assert_close(at_once(ffn, x), ffn(x).output)
        for chunk in (1, 7, 64, 100):
            torch.testing.assert_close(in_chunks(ffn, x, chunk), at_once(ffn, x))
            peak = peak_by_hand(30, chunk, 16, 32)
            assert peak <= peak_by_hand(30, 30, 16, 32) + FLOAT * 30 * 16
    # A narrow FFN has its peak at the output.
    assert peak_by_hand(10, 10, d_model=8, d_ff=4) == FLOAT * 10 * (4 + 8)
    for kind in ("gated", "stranger"):  # only our plain FFNs are measured
        with pytest.raises(NotForThisNetwork):
            next(memory(network(kind, tokenizer), 0, 16, 1))  # type: ignore[arg-type]


def test_cores_and_the_gpu_have_runs(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(model_folder)
    other = replace(model)  # a second network on the CPU stands for the GPU
    devices = {"cpu": lambda: model, "cuda": lambda: other}
    run = replace(run_of(model, "The cat sat."), devices=devices)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    seen: list[tuple[Model, int]] = []

    def watched(traced: Model, *given: object) -> StageTimes:
        seen.append((traced, torch.get_num_threads()))
        return time_stages(traced, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(stages, "time_stages", watched)
    before, told = torch.get_num_threads(), list[float]()
    found = stages.both(run, told.append, 2)
    assert list(found) == ["CPU, 1 core", "CPU, all 2 cores", "GPU"]
    assert [n for _, n in seen] == [1, 2, 1]
    assert [traced is model for traced, _ in seen] == [True, True, False]
    assert told == sorted(told)
    assert told[-1] == 1
    with pytest.raises(ConnectionError), stages.threads(before + 1):
        raise ConnectionError
    assert torch.get_num_threads() == before  # given back, also when a measurement fails


@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_the_work_is_all_that_a_pass_does(tokenizer: Tokenizer, activation: str) -> None:
    model = small_model(tokenizer, "pre", activation)
    trace = model.trace("The cat sat on the mat.")
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        assert model.encoder(trace.ids).logits.shape[0] == len(trace.tokens)
    parts = work(model, len(trace.tokens))
    assert sum(part.multiply_adds for part in parts) == counter.get_total_flops() // 2
    read = [
        weight.numel() * 4
        for name, weight in model.encoder.state_dict().items()
        if "norm" not in name and "position" not in name
    ]
    assert sum(part.weight_bytes for part in parts) == sum(read)


def test_the_larger_of_both_limits_holds_and_a_machine_reaches_something() -> None:
    part = Work("FFN", weight_bytes=4_000_000, multiply_adds=24_000_000)
    assert part.least(Speed(4e9, 48e9)) == pytest.approx(1.0)  # 1 ms to read, half to multiply
    assert part.least(Speed(40e9, 12e9)) == pytest.approx(2.0)
    told: list[float] = []
    found = speed(torch.device("cpu"), told.append)
    assert found.bytes > 1e8
    assert found.multiply_adds > 1e8
    assert told[-1] == 1
