"""`ffnviz timing` as a person or a script would call it."""

import sys
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from ffnviz.cli import main
from ffnviz.models.encoder.model import Model
from ffnviz.models.trace import Trace
from tests.cli.once import json_of, once

FEW = ["timing", "--repeats", "2", "--text", "The cat sat.", "--twin", "gelu", "--block", "1"]


def measured_of(model: Model, trace: Trace, block: int, repeats: int) -> tuple[object, ...]:
    return model.name, trace.text, block, repeats


@pytest.fixture(scope="module", autouse=True)
def _all_is_measured_once() -> Iterator[None]:
    timing = sys.modules["ffnviz.cli.timing"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "measure", once(timing.measure, measured_of))
        yield


def test_json_holds_every_measurement() -> None:
    report = json_of(FEW)
    assert (report["twin"], report["block"], report["tokens"]) == ("gelu", 1, 4)
    total = sum(spread["median"] for spread in report["stages_ms"].values())
    assert report["stages_sum_ms"] == pytest.approx(total)
    assert report["whole_ms"]["repeats"] == 2
    assert report["convolution"]["largest_difference"] < 1e-3
    for product in report["products"]:
        share = product["per_second"] / report["best_per_second"]
        assert product["share_of_best"] == pytest.approx(share)
    for key in ("growth_with_tokens_ms", "growth_with_d_ff_ms"):
        for spreads in report[key]["times"].values():
            assert len(spreads) == len(report[key]["sizes"])


def test_tables_name_every_stage_and_the_machine() -> None:
    result = CliRunner().invoke(main, FEW)
    assert result.exit_code == 0, result.output
    for name in (
        "tokenise",
        "block 2 expand",
        "φ",
        "whole pass",
        "W₁ (expand)",
        "Conv1d",
        "PyTorch",
    ):
        assert name in result.stdout
