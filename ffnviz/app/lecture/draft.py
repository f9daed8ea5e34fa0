"""A visitor's own lecture while it is made: the views they added, in an order of their choice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from ffnviz.lecture.scene import Lecture, Scene
from ffnviz.lecture.tables import MOST_SCENES
from ffnviz.state.state import State

DRAFT = "draft"
TIMES = "desk-times"  # how often another draft has taken the place of one
DESK = "desk"  # the page in whose place the visitor is at it
PREVIEWING = "desk-previewing"  # whether what is presented is a preview, which leads back to it
TITLE = "My lecture"
SAY = "At {token} the network says {says} ({says_share})."  # until somebody writes another sentence


@dataclass(frozen=True)
class Draft:
    """What has been added so far.

    Attributes:
        title: of the lecture.
        scenes: each with a number that stays its own, whatever is moved.
        pictures: of each scene's page, by the names of their notes.
        thumbnails: a small picture of each scene that has one, as an address that holds it.
        made: how many were ever added.
        minutes, short_minutes: of the file that it was opened from.
    """

    title: str = TITLE
    scenes: tuple[tuple[int, Scene], ...] = ()
    pictures: tuple[tuple[int, tuple[str, ...]], ...] = ()
    thumbnails: tuple[tuple[int, str], ...] = ()
    made: int = 0
    minutes: int = 0
    short_minutes: int = 0

    def added(self, scene: Scene, pictures: Sequence[str] = (), thumbnail: str = "") -> "Draft":
        """With one more scene at the end; a full lecture stays as it is."""
        if len(self.scenes) >= MOST_SCENES:
            return self
        number = self.made + 1
        return replace(
            self,
            scenes=(*self.scenes, (number, scene)),
            pictures=(*self.pictures, (number, tuple(pictures))),
            thumbnails=(*self.thumbnails, *([(number, thumbnail)] if thumbnail else [])),
            made=number,
        )

    def changed(self, number: int, scene: Scene) -> "Draft":
        """With another scene under that number."""
        scenes = tuple((n, scene if n == number else each) for n, each in self.scenes)
        return replace(self, scenes=scenes)

    def moved(self, number: int, by: int) -> "Draft":
        """With the scene of that number so many places later, if there is such a place."""
        scenes = list(self.scenes)
        at = next((place for place, (n, _) in enumerate(scenes) if n == number), None)
        if at is None or not 0 <= at + by < len(scenes):
            return self
        scenes.insert(at + by, scenes.pop(at))
        return replace(self, scenes=tuple(scenes))

    def without(self, number: int) -> "Draft":
        """Without the scene of that number."""
        return replace(
            self,
            scenes=tuple(each for each in self.scenes if each[0] != number),
            pictures=tuple(each for each in self.pictures if each[0] != number),
            thumbnails=tuple(each for each in self.thumbnails if each[0] != number),
        )

    @property
    def lecture(self) -> Lecture:
        """As a lecture; one without scenes is none yet."""
        scenes = tuple(scene for _, scene in self.scenes)
        return Lecture(self.title, scenes, self.minutes, self.short_minutes)


def draft() -> Draft:
    """The visitor's."""
    kept: Draft = st.session_state.get(DRAFT, Draft())
    return kept


def keep(changed: Draft) -> None:
    """Have it as the visitor's."""
    st.session_state[DRAFT] = changed


def forget_the_form() -> None:
    """What was typed of another draft stands in no box any more: browsers keep that by the key."""
    st.session_state[TIMES] = st.session_state.get(TIMES, 0) + 1


def form_key(name: str) -> str:
    """The key of a box of the form."""
    return f"desk-form-{st.session_state.get(TIMES, 0)}-{name}"


def add_view(state: State, title: str, pictures: Sequence[str], thumbnail: str) -> None:
    """The view that the page shows becomes the draft's last scene."""
    keep(draft().added(Scene(title, state, SAY), pictures, thumbnail))


def opened(lecture: Lecture) -> Draft:
    """A lecture as a draft that can be changed."""
    result = Draft(lecture.title, minutes=lecture.minutes, short_minutes=lecture.short_minutes)
    for scene in lecture.scenes:
        result = result.added(scene, [scene.look] if scene.look else [])
    return result
