"""All claims with their verdicts, tested in one go, and a handout to take along."""

from collections.abc import Sequence

import streamlit as st

from ffnviz.analysis.lab import EXPERIMENTS, try_all
from ffnviz.analysis.lab.experiment import Finding
from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.analysis.sparsity.awake import awake, threshold_for
from ffnviz.analysis.spread import Progress
from ffnviz.figures.lab.handout import Row, handout
from ffnviz.figures.lab.handout_pictures import Bars
from ffnviz.figures.layout import isolated
from ffnviz.figures.style import LIGHT
from ffnviz.parts.lab.subject import as_claim, experiment_subject, tally_of_all
from ffnviz.parts.measurement import Measurement, measure_button
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.head import Head
from ffnviz.pictures.saving import save_button
from ffnviz.pictures.verdicts import verdicts
from ffnviz.state.run import Run

COLUMNS = 5
BARS = 8  # of each of the handout's pictures
PAGE = "lab"


@live
def render(run: Run, navigator: Navigator) -> None:
    """The button over the claims, and the handout beside it."""
    setup = (
        run.card.id,
        run.card.label,
        run.device,
        run.state.block,
        run.token,
        run.state.sentence,
    )
    buttons = st.container(horizontal=True, vertical_alignment="center")
    with buttons:
        measured = measure_button(
            "lab",
            setup,
            run,
            test_all,
            label="Test all claims",
            doing=f"{_n_possible(run)} experiments on this network and this sentence …",
        )
    if measured is None:
        return
    with buttons:
        take_along(measured, pictures(run) if measured.setup == setup else [])
    if measured.setup != setup:
        st.warning(
            "These verdicts are for another sentence or setting. "
            "Press “Test all claims” for this one."
        )
    findings = [finding for found in measured.result for finding in found]
    tested = [(e, found) for e, found in zip(EXPERIMENTS, measured.result, strict=True) if found]
    verdicts(
        Head(
            tally_of_all(findings),
            "lab",
            run.card.colour,
        ),
        [
            (experiment.title, [as_claim(finding) for finding in found])
            for experiment, found in tested
        ],
        f"{run.stamp} {measured.when}",
        key="verdicts-all",
        columns=COLUMNS,
        dense=True,
        on_choose=lambda place: navigator.turn(PAGE, tested[place][0].name),
    )


def _n_possible(run: Run) -> int:
    return sum(not missing(run.card, experiment.needs) for experiment in EXPERIMENTS)


def test_all(run: Run, progress: Progress) -> tuple[tuple[Finding, ...], ...]:
    """What each experiment finds, in the order of all."""
    return tuple(tested.findings for tested in try_all(experiment_subject(run), progress))


def pictures(run: Run) -> list[Bars]:
    """What the handout shows: who is awake, and the prediction with the FFN and without."""
    block, label, card = run.state.block, run.labels[run.token], run.card
    counted = awake(run.trace, block, threshold_for(card.phi))
    first = max(0, min(run.token - BARS // 2, len(run.labels) - BARS))  # the chosen one is there
    shown = slice(first, first + BARS)
    colour = getattr(LIGHT, card.colour, card.colour)
    awake_now = Bars(f"Neurons of block {block + 1} awake on each token", run.labels[shown],
                     counted.shares[shown], colour)  # fmt: skip
    if missing(card, (Capability.WORD_HEAD,)):
        return [awake_now]
    told = predict(run.model, run.trace, run.token)
    without = predict_without_ffn(run.model, run.whole, block, run.place)
    return [
        awake_now,
        Bars(f"Likeliest at “{isolated(label)}”", told.words[:BARS],
             told.probabilities[:BARS], colour),
        Bars(f"The same without FFN {block + 1}", without.words[:BARS],
             without.probabilities[:BARS], LIGHT.muted),
    ]  # fmt: skip


def take_along(
    measured: Measurement[tuple[tuple[Finding, ...], ...]], shown: Sequence[Bars]
) -> None:
    """The handout as a file."""
    _, label, _, block, _, text = measured.setup
    rows = [
        Row(
            experiment.title,
            claim.kind,
            claim.sign,
            claim.label,
            claim.claim,
            claim.verdict,
            claim.measured,
        )
        for experiment, found in zip(EXPERIMENTS, measured.result, strict=True)
        for claim in map(as_claim, found)
    ]
    findings = [finding for found in measured.result for finding in found]
    counted = "".join(part if isinstance(part, str) else part[0] for part in tally_of_all(findings))
    page = handout(
        rows, str(text), f"{label}, block {int(str(block)) + 1}", counted,
        f"Tested at {measured.when} on {measured.where}.", shown,
    )  # fmt: skip
    save_button("Handout (HTML)", page, "ffnviz-lab.html", "text/html", key="handout")
    st.markdown(f"Tested at **{measured.when}** on {measured.where}.")
