"""All claims with their verdicts, tested in one go, and a handout to save."""

from collections.abc import Iterator, Sequence
from itertools import chain

from ffnviz.analysis.lab import EXPERIMENTS, try_each
from ffnviz.analysis.lab.experiment import Finding
from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.analysis.sparsity.awake import awake, threshold_for
from ffnviz.analysis.spread import Progress
from ffnviz.figures.lab.handout import Row as HandoutRow
from ffnviz.figures.lab.handout import handout
from ffnviz.figures.lab.handout_pictures import Bars
from ffnviz.figures.layout import isolated
from ffnviz.figures.style import LIGHT
from ffnviz.figures.wording import Sentence, as_text
from ffnviz.parts.experiments import as_claim, experiment_subject, tally
from ffnviz.parts.results import measured_on
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.saving import saving_cell
from ffnviz.pictures.verdicts import verdicts_cell
from ffnviz.state.actions import OpenPage
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

BARS = 8  # of each of the handout's pictures
PAGE = "lab"
LABEL = "Test all claims"


def sheet(run: Run, _: Values) -> Sheet:
    """The claims of all experiments, and the handout."""
    state, card = run.state, run.card
    setup = (card.id, card.label, run.device, state.block, run.token, state.sentence)
    n_possible = sum(not missing(card, experiment.needs) for experiment in EXPERIMENTS)

    def after(measured: Measured[tuple[tuple[Finding, ...], ...]]) -> list[Row]:
        return [row([
            all_claims(run, measured.result, measured_on(measured)),
            *([Soon("", f"{n_possible - n_done(measured.result)} more experiments", 60)]
              if measured.partial else [handout_button(measured, pictures(run))]),
        ])]  # fmt: skip

    return Sheet([Measurement(
        "lab", setup, test_all, after, label=LABEL,
        before=[row(Soon("lab", "What textbooks say, and what this network does", 640))],
        doing=f"{n_possible} experiments on this network and this sentence …",
    )])  # fmt: skip


def all_claims(run: Run, results: Sequence[tuple[Finding, ...]], under: Sentence) -> Cell:
    """Each experiment's claims under its title; a click opens the claims or the experiment."""
    tested = [(e, result) for e, result in zip(EXPERIMENTS, results, strict=True) if result]
    return verdicts_cell(
        Head(tally([*chain(*results)]), "lab", run.card.colour, under=under),
        [(experiment.title, [as_claim(finding) for finding in result])
         for experiment, result in tested],
        key="verdicts-all",
        on_choose=lambda place: OpenPage(PAGE, tested[place][0].name),
    )  # fmt: skip


def n_done(results: Sequence[tuple[Finding, ...]]) -> int:
    """How many experiments have findings."""
    return sum(map(bool, results))


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
    active = Bars(f"Neurons of block {block + 1} active on each token", run.labels[shown],
                     counted.shares[shown], colour)  # fmt: skip
    if missing(card, (Capability.WORD_HEAD,)):
        return [active]
    prediction = predict(run.model, run.trace, run.token)
    without = predict_without_ffn(run.model, run.whole, block, run.place)
    return [
        active,
        Bars(f"Likeliest at “{isolated(label)}”", prediction.words[:BARS],
             prediction.probabilities[:BARS], colour),
        Bars(f"The same without FFN {block + 1}", without.words[:BARS],
             without.probabilities[:BARS], LIGHT.muted),
    ]  # fmt: skip


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
    page = handout(
        rows, str(text), f"{label}, block {int(str(block)) + 1}",
        as_text(tally([*chain(*measured.result)])),
        f"Tested at {measured.when} on {measured.where}.", shown,
    )  # fmt: skip
    return saving_cell("Handout (HTML)", page, "ffnviz-lab.html", "text/html", key="handout")
