"""All claims with their verdicts, tested in one go, and a handout to save."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, groupby

from ffnviz.analysis.lab import EXPERIMENTS, try_each
from ffnviz.analysis.lab.experiment import Finding
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.analysis.sparsity import awake, threshold_for
from ffnviz.parts.experiments import as_claim, experiment_subject, tally
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, measured_on, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.plot import LIGHT, Array, isolated, shortened
from ffnviz.pictures.text import saving_cell
from ffnviz.pictures.votes import verdicts_cell
from ffnviz.pictures.wording import Sentence, as_text, counted, percent
from ffnviz.state.actions import OpenPage
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

WIDTH, NAMES, VALUES = 300, 84, 46  # of a picture, of its names, of its numbers
ROW, GAP = 17, 3


@dataclass(frozen=True)
class Bars:
    """Named shares."""

    title: str  # said above them
    names: Sequence[str]  # as typed; they stay text
    shares: Array  # as many, from 0 to 1
    colour: str  # as CSS has it


def picture(bars: Bars) -> str:
    """The chart as a figure; the longest bar fills its width."""
    largest = max(float(bars.shares.max(initial=0)), 1e-9)
    room = WIDTH - NAMES - VALUES
    rows = [
        _cells_row(place * ROW, name, float(share), room * float(share) / largest, bars.colour)
        for place, (name, share) in enumerate(zip(bars.names, bars.shares, strict=True))
    ]
    title = escape(bars.title)
    return (
        f'<figure><figcaption>{title}</figcaption><svg viewBox="0 0 {WIDTH} {ROW * len(rows)}" '
        f'role="img" aria-label="{title}">{"".join(rows)}</svg></figure>'
    )


def _cells_row(top: float, name: str, share: float, length: float, colour: str) -> str:
    line, text = top + ROW - 5, f'font-size="12.5" fill="{LIGHT.text}"'
    return (
        f'<text x="{NAMES - 6}" y="{line}" text-anchor="end" {text}>'
        f"{escape(shortened(name, 12))}</text>"
        f'<rect x="{NAMES}" y="{top + GAP / 2}" width="{max(1.0, length):.1f}" '
        f'height="{ROW - GAP}" fill="{colour}"/>'
        f'<text x="{NAMES + max(1.0, length) + 5:.1f}" y="{line}" {text}>'
        f"{escape(percent(share))}</text>"
    )


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
@page { size: A4; margin: 6mm; }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 6.4pt; line-height: 1.1; }
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
class HandoutRow:
    """One claim."""

    experiment: str  # its title; claims of one experiment follow each other
    kind: str  # "holds", "only if", "fails" or "undecided"
    sign: str  # one character for it
    label: str  # what stands before the claim, if it is not a textbook's
    claim: str  # what is said
    verdict: str  # in words
    measured: str  # what was seen


def handout(
    rows: Sequence[HandoutRow],
    text: str,
    network: str,  # which twin and block
    counted: str,  # how many claims hold, in a sentence
    when: str,  # when and where it was tested
    pictures: Sequence[Bars] = (),
) -> str:
    """The page: no script, nothing to load, to be mailed, or printed on one sheet of A4."""
    sections = [
        f"<h2>{escape(title)}</h2>\n<table>\n" + "\n".join(map(_row, group)) + "\n</table>"
        for title, group in groupby(rows, key=lambda row: row.experiment)
    ]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>What the textbook says, tested: ffnviz</title>",
            f"<style>\n{STYLE}</style>",
            "<h1>What the textbook says, tested</h1>",
            f"<p>On a trained Transformer encoder ({escape(network)}) reading this sentence:</p>",
            f"<blockquote>{escape(text)}</blockquote>",
            f"<p>{escape(counted)}</p>",
            f'<div class="pictures">{"".join(map(picture, pictures))}</div>' if pictures else "",
            '<div class="claims">',
            *sections,
            "</div>",
            f"<p>{escape(when)} Verdicts follow from the numbers. ffnviz computed the numbers from "
            "this sentence, except those of fits and of the weights alone. A number that was only "
            "looked up is marked. “Often thought” marks a claim that we found in no textbook. "
            '<span class="paper">What could not be decided is left out on paper.</span></p>',
            "</html>",
            "",
        ]
    )


def _row(row: HandoutRow) -> str:
    label = f"<em>{escape(row.label)}:</em> " if row.label else ""
    verdict, measured = f"{escape(row.sign)} {escape(row.verdict)}", escape(row.measured)
    cells = f"{label}{escape(row.claim)}", verdict, measured
    columns = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="{escape(row.kind)}">{columns}</tr>'


BARS = 8  # of each of the handout's pictures
PAGE = "lab"
LABEL = "Test all claims"


def sheet(run: Run, _: Values) -> Sheet:
    """The claims of all experiments, and the handout."""
    state, card = run.state, run.card
    setup = (card.id, card.label, run.device, state.block, run.token, state.sentence)
    n_possible = sum(not missing(card, experiment.needs) for experiment in EXPERIMENTS)

    def after(measured: Measured[tuple[tuple[Finding, ...], ...]]) -> list[Row]:
        results = measured.result
        claims = all_claims(run, results, measured_on(measured))
        if not measured.partial:
            return [row([claims, handout_button(measured, pictures(run))])]
        left = n_possible - sum(map(bool, results))
        return [row([claims, Soon("", counted(left, "more experiment"), 60)])]

    before = [row(Soon("lab", "What textbooks say, and what this network does", 640))]
    doing = f"{n_possible} experiments on this network and this sentence …"
    return Sheet([Measurement("lab", setup, test_all, after, (), before, LABEL, doing)])


def all_claims(run: Run, results: Sequence[tuple[Finding, ...]], under: Sentence) -> Cell:
    """Each experiment's claims under its title; a click opens the claims or the experiment."""
    tested = [(e, result) for e, result in zip(EXPERIMENTS, results, strict=True) if result]
    head = Head(tally([*chain(*results)]), "lab", run.card.colour, under=under)
    claims = [(experiment.title, list(map(as_claim, result))) for experiment, result in tested]

    def opened(place: int) -> OpenPage:
        return OpenPage(PAGE, tested[place][0].name)

    return verdicts_cell(head, claims, key="verdicts-all", on_choose=opened)


