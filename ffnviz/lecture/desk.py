"""Where a visitor's own lecture is put in order, worded, saved and opened."""

from dataclasses import replace

import streamlit as st

from ffnviz.components.opening import open_file
from ffnviz.components.saving import save_button
from ffnviz.lecture.chosen import OWN
from ffnviz.lecture.draft import FORM, FORM_TITLE, Draft, draft, forget_the_form, keep, opened
from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.reading import LENGTHS, LONGEST_FILE, LectureError, read_lecture
from ffnviz.lecture.scene import Lecture, Question, Scene
from ffnviz.lecture.story import start
from ffnviz.lecture.writing import written_lecture
from ffnviz.session import Session

OPEN, PROBLEM = "desk", "desk-problem"
ALL = "all pictures"
NAMES = ", ".join(f"{{{name}}}" for name in FACTS)


def open_desk(page: str) -> None:
    """Have it in the place of what the page shows, until the visitor turns to another."""
    st.session_state[OPEN] = page


def is_open(page: str) -> bool:
    """Whether the visitor is at it, on that page."""
    return bool(st.session_state.get(OPEN) == page)


def show_desk(session: Session) -> None:
    """The lecture as a form; what is written counts at once."""
    made = draft()
    with st.container(key="desk"):
        st.subheader("My lecture", anchor=False)
        st.text_input(
            "Title", made.title, LENGTHS["title"], key=FORM_TITLE,
            on_change=lambda: keep(replace(draft(), title=st.session_state[FORM_TITLE])),
        )  # fmt: skip
        if not made.scenes:
            st.info("Nothing is in it yet. Turn to any page, and choose “Add this view” there.")
        lecture = checked(session, made)
        buttons(session, made, lecture)
        for place, (number, scene) in enumerate(made.scenes):
            one_scene(place, number, scene, made)
        with st.expander("Numbers that can stand in a sentence"):
            st.text(f"Each is computed for what the page shows: {NAMES}.")


def checked(session: Session, made: Draft) -> Lecture | None:
    """The lecture as its file would be read; None, and what is wrong, if it could not be."""
    if not made.scenes:
        return None
    try:
        return read_lecture(written_lecture(made.lecture, session.house), session.house, FACTS)
    except LectureError as error:
        st.error("It cannot be saved or shown like this.")
        st.text(str(error).partition(": ")[2] or str(error))
        return None


def buttons(session: Session, made: Draft, lecture: Lecture | None) -> None:
    """What can be done with all of it."""

    def follow() -> None:
        st.session_state[OWN] = lecture
        st.session_state[OPEN] = None
        start(session, short=False, anew=True)

    def leave() -> None:
        st.session_state[OPEN] = None

    def built_in() -> None:
        st.session_state.pop(OWN, None)
        forget_the_form()
        keep(Draft())

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Back to the page", on_click=leave)
        st.button("Show it", on_click=follow, disabled=lecture is None)
        text = written_lecture(lecture, session.house) if lecture else None
        save_button("Save as a file", text, "my-lecture.toml", "application/toml", key="desk-save")
        st.button("Begin a new one", on_click=built_in, disabled=not made.scenes)
    open_file(
        f"Open a lecture: a .toml file of up to {LONGEST_FILE:,} characters",
        ".toml",
        LONGEST_FILE,
        key="desk-file",
        on_text=lambda name, text: take(session, name, text),
    )
    problem = st.session_state.get(PROBLEM)
    if problem:
        st.error("The file could not be opened.")
        st.text(problem)


def take(session: Session, name: str, text: str) -> None:
    """A file that was chosen."""
    try:
        keep(opened(read_lecture(text, session.house, FACTS)))
        st.session_state[PROBLEM] = ""
        forget_the_form()
    except LectureError as error:
        st.session_state[PROBLEM] = f"{name}: {error}"


def one_scene(place: int, number: int, scene: Scene, made: Draft) -> None:
    """One scene's words and place."""
    key = f"{FORM}{number}"

    def wrote() -> None:
        table = st.session_state
        look = table[f"{key}-look"]
        keep(draft().changed(number, replace(
            scene,
            title=table[f"{key}-title"],
            say=table[f"{key}-say"],
            look="" if look == ALL else look,
            notes=table[f"{key}-notes"],
            short=table[f"{key}-short"],
            question=_question(table[f"{key}-ask"], table[f"{key}-options"], scene.question),
        )))  # fmt: skip

    pictures = dict(made.pictures).get(number, ())
    looks = [ALL, *dict.fromkeys([*([scene.look] if scene.look else []), *pictures])]
    asked = scene.question
    with st.expander(f"{place + 1}. {_plain(scene.title)}", expanded=not place):
        st.text_input(
            "Its title", scene.title, LENGTHS["title"], key=f"{key}-title", on_change=wrote
        )
        st.text_area("What to say", scene.say, max_chars=LENGTHS["say"], key=f"{key}-say",
                     on_change=wrote)  # fmt: skip
        st.selectbox("Which picture is lit", looks, looks.index(scene.look or ALL),
                     key=f"{key}-look", on_change=wrote)  # fmt: skip
        st.text_input("A question, asked before", asked.ask if asked else "", LENGTHS["ask"],
                      key=f"{key}-ask", on_change=wrote)  # fmt: skip
        st.text_area("Its options, one a line; the right one begins with *", _options(asked),
                     key=f"{key}-options", on_change=wrote)  # fmt: skip
        st.text_area("Notes for the speaker", scene.notes, max_chars=LENGTHS["notes"],
                     key=f"{key}-notes", on_change=wrote)  # fmt: skip
        st.checkbox("On the shorter path", scene.short, key=f"{key}-short", on_change=wrote)
        with st.container(horizontal=True):
            last = len(made.scenes) - 1
            for words, by in (("Earlier", -1), ("Later", 1)):
                st.button(words, key=f"{key}-{by}", disabled=place == (0 if by < 0 else last),
                          on_click=lambda by=by: keep(draft().moved(number, by)))  # fmt: skip
            st.button("Remove", key=f"{key}-remove",
                      on_click=lambda: keep(draft().without(number)))  # fmt: skip


def _plain(text: str) -> str:
    """Text as a label of Streamlit's shows it letter by letter; a label reads Markdown."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-.!:~$<>|^" else sign for sign in text)


def _options(asked: Question | None) -> str:
    if asked is None:
        return ""
    return "\n".join(f"{'*' * (n == asked.answer)}{o}" for n, o in enumerate(asked.options))


def _question(ask: str, options: str, before: Question | None) -> Question | None:
    """The question as it was written; none without options."""
    lines = [line.strip() for line in options.splitlines() if line.strip()]
    if not ask.strip() and not lines:
        return None
    right = next((n for n, line in enumerate(lines) if line.startswith("*")), None)
    answer = right if right is not None else before.answer if before else 0
    texts = tuple(line.removeprefix("*").strip() for line in lines)
    return Question(ask, texts, min(answer, max(0, len(texts) - 1)))
