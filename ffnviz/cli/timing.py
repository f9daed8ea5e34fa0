"""`ffnviz timing`: where the time goes, as a table or as JSON."""

from dataclasses import asdict
from typing import Any

import click
import torch

from ffnviz.analysis.timing.growth import as_convolution, grow_with_length, grow_with_width
from ffnviz.analysis.timing.stages import throughput, time_ffns, time_stages
from ffnviz.cli import options
from ffnviz.models.device import device_name
from ffnviz.models.encoder.model import Model
from ffnviz.models.network import Network
from ffnviz.models.trace import Trace

GROWTH_RUNS = 5


@click.command()
@options.on_a_block()
@options.shown_option("--repeats", type=click.IntRange(1, 10_000), default=50)
@options.json_option("All numbers as JSON instead of tables; blocks are counted from 1 there, too.")
def timing(network: Network, trace: Trace, block: int, repeats: int, as_json: bool) -> None:
    """Measure every stage of a pass, its matrix products, how they grow, and the FFN as Conv1d.

    For networks that are not ours it measures each block's FFN and the whole pass.
    """
    if isinstance(network, Model):
        report, as_table = measure(network, trace, block - 1, repeats), tables
    else:
        report, as_table = measure_ffns(network, trace, repeats), ffn_table
    if as_json:
        options.show_json(report)
    else:
        click.echo(as_table(report))


def measure_ffns(network: Network, trace: Trace, repeats: int) -> dict[str, Any]:
    """Time each block's FFN and the whole pass; progress goes to stderr."""
    times = options.with_bar("FFNs", lambda p: time_ffns(network, trace, repeats, p))
    return {
        "on": device_name(network.device),
        "pytorch": torch.__version__,
        "network": network.card.label,
        "tokens": len(trace.tokens),
        "ffns_ms": [asdict(spread) for spread in times.times.values()],
        "ffns_sum_ms": times.total,
        "whole_ms": asdict(times.whole),
    }


def ffn_table(report: dict[str, Any]) -> str:
    """The report of `measure_ffns` for a terminal."""
    share = report["ffns_sum_ms"] / report["whole_ms"]["median"]
    times = {f"block {n} FFN": spread for n, spread in enumerate(report["ffns_ms"], start=1)}
    total = f"{report['ffns_sum_ms']:10.3f}   {share:.0%} of the pass"
    return "\n".join(_of_a_pass(report, report["network"], times, total))


def measure(model: Model, trace: Trace, block: int, repeats: int) -> dict[str, Any]:
    """Measure everything; progress goes to stderr."""
    stages = options.with_bar("stages", lambda p: time_stages(model, trace, repeats, p))
    products = options.with_bar("products", lambda p: throughput(model, trace, block, repeats, p))
    length = options.with_bar("length", lambda p: grow_with_length(model, block, GROWTH_RUNS, p))
    width = options.with_bar("width", lambda p: grow_with_width(model, GROWTH_RUNS, p))
    conv = options.with_bar("Conv1d", lambda p: as_convolution(model, trace, block, repeats, p))
    return {
        "on": device_name(model.device),
        "pytorch": torch.__version__,
        "twin": model.name,
        "block": block + 1,
        "tokens": len(trace.tokens),
        "stages_ms": {name: asdict(spread) for name, spread in stages.times.items()},
        "stages_sum_ms": stages.total,
        "whole_ms": asdict(stages.whole),
        "products": [
            {
                "name": product.name,
                "shape": product.shape,
                "multiply_adds": product.multiply_adds,
                "per_second": product.per_second,
                "share_of_best": product.per_second / products.best_per_second,
            }
            for product in products.products
        ],
        "best_per_second": products.best_per_second,
        "growth_with_tokens_ms": asdict(length),
        "growth_with_d_ff_ms": asdict(width),
        "convolution": {
            "largest_difference": conv.difference,
            "largest_output": conv.largest,
            "linear_ms": asdict(conv.linear),
            "convolution_ms": asdict(conv.convolution),
        },
    }


def tables(report: dict[str, Any]) -> str:
    """The report of `measure` for a terminal."""
    total = f"{report['stages_sum_ms']:10.3f}"
    lines = _of_a_pass(report, f"{report['twin']} twin", report["stages_ms"], total)
    best = report["best_per_second"]
    lines += ["", f"multiply-adds a second; the best here: {best / 1e9:.1f} billion"]
    for p in report["products"]:
        lines.append(
            f"  {p['name']:<22}{p['per_second'] / 1e9:8.1f} billion "
            f"{p['share_of_best']:6.0%}  {p['shape']}"
        )
    for title, key in (("tokens", "growth_with_tokens_ms"), ("d_ff", "growth_with_d_ff_ms")):
        sizes = report[key]["sizes"]
        lines += ["", f"{title:<24}" + "".join(f"{size:>10,}" for size in sizes)]
        for name, spreads in report[key]["times"].items():
            medians = "".join(f"{spread['median']:10.2f}" for spread in spreads)
            lines.append(f"  {name:<22}{medians}")
    conv = report["convolution"]
    difference = f"{conv['largest_difference']:.1g}"
    lines += [
        "",
        f"as Conv1d, kernel 1: outputs differ by at most {difference}",
        f"  {'Linear':<22}{_in_words(conv['linear_ms'])}",
        f"  {'Conv1d':<22}{_in_words(conv['convolution_ms'])}",
    ]
    return "\n".join(lines)


def _of_a_pass(
    report: dict[str, Any], network: str, times: dict[str, dict[str, float]], total: str
) -> list[str]:
    """The lines that say what was measured, how long each part of a pass takes, and the whole."""
    return [
        f"{report['on']}; PyTorch {report['pytorch']}",
        f"{network}, {report['tokens']} tokens; milliseconds: median (quartiles)",
        "",
        *(f"  {name:<22}{_in_words(spread)}" for name, spread in times.items()),
        f"  {'sum of the medians':<22}{total}",
        f"  {'whole pass':<22}{_in_words(report['whole_ms'])}",
    ]


def _in_words(spread: dict[str, float]) -> str:
    return f"{spread['median']:10.3f} ({spread['lower']:.3f}-{spread['upper']:.3f})"
