"""The desk, where a visitor's own lecture is put in order, worded, saved and opened."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from ffnviz.analysis.measuring import Progress
from ffnviz.app.catalog import build_catalog
from ffnviz.app.lecture.draft import draft, form_key, keep, opened, reset_form
from ffnviz.app.lecture.story import go, start
from ffnviz.app.mounting import mount_cell
from ffnviz.app.session import Session
from ffnviz.app.visit import visit
from ffnviz.export.document import TooLargeError
from ffnviz.lecture import lecture as lectures
from ffnviz.lecture.facts import FACTS, MEANINGS, computed
from ffnviz.lecture.html_file import lecture_html
from ffnviz.lecture.worksheet import worksheet_html
from ffnviz.parts import PAGES
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.lecture import Choice, ListedScene, scene_list_cell, words_cell
from ffnviz.pictures.text import opening_cell, saving_cell, text_cell
from ffnviz.pictures.wording import Sentence, as_text
from ffnviz.state.run import Run

ALL = "all pictures"
ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
VERDICTS = ("yes", "no", "true", "false")  # no network is asked for these


def kept(key: str, keep_value: Callable[[Any], None]) -> dict[str, Any]:
    """For a box of the form: its key, and that its value is kept when it changes."""
    return {"key": key, "on_change": lambda: keep_value(st.session_state[key])}


def form_of_scene(
    session: Session, view: lectures.DraftView, preview: Callable[[], None] | None
) -> None:
    """The form of a scene; `preview` is None while the lecture cannot be shown."""
    number, scene = view.number, view.scene
    key, run = form_key(str(number)), session.run(scene.state)
    asked = scene.question
    box = partial(words, number=number, run=run)

    def change(**parts: Any) -> None:
        keep(draft().changed(number, **parts))

    def change_question(ask: str | None = None, options: str | None = None) -> None:
        questions = {each.number: each.scene.question for each in draft().views}
        before = questions.get(number)
        ask = (before.ask if before else "") if ask is None else ask
        options = options_of(before) if options is None else options
        change(question=question_of(ask, options))

    with st.container(horizontal=True):
        how = "As an audience sees it; Esc returns here."
        st.button("Preview", disabled=preview is None, on_click=preview, help=how)
        st.button("Remove", on_click=lambda: keep(draft().without(number)))
    title = kept(f"{key}-title", lambda text: change(title=text))
    st.text_input("Its title", scene.title, lectures.LENGTHS["title"], **title)
    box("What to say", scene.say, "say", lambda text: change(say=text))
    looks = [ALL, *dict.fromkeys([*([scene.look] if scene.look else []), *view.pictures])]
    st.selectbox(
        "Highlighted picture",
        looks,
        looks.index(scene.look or ALL),
        **kept(f"{key}-look", lambda look: change(look="" if look == ALL else look)),
    )
    ask = asked.ask if asked else ""
    box("A question, asked before", ask, "ask", lambda text: change_question(ask=text))
    st.text_area(
        "Its options, one a line; the right one begins with *",
        options_of(asked),
        **kept(f"{key}-options", lambda text: change_question(options=text)),
    )
    with st.container():  # always there, so that the boxes below it stay the same
        if doubt := other_word(scene, run):
            st.caption(doubt)
    box("Notes for the speaker", scene.notes, "notes", lambda text: change(notes=text))
    shorter = kept(f"{key}-short", lambda short: change(short=short))
    st.checkbox("On the shorter path", scene.short, **shorter)


def words(
    label: str, text: str, kind: str, on_text: Callable[[str], None], number: int, run: Run | None
) -> None:
    """A box for words, and how they read with their numbers."""

    def ask() -> None:
        visit().asked_numbers = number

    choices = numbers_of(run) if run is None or visit().asked_numbers == number else None
    longest, key = lectures.LENGTHS[kind], f"words-{number}-{kind}"
    mount_cell(words_cell(label, text, longest, read(text, run), choices, key, on_text, ask))


def read(text: str, run: Run | None) -> Sentence:
    """The words with their numbers; nothing if there are none, or if a name means nothing."""
    if run is None or "{" not in text:
        return ""
    try:
        return computed(text, run)
    except (KeyError, ValueError):  # the form says above what is wrong
        return ""


def numbers_of(run: Run | None) -> list[Choice]:
    """All facts that can be said, each with its present value; a dash without a sentence."""
    now = {name: as_text(computed(f"{{{name}}}", run)) if run else "–" for name in MEANINGS}
    return [Choice(name, MEANINGS[name], value) for name, value in now.items()]


def options_of(asked: lectures.Question | None) -> str:
    """A question's options as they are typed."""
    if asked is None:
        return ""
    return "\n".join(f"{'*' * (n == asked.answer)}{o}" for n, o in enumerate(asked.options))


