"""All claims with their verdicts, tested in one go, and a handout to take along."""

import streamlit as st

from ffnviz.analysis.lab import EXPERIMENTS, Tested, try_all
from ffnviz.components.head import Head
from ffnviz.components.verdicts import verdicts
from ffnviz.figures.lab.handout import Row, handout
from ffnviz.measured import Measured, measure_button
from ffnviz.page import Navigator, live
from ffnviz.pages.lab.subject import as_claim, subject_of, tally
from ffnviz.run import Run

COLUMNS = 4
PAGE = "lab"


@live
def render(run: Run, navigator: Navigator) -> None:
    """The button over the claims, and the handout beside it."""
    of = (run.card.label, run.device, run.state.block, run.token, run.state.sentence)
    buttons = st.container(horizontal=True, vertical_alignment="center")
    with buttons:
        measured = measure_button(
            "lab", of, run, lambda p: try_all(subject_of(run), p), "Test all claims",
            f"{len(EXPERIMENTS)} experiments on this network and this sentence …",
        )  # fmt: skip
    with buttons:
        take_along(measured)
    if measured.of != of:
        st.warning(
            "These verdicts are for another sentence or setting. "
            "Press “Test all claims” for this one."
        )
    findings = [finding for tested in measured.result for finding in tested.findings]
    verdicts(
        Head(
            ["What textbooks say of the FFN, tested here. ", *tally(findings)],
            "lab",
            run.card.colour,
        ),
        [(t.experiment.title, [as_claim(f) for f in t.findings]) for t in measured.result],
        f"{run.stamp} {measured.when}",
        key="verdicts-all",
        columns=COLUMNS,
        dense=True,
        on_choose=lambda place: navigator.turn(PAGE, EXPERIMENTS[place].name),
    )


def take_along(measured: Measured[tuple[Tested, ...]]) -> None:
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
        f"Tested at {measured.when} on {measured.where}.",
    )  # fmt: skip
    st.download_button("Handout (HTML)", page, "ffnviz-lab.html", "text/html",
                       on_click="ignore", icon=":material/download:")  # fmt: skip
    st.markdown(f"Tested at **{measured.when}** on {measured.where}.")
