"""The menu “Lecture” at the top of every page."""

from ffnviz.app.lecture import classroom, editor
from ffnviz.app.lecture.draft import add_view, draft
from ffnviz.app.lecture.story import ask, followed_lecture, start
from ffnviz.app.session import Session
from ffnviz.app.visit import visit
from ffnviz.lecture.chosen import lecture_of
from ffnviz.lecture.lecture import Lecture, LectureError
from ffnviz.models.config import config
from ffnviz.parts.part import Page
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import counted, typed
from ffnviz.state.run import Run

HOW = (
    "A class can follow when others can reach this server. Start it with "
    "“ffnviz app --host 0.0.0.0”, on a network that the class is on, too."
)


def short_label(session: Session) -> str:
    """The label of the button for the shorter path; empty if there is no lecture."""
    try:
        lecture = lecture_of(session.catalog, "ffn" if visit().own_lecture else "")
    except LectureError:
        return ""
    minutes = lecture.planned(short=True)
    return "Follow the story" + (f" ({counted(minutes, 'minute')})" if minutes else "")


def entries(session: Session) -> list[tuple[str, str]]:
    """The entries of the menu as it is now, each with its id and its label."""
    n = len(draft().views)
    own = [
        ("add", "Add this view to my lecture"),
        ("desk", f"My lecture ({n} view{'' if n == 1 else 's'}): order, words, file"),
    ]
    try:
        lecture = followed_lecture(session, "")
    except LectureError:
        return own
    left, own_lecture, rows = visit().left_scene, visit().own_lecture, []
    if left is not None and left.scene is not None and visit().view_options.scene is None:
        place = followed_lecture(session, left.lecture).path(left.short)
        at = place.index(left.scene) + 1 if left.scene in place else left.scene + 1
        rows.append(("return", f"Back to the lecture: scene {at} of {len(place)}"))
    course = lecture_of(session.catalog, "course")
    if own_lecture is not None:  # the built-in one stays, too
        rows.append(("mine", f"“{own_lecture.title}” ({_length(own_lecture)})"))
        lecture = lecture_of(session.catalog, "ffn")
    rows += [
        ("short", short_label(session)),
        ("whole", f"The whole lecture ({_length(lecture)})"),
        ("course", f"A course, in a textbook's order ({_length(course)})"),
        ("present", "Present it: only the scene, large"),
        *own,
    ]
    if not config().has_classes:
        rows.append(("how", "How to run a live class"))
    elif visit().led is None and not visit().view_options.follows:
        rows.append(("join", "Join a class"))
        rows.append(("class", "Open a class that follows this page"))
    return rows


def _length(lecture: Lecture) -> str:
    minutes = f", {counted(lecture.minutes, 'minute')}" if lecture.minutes else ""
    return f"{counted(len(lecture.scenes), 'scene')}{minutes}"


def do(session: Session, page: Page, what: str, pictures: list[str], thumbnail: str) -> None:
    """Do what an entry of the menu asks for, on a page with these pictures."""
    ours = "ffn" if visit().own_lecture else ""  # "" is the visitor's own, if there is one
    lectures = {"short": ours, "whole": ours, "mine": "", "course": "course"}
    if what in lectures:
        start(session, short=what == "short", anew=True, lecture=lectures[what])
    elif what == "return" and (left := visit().left_scene) is not None:
        start(session, short=left.short, lecture=left.lecture)
    elif what == "present":
        if visit().view_options.scene is None:
            start(session, short=False)
        ask(session, "present")
    elif what == "add":
        part = page.part(session.state.part)
        title = part.title if len(page.parts) > 1 else page.title
        before = draft().views
        add_view(session.state, title, pictures, thumbnail)
        n, same = len(draft().views), [view.scene.state == session.state for view in before]
        twice = f" It shows the same as scene {same.index(True) + 1}." if any(same) else ""
        visit().outcome = (
            f"✓ Added: it is scene {n} of your lecture.{twice}"
            if n > len(before)
            else f"Not added: a lecture has at most {n} scenes."
        )
    elif what == "desk":
        editor.open_desk(page.name)
    elif what == "join":
        visit().joining = True
    elif what == "class":
        classroom.open_class(session)
        visit().outcome, visit().class_problem = visit().class_problem, ""
    elif what == "how":
        visit().outcome = HOW


def outcome() -> str:
    """What came of the last entry; returned once."""
    said, visit().outcome = visit().outcome, ""
    return said


def notices(run: Run | None) -> list[Cell]:
    """The warning of the class, shown once, and what a link asks for that this server has not."""
    problem, visit().class_problem = visit().class_problem, ""
    said = {"class-problem": problem}
    if named := visit().no_lecture:
        said["no-lecture"] = (
            f"There is no lecture called {typed(named)}, which the link asks for. Choose one from "
            "the menu “Lecture”."
        )
    if run is not None and (absent := visit().not_here):
        said["not-here"] = (
            f"This server has no network called {typed(absent[0])}, which the link asks for. "
            f"You see {run.card.label}. Whoever started the server can add others with --model."
        )
    return [text_cell(key, why, tone="warning") for key, why in said.items() if why]