def question_of(ask: str, options: str) -> lectures.Question | None:
    """The question as it was written; None if nothing was."""
    lines = [line.strip() for line in options.splitlines() if line.strip()]
    if not ask.strip() and not lines:
        return None
    right = [n for n, line in enumerate(lines) if line.startswith("*")]
    texts = tuple(line.removeprefix("*").strip() for line in lines)
    return lectures.Question(ask, texts, right[0] if len(right) == 1 else lectures.NO_ANSWER)


def other_word(scene: lectures.Scene, run: Run | None) -> str:
    """What the scene's network says, where a question for a word calls another one right."""
    asked = scene.question
    if asked is None or asked.answer == lectures.NO_ANSWER or "{says}" not in scene.say:
        return ""
    words = [ARTICLE.sub("", option).strip('“”".') for option in asked.options]
    if not all(word.isalpha() and word.lower() not in VERDICTS for word in words):
        return ""
    said, right = as_text(read("{says}", run)).strip("“”"), words[asked.answer]
    if not said or said.lower() == right.lower():
        return ""
    return f"The network says “{said}” here, and not “{right}”, which you call right."


def open_desk(page: str | None) -> None:
    """Show the desk in place of a page, until the visitor turns to another; None closes it."""
    visit().desk = page


WHAT = {
    "worksheet": "the worksheet: questions and gaps, and the solutions, to print on A4",
    "html": "the lecture as one file, which opens without a server",
}


def handout(session: Session) -> Sheet:
    """The file of the lecture that was asked for, while the lecture is the same."""
    asked = visit().handout
    if asked is None:
        return Sheet([])
    what, name, wanted = asked
    try:
        text = lectures.written_lecture(draft().lecture, session.catalog)
    except lectures.LectureError:
        return Sheet([])
    if wanted != text:
        return Sheet([])
    soon = [row(Soon("", f"Soon: {WHAT[what]}", 90))]
    made = Measurement[str | list[str]](
        f"desk-{what}",
        (text,),
        make,
        partial(offered, what, name),
        (what, text),
        before=soon,
        doing="Making the file …",
        once=True,
    )
    return Sheet([made], [])


def make(run: Run, progress: Progress, what: str, text: str) -> str | list[str]:
    """The file, or in a list the sentence that says why there is none."""
    catalog = build_catalog()
    lecture = lectures.read_lecture(text, catalog, FACTS)
    try:
        if what == "worksheet":
            return worksheet_html(lecture, catalog, run.device)
        return lecture_html(lecture, catalog, run.device, progress)
    except TooLargeError as error:
        return [str(error)]


def offered(what: str, name: str, measured: Measured[str | list[str]]) -> list[Row]:
    """The button that saves the file."""
    if isinstance(measured.result, list):
        return [row(text_cell("desk-handout", measured.result[0], tone="warning"))]
    file = f"{name}{'-worksheet' * (what == 'worksheet')}.html"
    label = f"Save {WHAT[what].partition(':')[0].partition(',')[0]}"
    content = measured.result.encode()
    return [row(saving_cell(label, content, file, "text/html", key="desk-handout"))]


def show_desk(session: Session) -> None:
    """Show the scenes, and a form for the chosen one, whose changes count at once."""
    current = draft()
    with st.container(key="desk"):
        st.subheader("My lecture", anchor=False)
        about_all(current)
        if not current.views:
            st.info("It is still empty. Turn to any page, and choose “Add this view” there.")
        lecture = checked(session, current)
        buttons(session, current, lecture)
        if current.views:
            place = chosen(current)
            left, right = st.columns([1, 1.6], gap="medium")
            with left:
                the_scenes(current, place)
            with right:
                preview = None if lecture is None else (lambda: show(session, lecture, place))
                form_of_scene(session, current.views[place], preview)
        bring(session)


