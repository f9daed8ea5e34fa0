"""Exercises on paper: an A4 page a seed, and their solutions, each as one HTML file."""

from collections.abc import Iterable
from html import escape

import numpy as np

from ffnviz.analysis.exercises.blank import written
from ffnviz.analysis.exercises.by_hand import SmallFfn, blanks, small_ffn, worked

STYLE = """
@page { size: A4; margin: 20mm; }
body { font: 12pt/1.4 Georgia, serif; max-width: 170mm; margin: 0 auto; }
section { break-after: page; }
section:last-child { break-after: auto; }
h1 { font-size: 17pt; margin: 0 0 4mm; } h2 { font-size: 13pt; margin: 8mm 0 2mm; }
.name { float: right; font-size: 11pt; }
.given { display: flex; gap: 12mm; align-items: flex-end; }
table { border-collapse: collapse; } caption { text-align: left; }
td { border: 0.4pt solid #000; padding: 1mm 3mm; text-align: right; min-width: 7mm; }
.gap { margin: 6mm 0; }
.gap i { display: inline-block; width: 120mm; border-bottom: 0.4pt solid #000; }
.small { columns: 2; column-gap: 10mm; font-size: 10pt; }
.small div { break-inside: avoid; margin-bottom: 5mm; }
.small b { display: block; } .small p { margin: 0; font-variant-numeric: tabular-nums; }
"""
STEPS = (  # each equation, what is given for it, and its blanks
    ("z = x W₁ + b₁", ("x", "w1", "b1"), slice(0, 3)),
    ("h = ReLU(z)", (), slice(3, 6)),
    ("y = h W₂ + b₂", ("w2", "b2"), slice(6, 8)),
)
NAMES = {"x": "x", "w1": "W₁", "b1": "b₁", "w2": "W₂", "b2": "b₂"}


def worksheets(seeds: Iterable[int]) -> str:
    """A page a seed, with space for the sums."""
    return _page("An FFN by hand", "".join(_sheet(small_ffn(seed)) for seed in seeds))


def solutions(seeds: Iterable[int]) -> str:
    """The solutions of all seeds, with every sum written out."""
    solved = "".join(_solution(small_ffn(seed)) for seed in seeds)
    return _page(
        "An FFN by hand: solutions",
        f'<h1>An FFN by hand: solutions</h1><div class="small">{solved}</div>',
    )


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style><body>{body}</body></html>"
    )


def _sheet(ffn: SmallFfn) -> str:
    gaps = blanks(ffn)
    steps = "".join(
        f"<h2>{equation}</h2>"
        + f'<div class="given">{"".join(_table(NAMES[n], getattr(ffn, n)) for n in given)}</div>'
        + "".join(f'<p class="gap">{gap.name} = <i></i></p>' for gap in gaps[which])
        for equation, given, which in STEPS
    )
    return (
        f'<section><span class="name">Name: ____________________</span><h1>An FFN by hand</h1>'
        f"<p>Exercise {ffn.seed}. d_model = 2, d_ff = 3, φ = ReLU. To check it: page Exercises, "
        f"By hand, seed {ffn.seed}.</p>{steps}</section>"
    )


def entries(given: np.ndarray) -> list[list[str]]:
    """A matrix as written, or a vector as its one row."""
    return [[written(int(value)) for value in line] for line in np.atleast_2d(given)]


def _table(name: str, given: np.ndarray) -> str:
    lines = ("".join(f"<td>{entry}</td>" for entry in line) for line in entries(given))
    rows = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{name}</caption>{rows}</table>"


def _solution(ffn: SmallFfn) -> str:
    lines = "".join(f"<p>{name} = {escape(line)}</p>" for name, line in worked(ffn))
    return f"<div><b>Exercise {ffn.seed}</b>{lines}</div>"