def test_all(run: Run, progress: Progress) -> Iterator[tuple[tuple[Finding, ...], ...]]:
    """Each experiment's findings, in their order in the Lab; none of those still to come."""
    results: list[tuple[Finding, ...]] = [()] * len(EXPERIMENTS)
    for place, tested in enumerate(try_each(experiment_subject(run), progress)):
        results[place] = tested.findings
        yield tuple(results)


def pictures(run: Run) -> list[Bars]:
    """The handout's pictures: active neurons, and the prediction with the FFN and without."""
    block, label, card = run.state.block, run.labels[run.token], run.card
    counted = awake(run.trace, block, threshold_for(card.phi))
    first = max(0, min(run.token - BARS // 2, len(run.labels) - BARS))  # the chosen one is there
    shown = slice(first, first + BARS)
    colour = getattr(LIGHT, card.colour, card.colour)
    title = f"Neurons of block {block + 1} active on each token"
    active = Bars(title, run.labels[shown], counted.shares[shown], colour)
    if missing(card, (Capability.WORD_HEAD,)):
        return [active]
    prediction = predict(run.model, run.trace, run.token)
    without = predict_without_ffn(run.model, run.whole, block, run.place)
    guesses = (
        (f"Likeliest at “{isolated(label)}”", prediction, colour),
        (f"The same without FFN {block + 1}", without, LIGHT.muted),
    )
    likeliest = [
        Bars(title, each.words[:BARS], each.probabilities[:BARS], shade)
        for title, each, shade in guesses
    ]
    return [active, *likeliest]


def handout_button(
    measured: Measured[tuple[tuple[Finding, ...], ...]], shown: Sequence[Bars]
) -> Cell:
    """The handout as a file."""
    _, label, _, block, _, text = measured.setup
    rows = [
        HandoutRow(
            experiment.title,
            claim.kind,
            claim.sign,
            claim.label,
            claim.claim,
            claim.verdict,
            claim.measured,
        )
        for experiment, result in zip(EXPERIMENTS, measured.result, strict=True)
        for claim in map(as_claim, result)
    ]
    network = f"{label}, block {int(str(block)) + 1}"
    said = as_text(tally([*chain(*measured.result)]))
    when = f"Tested at {measured.when} on {measured.where}."
    page = handout(rows, str(text), network, said, when, shown)
    return saving_cell("Handout (HTML)", page, "ffnviz-lab.html", "text/html", key="handout")
