"""A visitor's way through a lecture: its scenes, where they left it, and the way back."""

from dataclasses import replace
from functools import partial

from ffnviz.app.session import Session
from ffnviz.app.visit import visit
from ffnviz.lecture.chosen import BUILT_IN, lecture_of
from ffnviz.lecture.facts import computed
from ffnviz.lecture.lecture import Lecture, LectureError, Scene
from ffnviz.models.token_slice import usual_token
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.lecture import Question, StoryScene, story_cell
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import typed
from ffnviz.state.actions import ShowState
from ffnviz.state.run import Run
from ffnviz.state.state import State, ViewOptions


def followed_lecture(session: Session, named: str | None = None) -> Lecture:
    """The lecture that the visitor is in or would begin, or of that name; raises LectureError."""
    named = visit().view_options.lecture if named is None else named
    return lecture_of(session.catalog, named, visit().own_lecture)


def begin(session: Session) -> None:
    """Go to the scene that the visit's link names, if it has no sentence of its own."""
    options, begun = visit().view_options, visit().lecture_begun
    visit().lecture_begun = True
    if begun or options.scene is None:
        return
    named = visit().url.get("lecture", "")
    if named and named not in BUILT_IN:
        visit().no_lecture = named
        visit().view_options = replace(options, scene=None, presenting=False, lecture="")
    elif "text" not in visit().came_with:
        go(session, options.scene)


def go(session: Session, place: int) -> None:
    """Go to a scene, as the lecture has it."""
    lecture = followed_lecture(session)
    visit().no_lecture = ""
    place = min(place, len(lecture.scenes) - 1)
    visit().view_options = replace(visit().view_options, scene=place, exploring=False)
    session.do(ShowState(lecture.scenes[place].state))


def start(session: Session, *, short: bool, anew: bool = False, lecture: str = "") -> None:
    """Go to where the visitor left the path, short or whole, or to its first scene if `anew`.

    A built-in lecture is given by its name.
    """
    options, left, scene = visit().view_options, visit().left_scene, None
    if options.scene is None:
        visit().before_lecture = session.state
    if left is not None and not anew and (left.lecture, left.short) == (lecture, short):
        scene = left.scene
    if scene is None:
        scene = followed_lecture(session, lecture).path(short)[0]
    visit().view_options = replace(options, scene=scene, short=short, lecture=lecture)
    go(session, scene)


def ask(session: Session, what: str) -> None:
    """Do what a button of the scene asks for."""
    options = visit().view_options
    if options.scene is None:
        return
    outside = replace(options, scene=None, presenting=False, exploring=False)
    if what == "leave":
        visit().left_scene = options
        _restore(session, options.scene)
        visit().view_options = outside
    elif what == "present":
        toggled = not options.presenting
        visit().view_options = replace(options, presenting=toggled, exploring=False)
        go(session, options.scene)
    elif what == "explore":
        visit().view_options = replace(options, exploring=options.presenting)
    elif what == "back":
        go(session, options.scene)
    if what in ("leave", "present") and visit().previewing:
        visit().previewing, visit().view_options = False, outside
        visit().desk = session.state.page


def _restore(session: Session, place: int) -> None:
    """Show the visitor's own sentence and network again, unless they have typed another since."""
    before, visit().before_lecture = visit().before_lecture, None
    scenes, state = followed_lecture(session).scenes, session.state
    if before is not None and state.sentence == scenes[min(place, len(scenes) - 1)].state.sentence:
        same = (before.page, before.part) == (state.page, state.part)
        settings = before.settings if same else ()
        session.do(ShowState(replace(before, page=state.page, part=state.part, settings=settings)))


def is_shown(scene: Scene, run: Run) -> bool:
    """Whether the page shows the scene as it stands in the lecture; a URL names the usual token."""
    state, wanted = run.state, scene.state
    if replace(state, token=None) != replace(wanted, token=None):
        return False
    usual = usual_token(run.trace.tokens, run.model.tokenizer.mask_id)
    return state.token == wanted.token or (wanted.token is None and state.token == usual)


def is_near(scene: Scene, run: Run) -> bool:
    """Whether the page shows the scene's part and networks, even with another sentence or token.

    What is said of ReLU need not hold of GELU.
    """

    def part_and_networks(state: State) -> tuple[object, ...]:
        return state.page, state.part, state.network, state.partner

    return part_and_networks(run.state) == part_and_networks(scene.state)


def scene_cells(session: Session, run: Run | None) -> list[Cell]:
    """The scene above what it is about, where a lecture is followed."""
    options = visit().view_options
    if options.scene is None:
        return []
    try:
        lecture = followed_lecture(session)
    except LectureError as error:
        problem = f"The lecture cannot be shown. {typed(str(error))}"
        return [text_cell("story", problem, tone="warning")]
    place = min(options.scene, len(lecture.scenes) - 1)
    data = scene_data(lecture, place, options, run)
    return [story_cell(data, key="story", on_go=partial(go, session), on_ask=partial(ask, session))]


def scene_data(lecture: Lecture, place: int, options: ViewOptions, run: Run | None) -> StoryScene:
    """A scene with its numbers, as they are for what the page shows."""
    scene, path = lecture.scenes[place], lecture.path(options.short)
    exactly = run is not None and is_shown(scene, run)
    near = run if run is not None and is_near(scene, run) else None
    asked, question = scene.question, None
    if asked is not None and near is not None:
        answer = asked.answer if exactly else None
        question = Question(computed(asked.ask, near), asked.options, answer)
    said = [scene.say, *([asked.ask] if asked and asked.ask else [])]
    quoted = all("{sentence}" in words for words in said)
    after = next((each for each in path if each > place), None)
    return StoryScene(
        lecture=lecture.title,
        at=place,
        titles=[each.title for each in lecture.scenes],
        path=path,
        sentence="" if run is None or quoted else run.trace.text,
        say=computed(scene.say, near) if near else "",
        look=scene.look if near else "",
        question=question,
        notes=computed(scene.notes, near) if near else "",
        coming="" if after is None else lecture.scenes[after].title,
        minutes=lecture.planned(options.short),
        presenting=options.presenting,
        exploring=options.exploring,
        strayed=not exactly,
        accent=run.card.colour if run is not None else "text",
    )
