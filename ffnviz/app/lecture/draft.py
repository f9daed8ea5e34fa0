"""The draft of a visitor's own lecture: the views they added, in an order of their choice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from ffnviz.lecture.scene import Lecture, Scene
from ffnviz.lecture.tables import MOST_SCENES
from ffnviz.state.state import State

DRAFT = "draft"
N_FORMS = "desk-times"  # how often another draft has taken the place of one
DESK = "desk"  # the page in place of which the visitor sees the desk
PREVIEWING = "desk-previewing"  # whether what is presented is a preview, which leads back to it
TITLE = "My lecture"
SAY = "At {token} the network says {says} ({says_share})."  # until somebody writes another sentence


@dataclass(frozen=True)
class DraftView:
    """A scene of a draft, and what the page looked like when it was added."""

    number: int  # its own, whatever is moved
    scene: Scene
    pictures: tuple[str, ...] = ()  # of its page, by the names of their notes
    thumbnail: str = ""  # a data URL


@dataclass(frozen=True)
class Draft:
    """The views added so far."""

    title: str = TITLE
    views: tuple[DraftView, ...] = ()
    n_added: int = 0  # views, with those that were removed
    minutes: int = 0  # of the file that it was opened from
    short_minutes: int = 0

    def added(self, scene: Scene, pictures: Sequence[str] = (), thumbnail: str = "") -> "Draft":
        """With one more scene at the end; a full lecture stays as it is."""
        if len(self.views) >= MOST_SCENES:
            return self
        view = DraftView(self.n_added + 1, scene, tuple(pictures), thumbnail)
        return replace(self, views=(*self.views, view), n_added=view.number)

    def changed(self, number: int, **parts: Any) -> "Draft":
        """With other parts of the scene of that number."""
        views = (
            replace(view, scene=replace(view.scene, **parts)) if view.number == number else view
            for view in self.views
        )
        return replace(self, views=tuple(views))

    def moved(self, number: int, by: int) -> "Draft":
        """With the scene of that number so many places later, if there is such a place."""
        views = list(self.views)
        at = next((place for place, view in enumerate(views) if view.number == number), None)
        if at is None or not 0 <= at + by < len(views):
            return self
        views.insert(at + by, views.pop(at))
        return replace(self, views=tuple(views))

    def without(self, number: int) -> "Draft":
        """Without the scene of that number."""
        return replace(self, views=tuple(view for view in self.views if view.number != number))

    @property
    def lecture(self) -> Lecture:
        """The draft as a lecture, which may have no scenes yet."""
        scenes = tuple(view.scene for view in self.views)
        return Lecture(self.title, scenes, self.minutes, self.short_minutes)


def draft() -> Draft:
    """The visitor's draft."""
    kept: Draft = st.session_state.get(DRAFT, Draft())
    return kept


def keep(changed: Draft) -> None:
    """Make a draft the visitor's."""
    st.session_state[DRAFT] = changed


def reset_form() -> None:
    """Empty the boxes of what was typed of another draft, which browsers keep by their keys."""
    st.session_state[N_FORMS] = st.session_state.get(N_FORMS, 0) + 1


def form_key(name: str) -> str:
    """The key of a box of the form."""
    return f"desk-form-{st.session_state.get(N_FORMS, 0)}-{name}"


def add_view(state: State, title: str, pictures: Sequence[str], thumbnail: str) -> None:
    """Add the view that the page shows as the draft's last scene."""
    keep(draft().added(Scene(title, state, SAY), pictures, thumbnail))


def opened(lecture: Lecture) -> Draft:
    """A lecture as a draft that can be changed."""
    result = Draft(lecture.title, minutes=lecture.minutes, short_minutes=lecture.short_minutes)
    for scene in lecture.scenes:
        result = result.added(scene, [scene.look] if scene.look else [])
    return result
