"""What a lecture is: scenes, each a State, what to say about it, and perhaps a question."""

from dataclasses import dataclass

from ffnviz.state.state import State


@dataclass(frozen=True)
class Question:
    """What is asked before a scene is told.

    Attributes:
        ask: the question, with {names} as in what is said.
        options: to choose from.
        answer: which of them is right, from 0.
    """

    ask: str
    options: tuple[str, ...]
    answer: int


@dataclass(frozen=True)
class Scene:
    """One step of a lecture.

    Attributes:
        title: in a few words.
        state: what is looked at.
        say: what to say of it; {names} in it stand for numbers, computed from what is shown.
        look: the picture that is lit, by the name of its note; all are, if empty.
        question: asked before; None if there is none.
        notes: for the speaker, with {names} likewise.
        short: whether the scene belongs to the shorter path.
    """

    title: str
    state: State
    say: str
    look: str = ""
    question: Question | None = None
    notes: str = ""
    short: bool = False


@dataclass(frozen=True)
class Lecture:
    """Scenes in their order.

    Attributes:
        title: of all.
        scenes: at least one.
        minutes: how long it takes.
        short_minutes: how long the shorter path takes; 0 if there is none.
    """

    title: str
    scenes: tuple[Scene, ...]
    minutes: int = 0
    short_minutes: int = 0

    def path(self, short: bool) -> list[int]:
        """The scenes on a path, by their places; all of them where there is no shorter one."""
        places = [place for place, scene in enumerate(self.scenes) if scene.short or not short]
        return places or list(range(len(self.scenes)))

    def planned(self, short: bool) -> int:
        """The minutes that a path takes; 0 if nobody has said."""
        return self.short_minutes if short and self.has_short else self.minutes

    @property
    def has_short(self) -> bool:
        """Whether there is a shorter path."""
        return any(scene.short for scene in self.scenes)
