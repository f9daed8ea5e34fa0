"""The Lab's verdicts as one page of HTML that needs nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from ffnviz.figures.lab.handout_pictures import Bars, picture

# On paper it is one A4 page: all that could be decided, in three columns, under pictures.
STYLE = """\
body { font: 15px/1.35 system-ui, sans-serif; color: #1a1c23; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { margin: 0 0 .2rem; font-size: 1.5rem; } h2 { margin: 1.1rem 0 .3rem; font-size: 1.05rem; }
blockquote { margin: .6rem 0; padding: .4rem .8rem; background: #f0f2f6; white-space: pre-wrap;
             overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; } td { vertical-align: top; padding: .25rem .5rem;
        border-top: 1px solid #d5d8df; } td:first-child { width: 44%; }
td:nth-child(2) { width: 22%; font-weight: 700; } .holds td:nth-child(2) { color: #00421f; }
.fails td:nth-child(2) { color: #5b1372; } .paper { display: none; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .2rem; }
.pictures { display: grid; grid-template-columns: repeat(3, 1fr); gap: 1.2rem; margin: .8rem 0; }
svg { display: block; width: 100%; }
@page { size: A4; margin: 9mm; }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 6.6pt; line-height: 1.14; }
  h1 { font-size: 12pt; } p { margin: .1rem 0; }
  blockquote { margin: .15rem 0; padding: .1rem .4rem; max-height: 2.4em; overflow: hidden; }
  .pictures { margin: .2rem 0 .3rem; }
  .claims { columns: 3; column-gap: 4mm; }
  h2 { font-size: 7.4pt; margin: .25rem 0 .05rem; break-after: avoid; }
  table, tbody { display: block; }
  .claims .undecided { display: none; } .paper { display: inline; }
  tr { display: block; break-inside: avoid; padding: .07rem 0; border-top: .3pt solid #d5d8df; }
  td, td:first-child, td:nth-child(2) { display: inline; width: auto; padding: 0; border: 0; }
  td + td::before { content: " "; }
}
"""


@dataclass(frozen=True)
class Row:
    """One claim."""

    experiment: str  # its title; claims of one experiment follow each other
    kind: str  # "holds", "only if", "fails" or "undecided"
    sign: str  # one character for it
    label: str  # what stands before the claim, if it is no textbook's
    claim: str  # what is said
    verdict: str  # in words
    measured: str  # what was seen


def handout(
    rows: Sequence[Row],
    text: str,
    network: str,
    counted: str,
    when: str,
    pictures: Sequence[Bars] = (),
) -> str:
    """The page: no script, nothing to load, to be mailed, or printed on one sheet of A4.

    Args:
        rows: the claims in order.
        text: the sentence as typed; it stays text.
        network: which twin and block.
        counted: how many claims hold, in a sentence.
        when: when and where it was tested.
        pictures: of the same sentence.
    """
    sections = [
        f"<h2>{escape(title)}</h2>\n<table>\n" + "\n".join(map(_row, group)) + "\n</table>"
        for title, group in groupby(rows, key=lambda row: row.experiment)
    ]
    return "\n".join([
        "<!doctype html>", '<html lang="en">', '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<title>What the textbook says, tested: ffnviz</title>", f"<style>\n{STYLE}</style>",
        "<h1>What the textbook says, tested</h1>",
        f"<p>On a trained Transformer encoder ({escape(network)}) reading this sentence:</p>",
        f"<blockquote>{escape(text)}</blockquote>",
        f"<p>{escape(counted)}</p>",
        f'<div class="pictures">{"".join(map(picture, pictures))}</div>' if pictures else "",
        '<div class="claims">', *sections, "</div>",
        f"<p>{escape(when)} Verdicts follow from the numbers. ffnviz computed these from this "
        "sentence; those of fits and of the weights alone do not depend on it, and what was only "
        "looked up says so. What is often thought is no textbook's claim. "
        '<span class="paper">What could not be decided is left out on paper.</span></p>',
        "</html>", "",
    ])  # fmt: skip


def _row(row: Row) -> str:
    label = f"<em>{escape(row.label)}:</em> " if row.label else ""
    cells = (f"{label}{escape(row.claim)}", f"{escape(row.sign)} {escape(row.verdict)}",
             escape(row.measured))  # fmt: skip
    columns = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="{escape(row.kind)}">{columns}</tr>'
