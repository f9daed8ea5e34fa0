"""All claims with their verdicts, tested in one go, and a handout to take along."""

from collections.abc import Sequence

import streamlit as st

from ffnviz.analysis.lab import EXPERIMENTS, Tested, try_all
from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.analysis.sparsity.awake import awake, threshold_for
from ffnviz.components.head import Head
from ffnviz.components.verdicts import verdicts
from ffnviz.figures.lab.handout import Row, handout
from ffnviz.figures.lab.handout_pictures import Bars
from ffnviz.figures.layout import isolated
from ffnviz.figures.style import LIGHT
from ffnviz.measured import Measured, measure_button
from ffnviz.page import Navigator, live
from ffnviz.pages.lab.subject import as_claim, subject_of, tally
from ffnviz.run import Run

COLUMNS = 4
BARS = 8  # of each of the handout's pictures
PAGE = "lab"


@live
def render(run: Run, navigator: Navigator) -> None:
    """The button over the claims, and the handout beside it."""
    of = (run.card.label, run.device, run.state.block, run.token, run.state.sentence)
    buttons = st.container(horizontal=True, vertical_alignment="center")
    with buttons:
        measured = measure_button(
            "lab", of, run, lambda p: try_all(subject_of(run), p), "Test all claims"
        )
    if measured is None:
        st.info(
            f"Textbooks make claims about the FFN. Press “Test all claims”: {len(EXPERIMENTS)} "
            "experiments on the loaded network and this sentence, a few seconds on a CPU. Some "
            "popular claims are false. Each experiment has a part of its own above."
        )
        return
    with buttons:
        take_along(measured, pictures(run) if measured.of == of else [])
    if measured.of != of:
        st.warning("These verdicts are for another sentence or setting. Test again for this one.")
    findings = [finding for tested in measured.result for finding in tested.findings]
    verdicts(
        Head(tally(findings), "lab", run.card.colour),
        [(t.experiment.title, [as_claim(f) for f in t.findings]) for t in measured.result],
        f"{run.stamp} {measured.when}",
        key="verdicts-all",
        columns=COLUMNS,
        dense=True,
        on_choose=lambda place: navigator.turn(PAGE, EXPERIMENTS[place].name),
    )


def pictures(run: Run) -> list[Bars]:
    """What the handout shows: who is awake, and the prediction with the FFN and without."""
    block, label, card = run.state.block, run.labels[run.token], run.card
    counted = awake(run.trace, block, threshold_for(card.phi))
    told = predict(run.model, run.trace, run.token)
    without = predict_without_ffn(run.model, run.trace, block, run.token)
    first = max(0, min(run.token - BARS // 2, len(run.labels) - BARS))  # the chosen one is there
    shown = slice(first, first + BARS)
    colour = getattr(LIGHT, card.colour, card.colour)
    return [
        Bars(f"Neurons of block {block + 1} awake on each token", run.labels[shown],
             counted.shares[shown], colour),
        Bars(f"Likeliest at “{isolated(label)}”", told.words[:BARS],
             told.probabilities[:BARS], colour),
        Bars(f"The same without FFN {block + 1}", without.words[:BARS],
             without.probabilities[:BARS], LIGHT.muted),
    ]  # fmt: skip


def take_along(measured: Measured[tuple[Tested, ...]], shown: Sequence[Bars]) -> None:
    """The handout as a file."""
    label, _, block, _, text = measured.of
    rows = [
        Row(
            tested.experiment.title,
            claim.kind,
            claim.sign,
            claim.claim,
            claim.verdict,
            claim.measured,
        )
        for tested in measured.result
        for claim in map(as_claim, tested.findings)
    ]
    page = handout(
        rows, str(text), f"{label}, block {int(str(block)) + 1}",
        f"Tested at {measured.when} on {measured.where}.", shown,
    )  # fmt: skip
    st.download_button("Handout (HTML)", page, "ffnviz-lab.html", "text/html",
                       on_click="ignore", icon=":material/download:")  # fmt: skip
    st.markdown(f"Tested at **{measured.when}** on {measured.where}.")