def about_all(current: lectures.Draft) -> None:
    """The boxes for the lecture's title and its planned length."""
    title = kept(form_key("title"), lambda text: keep(replace(draft(), title=text)))
    minutes = kept(form_key("minutes"), lambda n: keep(replace(draft(), minutes=n)))
    with st.container(horizontal=True):
        st.text_input("Title", current.title, lectures.LENGTHS["title"], **title)
        most = lectures.MOST_MINUTES
        st.number_input("Minutes planned", 0, most, current.minutes, width=180, **minutes)


def chosen(current: lectures.Draft) -> int:
    """The place of the scene that is edited."""
    numbers = [view.number for view in current.views]
    number = visit().chosen_scene
    return numbers.index(number) if number in numbers else 0


def the_scenes(current: lectures.Draft, place: int) -> None:
    """The list of all scenes, each with its small picture."""
    views = current.views

    def choose(at: int) -> None:
        visit().chosen_scene = views[at].number

    def move(start: int, end: int) -> None:
        choose(start)
        keep(draft().moved(views[start].number, end - start))

    listed = [
        ListedScene(view.scene.title, where(view.scene), view.scene.state.sentence, view.thumbnail)
        for view in views
    ]
    mount_cell(scene_list_cell(listed, place, "desk-list", on_choose=choose, on_move=move))


def where(scene: lectures.Scene) -> str:
    """The page that a scene shows, and its part if it has several."""
    page = next(page for page in PAGES if page.name == scene.state.page)
    part = page.part(scene.state.part)
    return f"{page.title}: {part.title}" if len(page.parts) > 1 else page.title


def checked(session: Session, current: lectures.Draft) -> lectures.Lecture | None:
    """The lecture as its file would be read; None if it could not be, below what is wrong."""
    if not current.views:
        return None
    # Always there: what moves down by its lines is a new box to the browser, and empty.
    wrong = st.container()
    try:
        for number, view in enumerate(current.views, 1):
            asked = view.scene.question
            if asked is not None and asked.options and asked.answer == lectures.NO_ANSWER:
                which = "which option is right? Put * before it, and before no other."
                raise lectures.LectureError(f"{lectures.in_scene(number, view.scene.title)}{which}")
        text = lectures.written_lecture(current.lecture, session.catalog)
        return lectures.read_lecture(text, session.catalog, FACTS)
    except lectures.LectureError as error:
        wrong.error("It cannot be saved or shown like this.")
        wrong.text(str(error))
        return None


def show(session: Session, lecture: lectures.Lecture, place: int) -> None:
    """Present a scene as an audience would see it; its end leads back to the desk."""
    kept = visit()
    kept.own_lecture, kept.desk, kept.previewing = lecture, None, True
    kept.view_options = replace(kept.view_options, short=False, presenting=True, lecture="")
    go(session, place)


def buttons(session: Session, current: lectures.Draft, lecture: lectures.Lecture | None) -> None:
    """The buttons for the whole lecture."""

    def follow() -> None:
        visit().own_lecture, visit().desk = lecture, None
        start(session, short=False, anew=True)

    def begin_anew() -> None:
        visit().own_lecture = None
        reset_form()
        keep(lectures.Draft())

    def ask(what: str) -> None:
        visit().handout = (what, name, text or "")

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Back to the page", on_click=open_desk, args=(None,))
        st.button("Show it", on_click=follow, disabled=lecture is None)
        text = lectures.written_lecture(lecture, session.catalog) if lecture else None
        name = "-".join(re.findall(r"\w+", current.title.lower()))[:60] or "my-lecture"
        mount_cell(
            saving_cell("Save as a file", text, f"{name}.toml", "application/toml", key="desk-save")
        )
        for what, label in (("worksheet", "Worksheet to print"), ("html", "Save as HTML")):
            st.button(label, on_click=ask, args=(what,), key=f"desk-{what}", disabled=text is None)
        st.button("Begin a new one", on_click=begin_anew, disabled=not current.views)


def bring(session: Session) -> None:
    """The upload of a lecture that takes the place of this one."""

    def take(name: str, text: str) -> None:
        try:
            keep(opened(lectures.read_lecture(text, session.catalog, FACTS), session.catalog))
            visit().desk_problem = ""
            reset_form()
        except lectures.LectureError as error:
            visit().desk_problem = f"{name}: {error}"

    longest = lectures.LONGEST_FILE
    label = f"Open a lecture: a .toml file of up to {longest:,} characters"
    mount_cell(opening_cell(label, ".toml", longest, "desk-file", take))
    problem = visit().desk_problem
    if problem:
        st.error("The file could not be opened.")
        st.text(problem)
