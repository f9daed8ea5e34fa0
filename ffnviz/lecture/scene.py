"""A lecture: scenes, each a State with what to say about it and perhaps a question."""

from dataclasses import dataclass

from ffnviz.state.state import State

NO_ANSWER = -1


@dataclass(frozen=True)
class Question:
    """What is asked before a scene is shown."""

    ask: str  # the question, with {names} as in Scene.say
    options: tuple[str, ...]  # to choose from
    answer: int  # the right option, from 0; NO_ANSWER in a draft that marks none, or several


@dataclass(frozen=True)
class Scene:
    """One step of a lecture."""

    title: str  # in a few words
    state: State  # what is shown
    say: str  # what to say of it; {names} stand for numbers that are computed from what is shown
    look: str = ""  # the picture that is lit, by the name of its note; if empty, all are
    question: Question | None = None  # asked before
    notes: str = ""  # for the speaker, with {names} likewise
    short: bool = False  # whether the scene belongs to the shorter path


@dataclass(frozen=True)
class Lecture:
    """Scenes in their order."""

    title: str
    scenes: tuple[Scene, ...]  # at least one
    minutes: int = 0  # how long it takes
    short_minutes: int = 0  # how long the shorter path takes; 0 if there is none

    def path(self, short: bool) -> list[int]:
        """The places of the scenes on a path; of all scenes where there is no shorter path."""
        places = [place for place, scene in enumerate(self.scenes) if scene.short or not short]
        return places or list(range(len(self.scenes)))

    def planned(self, short: bool) -> int:
        """The minutes that a path takes; 0 if the lecture does not say."""
        return self.short_minutes if short and self.has_short else self.minutes

    @property
    def has_short(self) -> bool:
        """Whether there is a shorter path."""
        return any(scene.short for scene in self.scenes)
