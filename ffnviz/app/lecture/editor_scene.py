"""The form for one scene of a visitor's own lecture."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from ffnviz.app.lecture.draft import DraftView, draft, form_key, keep
from ffnviz.app.mounting import mount_cell
from ffnviz.app.session import Session
from ffnviz.lecture.facts import MEANINGS, computed
from ffnviz.lecture.scene import NO_ANSWER, Question
from ffnviz.lecture.tables import LENGTHS
from ffnviz.pictures.lecture import Choice, words_cell
from ffnviz.pictures.wording import Sentence
from ffnviz.state.run import Run

ALL = "all pictures"
ASKED = "desk-numbers"  # the scene for which the numbers were asked for


def form_of_scene(session: Session, view: DraftView, preview: Callable[[], None] | None) -> None:
    """The form of a scene; `preview` is None while the lecture cannot be shown."""
    number, scene = view.number, view.scene
    key, run = form_key(str(number)), session.run(scene.state)
    asked = scene.question

    def typed(name: str) -> Any:
        return st.session_state[f"{key}-{name}"]

    def change(**parts: Any) -> None:
        keep(draft().changed(number, **parts))

    def change_question(ask: str | None = None, options: str | None = None) -> None:
        questions = {each.number: each.scene.question for each in draft().views}
        before = questions.get(number)
        ask = (before.ask if before else "") if ask is None else ask
        options = options_of(before) if options is None else options
        change(question=question_of(ask, options))

    with st.container(horizontal=True):
        st.button("Preview", disabled=preview is None, on_click=preview,
                  help="As a hall sees it; Esc leads back here.")  # fmt: skip
        st.button("Remove", on_click=lambda: keep(draft().without(number)))
    st.text_input("Its title", scene.title, LENGTHS["title"], key=f"{key}-title",
                  on_change=lambda: change(title=typed("title")))  # fmt: skip
    words("What to say", scene.say, "say", number, run, lambda text: change(say=text))
    looks = [ALL, *dict.fromkeys([*([scene.look] if scene.look else []), *view.pictures])]
    st.selectbox(
        "Highlighted picture", looks, looks.index(scene.look or ALL), key=f"{key}-look",
        on_change=lambda: change(look="" if typed("look") == ALL else typed("look")),
    )  # fmt: skip
    words("A question, asked before", asked.ask if asked else "", "ask", number, run,
          lambda text: change_question(ask=text))  # fmt: skip
    st.text_area(
        "Its options, one a line; the right one begins with *", options_of(asked),
        key=f"{key}-options",
        on_change=lambda: change_question(options=typed("options")),
    )  # fmt: skip
    words("Notes for the speaker", scene.notes, "notes", number, run,
          lambda text: change(notes=text))  # fmt: skip
    st.checkbox("On the shorter path", scene.short, key=f"{key}-short",
                on_change=lambda: change(short=typed("short")))  # fmt: skip


def words(
    label: str, text: str, kind: str, number: int, run: Run | None,
    on_text: Callable[[str], None],
) -> None:  # fmt: skip
    """A box for words, and how they read with their numbers."""

    def ask() -> None:
        st.session_state[ASKED] = number

    choices = None
    if run is None or st.session_state.get(ASKED) == number:
        choices = numbers_of(run)
    key = f"words-{number}-{kind}"
    mount_cell(words_cell(label, text, LENGTHS[kind], read(text, run), choices, key, on_text, ask))


def read(text: str, run: Run | None) -> Sentence:
    """The words with their numbers; nothing if there are none, or if a name means nothing."""
    if run is None or "{" not in text:
        return []
    try:
        return computed(text, run)
    except (KeyError, ValueError):  # the form says above what is wrong
        return []


def numbers_of(run: Run | None) -> list[Choice]:
    """All facts that can be said, each with its present value; a dash without a sentence."""
    now = {name: computed(f"{{{name}}}", run)[0] if run else "–" for name in MEANINGS}
    return [
        Choice(name, MEANINGS[name], value if isinstance(value, str) else value[0])
        for name, value in now.items()
    ]


def options_of(asked: Question | None) -> str:
    """A question's options as they are typed."""
    if asked is None:
        return ""
    return "\n".join(f"{'*' * (n == asked.answer)}{o}" for n, o in enumerate(asked.options))


def question_of(ask: str, options: str) -> Question | None:
    """The question as it was written; None if nothing was."""
    lines = [line.strip() for line in options.splitlines() if line.strip()]
    if not ask.strip() and not lines:
        return None
    right = [n for n, line in enumerate(lines) if line.startswith("*")]
    texts = tuple(line.removeprefix("*").strip() for line in lines)
    return Question(ask, texts, right[0] if len(right) == 1 else NO_ANSWER)
