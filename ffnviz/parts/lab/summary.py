"""All claims with their verdicts, tested in one go, and a handout to save."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import chain

from ffnviz.analysis.lab import EXPERIMENTS, try_each
from ffnviz.analysis.lab.experiment import Finding
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.analysis.sparsity import awake, threshold_for
from ffnviz.parts.experiments import as_claim, experiment_subject, tally
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, measured_on, row
from ffnviz.pictures.bars import Bars
from ffnviz.pictures.cell import Head
from ffnviz.pictures.plot import LIGHT, isolated, shortened
from ffnviz.pictures.text import saving_cell
from ffnviz.pictures.votes import Claim, verdicts_cell
from ffnviz.pictures.wording import as_text, counted, percent
from ffnviz.state.actions import OpenPage
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

WIDTH, NAMES, VALUES = 300, 84, 46  # of a picture, of its names, of its numbers
ROW, GAP = 17, 3


def picture(bars: Bars) -> str:
    """Shares from 0 to 1, in a colour as CSS has it; the longest bar fills the figure's width."""
    largest = max(float(bars.values.max(initial=0)), 1e-9)
    room = WIDTH - NAMES - VALUES
    text = f'font-size="12.5" fill="{LIGHT.text}"'
    rows = ""
    for place, (name, share) in enumerate(zip(bars.names, bars.values, strict=True)):
        top, length = place * ROW, max(1.0, room * float(share) / largest)
        line = top + ROW - 5
        rows += (
            f'<text x="{NAMES - 6}" y="{line}" text-anchor="end" {text}>'
            f"{escape(shortened(name, 12))}</text>"
            f'<rect x="{NAMES}" y="{top + GAP / 2}" width="{length:.1f}" '
            f'height="{ROW - GAP}" fill="{bars.colour}"/>'
            f'<text x="{NAMES + length + 5:.1f}" y="{line}" {text}>'
            f"{escape(percent(float(share)))}</text>"
        )
    title = escape(bars.title)
    return (
        f'<figure><figcaption>{title}</figcaption><svg viewBox="0 0 {WIDTH} '
        f'{ROW * len(bars.names)}" role="img" aria-label="{title}">{rows}</svg></figure>'
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
  body { margin: 0; padding: 0; max-width: none; font-size: 6.3pt; line-height: 1.06; }
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


def handout(
    claims: Sequence[tuple[str, Sequence[Claim]]],  # of each experiment, under its title
    text: str,
    network: str,  # which twin and block
    counted: str,  # how many claims hold, in a sentence
    when: str,  # when and where it was tested
    pictures: Sequence[Bars] = (),
) -> str:
    """The page: no script, nothing to load, to be mailed, or printed on one sheet of A4."""
    sections = [
        f"<h2>{escape(title)}</h2>\n<table>\n" + "\n".join(map(_row, group)) + "\n</table>"
        for title, group in claims
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


def _row(claim: Claim) -> str:
    label = f"<em>{escape(claim.label)}:</em> " if claim.label else ""
    verdict = f"{escape(claim.sign)} {escape(claim.verdict)}"
    cells = f"{label}{escape(claim.claim)}", verdict, escape(claim.measured)
    columns = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="{escape(claim.kind)}">{columns}</tr>'


BARS = 8  # of each of the handout's pictures
PAGE = "lab"
LABEL = "Test all claims"
Results = tuple[tuple[Finding, ...], ...]  # of each experiment, in their order in the Lab


def sheet(run: Run, _: Values) -> Sheet:
    """The claims of all experiments, each under its title, and the handout."""
    state, card = run.state, run.card
    setup = (card.id, card.label, run.device, state.block, run.token, state.sentence)
    n_possible = sum(not missing(card, experiment.needs) for experiment in EXPERIMENTS)

    def after(measured: Measured[Results]) -> list[Row]:
        pairs = zip(EXPERIMENTS, measured.result, strict=True)
        tested = [(experiment, findings) for experiment, findings in pairs if findings]
        claims = [(each.title, list(map(as_claim, findings))) for each, findings in tested]
        said = tally([*chain(*measured.result)])

        def opened(place: int) -> OpenPage:
            return OpenPage(PAGE, tested[place][0].name)

        head = Head(said, "lab", card.colour, under=measured_on(measured))
        verdicts = verdicts_cell(head, claims, key="verdicts-all", on_choose=opened)
        if measured.partial:
            left = n_possible - len(tested)
            return [row([verdicts, Soon("", counted(left, "more experiment"), 60)])]
        network = f"{card.label}, block {state.block + 1}"
        when = f"Tested at {measured.when} on {measured.where}."
        page = handout(claims, state.sentence, network, as_text(said), when, pictures(run))
        file = saving_cell("Handout (HTML)", page, "ffnviz-lab.html", "text/html", key="handout")
        return [row([verdicts, file])]

    before = [row(Soon("lab", "What textbooks say, and what this network does", 640))]
    doing = f"{n_possible} experiments on this network and this sentence …"
    return Sheet([Measurement("lab", setup, test_all, after, (), before, LABEL, doing)])


def test_all(run: Run, progress: Progress) -> Iterator[Results]:
    """Each experiment's findings; none of those still to come."""
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
