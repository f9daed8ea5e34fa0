"""What surrounds the parts of a page: bar, menu, parts, examples, welcome, training, footer."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ffnviz.pictures.cell import Cell, entry, event, one_of, place, to_data

MOST_PICTURES, LONGEST_NAME, LONGEST_PICTURE = 20, 40, 12_000
SMALL_PICTURE = re.compile(r"data:image/jpeg;base64,[A-Za-z0-9+/]+=*")


def names(sent: object) -> list[str]:
    """Short texts that a browser sent, as many as a page can have pictures."""
    if not isinstance(sent, list):
        return []
    short = [name for name in sent if isinstance(name, str) and 0 < len(name) <= LONGEST_NAME]
    return short[:MOST_PICTURES]


def small_picture(sent: object) -> str:
    """A picture that a browser sent, as an address that holds it; empty if it is anything else."""
    fits = isinstance(sent, str) and len(sent) <= LONGEST_PICTURE and SMALL_PICTURE.fullmatch(sent)
    return str(sent) if fits else ""


def bar_cell(
    title: str,  # of the page
    part: str,  # the title of the part that is shown; empty where a page has one only
    sentence: str,  # as typed; it stands on paper and in saved pictures only
    network: Sequence[str],  # which one is looked at, and which block; saved pictures have it too
    key: str,
    # called when the person wants the page as a file; None where there is no such file
    on_take: Callable[[], Any] | None = None,
    lecture: Sequence[tuple[str, str]] = (),  # what can be done about a lecture: id and label
    # called with the id of what is to be done, the names of the notes of the page's pictures, and a
    # small picture of the page for a view that is added
    on_lecture: Callable[[str, list[str], str], None] = lambda *_: None,
    outcome: str = "",  # what came of it, if that is not seen by itself
) -> Cell:
    """The page's heading, also announced to screen readers, and a button that copies its link."""
    data = {
        "title": title,
        "part": part,
        "sentence": sentence,
        "network": list(network),
        "takes": on_take is not None,
        "lecture": [list(each) for each in lecture],
        "outcome": outcome,
    }

    def choose(sent: Any) -> None:
        what = one_of(entry(sent, "what"), [name for name, _ in lecture])
        if what is not None:
            pictures, thumbnail = entry(sent, "pictures"), entry(sent, "thumbnail")
            on_lecture(what, names(pictures), small_picture(thumbnail))

    events = {"take": lambda _: on_take and on_take(), "lecture": choose}
    return Cell("page_bar", key, data, events=events)


def footer_cell(
    following: str,  # what comes next, as its button says it
    # what the network knows, a paragraph each; none if nothing is known of it
    knows: Sequence[str],
    key: str,
    on_next: Callable[[], Any],  # called when the person goes on
) -> Cell:
    """The footer of a page."""
    data = {"next": following, "knows": list(knows)}
    return Cell("footer", key, data, events={"next": lambda _: on_next()})


def welcome_cell(
    bare: bool,  # whether the visitor came by an address that says nothing of what to show
    story: str,  # what the button says that leads on to the story; empty if there is none
    key: str,
    on_story: Callable[[], Any],  # called when it is pressed
) -> Cell:
    """The line, shown until it is closed."""
    data = {"bare": bare, "story": story}
    return Cell("welcome", key, data, events={"story": lambda _: on_story()})


@dataclass(frozen=True, kw_only=True)
class PartList:
    """The list."""

    label: str  # what it is a list of
    parts: Sequence[tuple[str, str]]  # title and line of each
    chosen: int  # the one that is shown
    away: Sequence[str]  # sentences on parts that cannot be shown
    on_choose: Callable[[int], Any]  # gives the action for the chosen part's place

    def to_cell(self, key: str) -> Cell:
        """On a page, where `key` is unique."""
        events = {"part": event(self.on_choose, place, len(self.parts))}
        return Cell("part_list", key, to_data(self), events=events)


def examples_cell(
    groups: Sequence[tuple[str, Sequence[str]]],  # a title and its sentences, each
    key: str,
    on_choose: Callable[[str], Any],  # called with the clicked sentence
    why: Mapping[str, str] | None = None,  # sentence → why it is there
) -> Cell:
    """Sentences to start from, in groups; a click on one asks for `on_choose` of it."""
    sentences = [sentence for _, group in groups for sentence in group]
    data = {
        "groups": [{"title": title, "sentences": list(group)} for title, group in groups],
        "why": dict(why or {}),
    }
    return Cell("examples", key, data, events={"sentence": event(on_choose, one_of, sentences)})


REQUESTS = ("train", "pause", "step", "go", "stop", "show")


@dataclass(frozen=True)
class Progress:
    """How far a training is."""

    status: str  # "new", "waits", "runs", "paused" or "ended"
    at: int  # the place of the moment that is shown, from 0
    moments: int  # how many there are
    most: int  # how many there will be
    said: str  # how far it is, in words
    label: str  # on the button that begins it
    why_not: str = ""  # why it cannot begin; empty if it can


def learn_bar_cell(
    key: str,
    progress: Progress,  # how far the training is
    on_ask: Callable[[str], Any],  # gives the action for one of REQUESTS
    on_move: Callable[[int], Any],  # gives the action for the place of a moment
    file: tuple[str, bytes] | None = None,  # name and content of what can be saved
    *,
    can_show: bool = False,  # whether all pages can show it
) -> Cell:
    """The buttons, and a slider back through what was recorded."""
    data = {**vars(progress), "file": file and file[0], "can_show": can_show and bool(file)}
    arrays = {"file": np.frombuffer(file[1], np.uint8)} if file else {}
    moved = event(on_move, place, progress.moments)
    events = {"ask": event(on_ask, one_of, REQUESTS), "move": moved}
    return Cell("learn_bar", key, data, arrays, events)
