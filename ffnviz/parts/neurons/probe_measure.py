"""A button: how much worse the masked words of the probe sentences are guessed after an edit."""

from collections.abc import Sequence

import streamlit as st

from ffnviz.analysis.neurons.probe_loss import ProbeLoss, masked_loss
from ffnviz.analysis.neurons.probes import read_probes
from ffnviz.analysis.spread import Progress, subprogress
from ffnviz.models.edit import Edit
from ffnviz.parts.measurement import on_request
from ffnviz.state.run import Run


def measure(run: Run, edits: Sequence[Edit]) -> None:
    """The button, its progress, and the last result."""
    everywhere = tuple((e.block, tuple(e.neurons), e.scale, e.value) for e in edits)
    setup = (run.card.id, run.device, everywhere)
    measured = on_request(
        "probes", setup, run, loss, tuple(edits),
        label="Measure on the probe sentences", doing="Guessing masked words …",
    )  # fmt: skip
    if measured is None or measured.setup != setup:
        st.caption("How much worse 2,000 masked words are guessed, at every token.")
        return
    found = measured.result
    worse = f"{found.worse:.4f} ± {found.error:.4f}".replace("-", "−")
    st.markdown(
        f"On {len(found.plain):,} masked tokens of our probe sentences the loss goes from "
        f"**{found.plain.mean():.3f}** to **{found.edited.mean():.3f}** nats: worse by "
        f"**{worse}** (standard error of the paired differences)."
    )


def loss(run: Run, progress: Progress, edits: Sequence[Edit]) -> ProbeLoss:
    """Of the plain network, computed once for everybody, and of the edited one."""
    probes = run.subject.per_network("probes", read_probes)
    first, second = subprogress(progress, 0, 2), subprogress(progress, 1, 2)
    plain = run.subject.per_network("plain loss", lambda: masked_loss(run.model, probes, (), first))
    return ProbeLoss(plain, masked_loss(run.model, probes, edits, second))
