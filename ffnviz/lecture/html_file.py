"""A lecture as one HTML file: its scenes, each with its picture and its computed numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ffnviz.analysis.measuring import Progress
from ffnviz.export.bundle import texts
from ffnviz.export.document import LARGEST, Contents, TooLargeError, document
from ffnviz.export.journey import NOTES, PICTURES, Arrays, journey_of, made_by, start_of
from ffnviz.export.live.packing import NotForALivePageError
from ffnviz.export.live.page import live_contents, weight_texts
from ffnviz.export.runs import cells_shown
from ffnviz.lecture.facts import computed
from ffnviz.lecture.lecture import Lecture, Scene
from ffnviz.parts import PAGES
from ffnviz.pictures.wording import to_spans
from ffnviz.state.run import Run
from ffnviz.state.run_factory import make_run
from ffnviz.state.state import Catalog, State

RunOf = Callable[[State], Run]
# Overrides in a picture's data, as no page answers clicks.
UNANSWERED = {"clickable": False, "stays": True}
SHOWN = frozenset({*PICTURES, "block_picture", "chart", "passages", "points", "verdicts"})
KEYS = "The arrow keys step through the scenes."
STILL = (
    "Some pictures of the Journey cannot be clicked here: with all that a click can show, this "
    "file would be larger than 3 MB. `ffnviz export --text` saves one sentence with all of it."
)


@dataclass
class _Gathered:
    """The contents of the file so far, and what they are made of."""

    catalog: Catalog
    run_of: RunOf
    clickable: int | None  # how many sentences' Journeys may be clicked; None: all
    scenes: list[dict[str, Any]] = field(default_factory=list)
    # by sentence and networks, each once
    journeys: dict[tuple[object, ...], dict[str, Any]] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)
    pictures: set[str] = field(default_factory=set)
    notes: set[str] = field(default_factory=set)
    labels: dict[str, None] = field(default_factory=dict)  # of networks, in order


def lecture_html(
    lecture: Lecture,
    catalog: Catalog,
    device: str = "cpu",  # where the networks run, as PyTorch names it
    progress: Progress = lambda _: None,
    largest: int = LARGEST,  # bytes that the file may have, beside the networks
    live: bool = False,  # with the networks, so that a Journey's sentence can be changed
) -> str:
    """The file's text; scenes of the Journey can be clicked if there is room for that.

    Raises TooLargeError if the scenes have no room even as still pictures, NotForALivePageError if
    a live page cannot compute the networks or has no use for them, and RuntimeError if a page
    cannot be computed.
    """

    def run_of(state: State) -> Run:
        return make_run(state, device, catalog.networks)

    if live:
        contents = _contents(lecture, _Gathered(catalog, run_of, None), progress)
        return document(_live(contents, lecture, run_of))
    for clickable in (None, 1, 0):
        contents = _contents(lecture, _Gathered(catalog, run_of, clickable), progress)
        for font in (True, False):
            html = document(replace(contents, font=font))
            if len(html.encode()) <= largest:
                return html
    raise TooLargeError(
        f"The pictures of these {len(lecture.scenes)} scenes take more room than a file of "
        f"{largest / 1e6:g} MB has. Take fewer scenes, or shorter sentences."
    )


def _contents(lecture: Lecture, file: _Gathered, progress: Progress) -> Contents:
    for place, scene in enumerate(lecture.scenes):
        progress(place / len(lecture.scenes))
        file.scenes.append(_scene(file, place, scene))
    pictures = tuple(sorted(file.pictures))
    still = [] if file.clickable is None else [STILL]
    header = {
        "plays": "lecture",
        "files": texts(pictures, sorted(file.notes)),
        "title": lecture.title,
        "scenes": file.scenes,
        "journeys": list(file.journeys.values()),
        "says": [*still, made_by(list(file.labels), KEYS)],
    }
    modules = ("play_lecture", *pictures)
    return Contents(f"{lecture.title} · ffnviz", modules, header, file.arrays, "chart" in pictures)


def _live(contents: Contents, lecture: Lecture, run_of: RunOf) -> Contents:
    """The same with the networks of its first Journey, and what computes another sentence."""
    state = next((scene.state for scene in lecture.scenes if scene.state.page == "journey"), None)
    if state is None:
        raise NotForALivePageError(
            "No scene of this lecture shows the first page, where a sentence can be changed. Save "
            "it without --live."
        )
    run = run_of(state)
    page, packed = live_contents([traced.network for traced in run.both], run.trace.text)
    files: Mapping[str, str] = page.header["files"]
    header = {
        **contents.header,
        "files": {**contents.header["files"], **files},
        "live": {name: value for name, value in page.header.items() if name != "files"},
    }
    arrays = {f"live {name}": values for name, values in page.arrays.items()}
    return replace(
        contents,
        pictures=tuple(dict.fromkeys((*contents.pictures, *page.pictures))),
        header=header,
        arrays={**contents.arrays, **arrays},
        worker=page.worker,
        later=weight_texts(packed),
    )


def _scene(file: _Gathered, place: int, scene: Scene) -> dict[str, Any]:
    """One scene for play_lecture.js; what its pictures need is added to the file."""
    run, clickable, question = file.run_of(scene.state), file.clickable, scene.question
    file.labels |= dict.fromkeys(traced.card.label for traced in run.both)
    data = {
        "title": scene.title,
        "say": to_spans(computed(scene.say, run)),
        "look": scene.look,
        "notes": to_spans(computed(scene.notes, run)),
        "question": question and {**vars(question), "ask": to_spans(computed(question.ask, run))},
        "accent": run.card.colour,
        "about": [run.trace.text, f"{run.card.label} · block {run.state.block + 1}"],
    }
    key = (run.state.sentence, *(traced.card.id for traced in run.both))
    has_room = clickable is None or key in file.journeys or len(file.journeys) < clickable
    if scene.state.page == "journey" and has_room:
        if key not in file.journeys:
            journey, prefix = journey_of(run, most_work=0), f"j{len(file.journeys)}"
            file.journeys[key] = journey.header
            file.arrays |= {f"{prefix} {name}": each for name, each in journey.arrays.items()}
            file.pictures |= set(PICTURES)
            file.notes |= set(NOTES)
        at = list(file.journeys).index(key)
        return data | {"journey": at, "start": start_of(run), "pictures": []}
    page = next(page for page in PAGES if page.name == scene.state.page)
    pictures: list[dict[str, Any]] = []
    part = page.part(scene.state.part)
    for cell in cells_shown(part, scene.state, file.run_of, file.catalog):
        note = cell.data.get("head", {}).get("note")
        if cell.picture in SHOWN and note is not None and scene.look in ("", note):
            prefix = f"s{place}.{len(pictures)} "
            data_shown = {**cell.data, **UNANSWERED}
            pictures.append({"name": cell.picture, "prefix": prefix, "data": data_shown})
            file.pictures.add(cell.picture)
            file.notes.add(note)
            file.arrays |= {f"{prefix}{name}": values for name, values in cell.arrays.items()}
    return data | {"journey": None, "pictures": pictures}
