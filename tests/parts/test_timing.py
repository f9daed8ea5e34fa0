"""Timing as functions: what is measured, what is said of it, and what the controls offer."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ffnviz.analysis.timing.memory import peak_by_hand
from ffnviz.models.encoder.model import load
from ffnviz.parts.dimensions import cost, memory
from ffnviz.parts.sheet import Measured, Measurement, Sheet, cells_of, measured_at_once, resolved
from ffnviz.parts.timing import stages
from ffnviz.pictures.cell import Cell
from ffnviz.state.settings import Values
from tests.parts.sheets import Drawn, drawn, words
from tests.run_factory import run_of

SENTENCE = "The cat sat on the mat."
SHOWS = {
    "stages": ["stages", "limits"],
    "products": ["products"],
    "growth": ["growth-growth", "growth-width"],
    "memory": ["memory-peaks", "memory-times"],
}


@cache
def timed(part: str, repeats: str = "5", **query: str) -> Drawn:
    """A part and what it measured: once for all who ask for the same."""
    return drawn("timing", part, True, text=SENTENCE, repeats=repeats, **query)


def numbers(sentence: str) -> list[float]:
    """Those above the picture, not those of the device below it."""
    return [float(number) for number in re.findall(r"\d+\.\d+", sentence.splitlines()[0])]


def traces(cell: Cell) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = cell.data["figure"]["data"]
    return made


@pytest.mark.parametrize("part", SHOWS)
def test_each_part_says_what_it_measured_and_when_and_offers_to_do_it_again(part: str) -> None:
    seen = timed(part, memory_tokens="256", chunk="70") if part == "memory" else timed(part)
    assert list(seen.cells) == SHOWS[part]
    assert re.search(r"Measured at \d\d:\d\d:\d\d on .*PyTorch", seen.said)
    assert "Measure" in seen.controls
    assert "nan" not in re.findall(r"\w+", seen.said)


def test_the_stages_are_in_the_order_of_their_numbers_and_time_grows_with_both_sizes() -> None:
    seen = timed("stages", repeats="10")
    said = words(seen.cells["stages"])
    # A share below a tenth is a number with a point, too.
    ffn, *_, total, whole, lower, upper = numbers(said)
    assert "10 runs of each" in said
    assert ffn < total
    assert lower <= whole <= upper
    limits = seen.cells["limits"]
    assert traces(limits)[0]["x"] == ["attention", "FFN", "output"]
    took, reading, multiplying = (limits.arrays[each["y"]["array"]] for each in traces(limits))
    said_of = limits.data["figure"]["layout"]["xaxis"]["ticktext"]
    for share, *of in zip(said_of, took, reading, multiplying, strict=True):
        least = 100 * max(of[1:]) / of[0]
        assert float(share.split()[-1][:-1]) == pytest.approx(least, abs=1)
    # Two blocks of eight stages, and tokenise, embed, final norm, output.
    assert sum(len(trace["y"]) for trace in traces(seen.cells["stages"])) == 20

    seen = timed("growth")
    for key, curves in (("growth-growth", 4), ("growth-width", 2)):
        assert len(traces(seen.cells[key])) == curves
        assert min(numbers(words(seen.cells[key]))) > 1


@pytest.mark.parametrize(("chunk", "n"), [("70", 64), ("1", 8)])
def test_chunks_of_tokens_take_the_memory_that_arithmetic_says(chunk: str, n: int) -> None:
    seen = timed("memory", memory_tokens="256", chunk=chunk)
    whole, some = (peak_by_hand(256, size, 512, 2_048) / 1e6 for size in (256, n))
    assert f"All 256 tokens at once take {whole:.1f} MB" in seen.said
    assert f"; {n} at a time, {some:.1f} MB" in seen.said
    assert "1 × d_ff numbers a token with ReLU" in seen.said
    slider = seen.controls["tokens at a time"]
    assert slider["stops"] == ["8", "16", "32", "64", "128", "256"]
    assert slider["stops"][slider["stop"]] == str(n)


def test_a_result_of_other_settings_is_shown_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "RUNS", 1)
    run = drawn("timing", "memory", measure=False, text=SENTENCE).run
    (old,) = memory.sheet(run, Values({"memory_tokens": "256"})).rows
    (now,) = memory.sheet(run, Values({"memory_tokens": "512", "chunk": "512"})).rows
    assert isinstance(old, Measurement)
    assert isinstance(now, Measurement)
    measured, kept = measured_at_once(old, run), dict[str, Sequence[Any]]()
    seen = resolved(Sheet([old]), lambda _: measured, kept=kept)
    assert not seen.pale
    assert "waiting-memory" not in {cell.key for cell in cells_of(seen.rows)}
    seen = resolved(Sheet([now]), lambda _: measured, kept=kept)
    cells = {cell.key: cell for cell in cells_of(seen.rows)}
    assert cells["waiting-memory"].data["other"].startswith("This is for another sentence or")
    assert words(cells["memory-peaks"]).startswith("All 256 tokens at once")
    assert seen.pale == {"memory-peaks", "memory-times"}
    assert not any(cells[key].events for key in seen.pale), "a click asks for nothing"


def test_cards_to_come_stand_in_their_places_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "RUNS", 1)
    run = drawn("timing", "growth", measure=False, text=SENTENCE).run
    (growing,) = cost.growth_sheet(run, Values({})).rows
    assert isinstance(growing, Measurement)

    def keys(so_far: Measured[Any] | None) -> list[str]:
        rows = resolved(Sheet([growing]), lambda _: so_far, lambda _: True).rows
        return [cell.key for cell in cells_of(rows)]

    assert keys(None) == ["soon-growth", "soon-width"]
    parts = list(growing.work(run, lambda _: None))
    seen = [Measured(growing.setup, part, "", "", partial=part[1] is None) for part in parts]
    assert keys(seen[0]) == ["growth-growth", "soon-width"]
    assert keys(seen[1]) == ["waiting-growth", "growth-growth", "growth-width"], "measured again"


def test_without_a_gpu_it_is_said_what_one_would_change() -> None:
    seen = timed("devices")
    assert "So only the CPU can be measured" in seen.said
    assert "What a GPU would change" in seen.said
    assert list(seen.controls) == ["Show"]


def test_with_a_gpu_it_is_said_how_much_faster_it_is(model_folder: Path) -> None:
    model = load(model_folder)
    # The same network on the CPU stands for the one on a GPU.
    there = {"cpu": lambda: model, "cuda": lambda: model}
    run = replace(run_of(model, SENTENCE), devices=there, about_gpu="A GPU was found.")
    sheet = stages.devices_sheet(run, Values({"repeats": "5"}))
    before = resolved(sheet, lambda _: None)
    assert [cell.key for cell in cells_of(before.rows)] == ["about-gpu", "soon-devices"]
    after = resolved(sheet, lambda measurement: measured_at_once(measurement, run))
    (times,) = cells_of(after.rows)
    assert "A GPU was found. Measured at" in words(times)
    assert re.search(r"the GPU is \d+\.\d times as (fast|slow) as (one|all) core", words(times))
