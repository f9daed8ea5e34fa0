"""The class brain: what the two networks make of all the sentences that a class has sent."""

import csv
import hashlib
import io
from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from ffnviz.actions import Meet, Turn
from ffnviz.analysis.neurons.pool import WORDS, Pool, Woken, read_pool
from ffnviz.analysis.spread import Progress, part_of
from ffnviz.components.chart import chart
from ffnviz.components.head import Head
from ffnviz.components.saving import save_button
from ffnviz.figures.class_pool import neurons_of_class, shares_of_sentences
from ffnviz.figures.wording import Sentence as Words
from ffnviz.figures.wording import number, percent
from ffnviz.lecture.classroom.attending import BRAIN, lecturer_of, store
from ffnviz.lecture.classroom.course import GONE, ClassStoreError, NoSuchClassError, Sentence
from ffnviz.measured import Measured, measure_button
from ffnviz.run import Run, labels_of
from ffnviz.session import Session

FORMULA = "=+-@\t\r"  # with which a table's cell would begin to compute


def is_open() -> bool:
    """Whether the lecturer looks at it."""
    return bool(st.session_state.get(BRAIN)) and lecturer_of() is not None


def show_brain(session: Session, run: Run) -> None:
    """Shares and neurons over the sentences themselves."""
    led = lecturer_of()
    if led is None:
        return
    try:
        sent = store().sentences(led[0])
    except NoSuchClassError:
        st.info("The class is over.")
        return
    except ClassStoreError:
        st.warning(GONE)
        st.button("Try again")
        return
    with st.container(key="class-brain"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Back to the page", on_click=_close)
            st.button("Look for new sentences")
            save_button("Save the sentences (CSV)", as_csv(sent) if sent else None,
                        "ffnviz-class.csv", "text/csv", key="class-csv")  # fmt: skip
        shown = [each for each in sent if not each.hidden]
        if not shown:
            st.info("No sentence has come yet. Students send one from the line above their page.")
        else:
            what_it_makes(session, run, shown)
        if sent:
            the_sentences(session, sent, led)


def what_it_makes(session: Session, run: Run, shown: Sequence[Sentence]) -> None:
    """The measurement and its two pictures."""
    texts = tuple(each.text for each in shown)
    # What is kept for later knows the sentences by a sum only.
    summed = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    of = (run.card.id, run.state.block, summed)
    name = f"class-brain-{summed[:16]}"  # other sentences are read by themselves, too
    kept = st.session_state.get("measured", {})
    for old in [each for each in kept if each.startswith("class-brain-") and each != name]:
        del kept[old]
    measured: Measured[dict[str, Pool]] | None = measure_button(
        name, of, run, read_all, texts,
        label="Read the sentences again", doing=f"{len(texts):,} sentences, two networks …",
    )  # fmt: skip
    if measured is None or measured.of != of:
        return
    pools = measured.result
    left, right = st.columns([1.3, 1], gap="medium")
    with left:
        shares(session, run, shown, pools)
    with right:
        neurons(session, run, texts, pools[run.card.id])


def read_all(run: Run, progress: Progress, texts: tuple[str, ...]) -> dict[str, Pool]:
    """Each network's, by its id."""
    both = run.both
    return {
        of.card.id: read_pool(
            of.network, texts, run.state.block, part_of(progress, place, len(both))
        )
        for place, of in enumerate(both)
    }


def shares(session: Session, run: Run, shown: Sequence[Sentence], pools: dict[str, Pool]) -> None:
    """The share awake, a point a sentence."""
    told: Words = ["Over ", number(f"{len(shown):,} sentence{'' if len(shown) == 1 else 's'}")]
    for of in run.both:
        share = float(pools[of.card.id].shares.mean())
        told += [f", {of.card.label} has ", number(percent(share), of.card.colour), " awake"]
    chart(
        Head([*told, f" in block {run.state.block + 1}. Click a point to open its sentence."],
             "class-shares", run.card.colour),
        shares_of_sentences(
            {of.card: pools[of.card.id].shares for of in run.both},
            [each.text for each in shown], [each.number for each in shown],
        ),
        "The share of neurons awake on each sentence, for each network.",
        f"{run.stamp} {len(shown)}",
        key="class-shares",
        height=420,
        on_choose=lambda chosen: open_sentence(session, shown, chosen),
    )  # fmt: skip


def neurons(session: Session, run: Run, texts: Sequence[str], pool: Pool) -> None:
    """The neurons that most sentences wake, each with the words that do."""
    found = [(each.neuron, each.sentences, words_of(run, texts, each)) for each in pool.woken]
    most = pool.woken[0] if pool.woken else None
    told: Words = (
        ["No neuron is awake on any of them."] if most is None
        else ["Neuron ", number(f"{run.state.block + 1}:{most.neuron}"), " is awake in ",
              number(f"{most.sentences} of {len(texts)}"), ". Click a bar to meet its neuron."]
    )  # fmt: skip
    chart(
        Head(told, "class-neurons", run.card.colour),
        neurons_of_class(found, run.card.colour),
        "The neurons that most of the sentences wake.",
        f"{run.stamp} {len(texts)}",
        key="class-neurons",
        height=420,
        on_choose=lambda neuron: _meet(session, run, neuron),
    )  # fmt: skip


def words_of(run: Run, texts: Sequence[str], woken: Woken) -> str:
    """The words that wake a neuron most, each spelling once."""
    found: dict[str, str] = {}
    for place, token in woken.strongest:
        tokens = run.model.tokenizer.encode(texts[place], run.model.sizes.max_tokens).tokens
        label = labels_of(tokens)[token]
        found.setdefault(label.lower(), label)
    return ", ".join(list(found.values())[:WORDS])


def the_sentences(session: Session, sent: Sequence[Sentence], led: tuple[str, str]) -> None:
    """All of them; one that is chosen can be opened, and hidden from the pictures."""
    event = st.dataframe(
        {
            "sentence": [each.text for each in sent],
            "hidden": ["hidden" if each.hidden else "" for each in sent],
        },
        key="class-sentences",
        height=min(320, 44 + 36 * len(sent)),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
    )
    rows = event.selection.rows if event else []
    chosen = sent[rows[0]] if rows and rows[0] < len(sent) else None
    with st.container(horizontal=True, vertical_alignment="center"):
        number_of = chosen.number if chosen else -1
        st.button("Open it", disabled=chosen is None, on_click=open_sentence,
                  args=(session, sent, number_of))  # fmt: skip
        hidden = chosen is not None and chosen.hidden
        st.button("Show it again" if hidden else "Hide it", disabled=chosen is None,
                  on_click=_hide, args=(led, number_of, not hidden))  # fmt: skip
        if chosen is None:
            st.caption("Choose a sentence in the table to open it or to hide it.")


def open_sentence(session: Session, sent: Sequence[Sentence], chosen: int) -> None:
    """The Journey shows a student's sentence."""
    text = next((each.text for each in sent if each.number == chosen), None)
    if text is not None:
        _close()
        session.type(text)
        session.do(Turn("journey"))


def as_csv(sent: Sequence[Sentence]) -> str:
    """The sentences as a table that no program takes for formulas."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(["number", "sentence", "hidden"])
    for each in sent:
        safe = f"'{each.text}" if each.text.startswith(tuple(FORMULA)) else each.text
        table.writerow([each.number, safe, "yes" if each.hidden else "no"])
    return written.getvalue()


def _meet(session: Session, run: Run, neuron: int) -> None:
    _close()
    session.do(Meet(run.neuron(neuron), "neurons", "wakes"))


def _hide(led: tuple[str, str], chosen: int, hidden: bool) -> None:
    with suppress(NoSuchClassError, ClassStoreError):  # the page then says which
        store().hide(*led, chosen, hidden)


def _close() -> None:
    st.session_state[BRAIN] = False
