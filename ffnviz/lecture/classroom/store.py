"""The interface of a store of classes, and the store that a text names."""

import importlib.util
from collections.abc import AsyncIterator, Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Protocol

from ffnviz.lecture.classroom import live_class
from ffnviz.lecture.classroom.store_sqlite import SqliteStore, usual_path
from ffnviz.models.config import config, install

REDIS = ("redis", "rediss", "unix")  # what its addresses begin with


class ClassStore(Protocol):
    """The classes of all processes and machines that share it.

    Every method may raise ClassStoreError, if the store cannot be reached; those that take a code
    NoSuchClassError; those that take a secret NotTheLecturerError. All but `changes` may be called
    in any thread, and wait for the store.
    """

    def ready(self) -> None:
        """Check that the store can be read and written."""

    def open(self, lecture: str) -> live_class.Opened:
        """A new class, which is shown this lecture (the text of its file)."""

    def sweep(self) -> None:
        """Delete all that is left of classes that are over."""

    def course(self, code: str) -> live_class.LiveClass:
        """The class as it is now."""

    def lecture(self, code: str) -> str:
        """The text of its lecture's file."""

    def is_lecturer(self, code: str, secret: str) -> bool:
        """Whether the secret is the class's."""

    def move(
        self, code: str, secret: str, place: live_class.ClassPosition, lecture: str | None = None
    ) -> None:
        """Note where the lecturer is now, and perhaps another lecture."""

    def reveal(self, code: str, secret: str, scene: int) -> None:
        """Show the answers to a scene's question."""

    def hide(self, code: str, secret: str, number: int, hidden: bool = True) -> None:
        """Hide a student's sentence, or show it again."""

    def end(self, code: str, secret: str) -> None:
        """End the class and delete it."""

    def set_door(self, code: str, secret: str, closed: bool) -> None:
        """Close the door to all who were not there before, or open it."""

    def remove_all(self, code: str, secret: str) -> None:
        """Remove everybody, with their answers and sentences, and void their tickets."""

    def ticket(self, code: str, student: str) -> str:
        """What lets a student in; only a page's session gives it to them."""

    def come(
        self, code: str, student: str, ticket: str, admit: Callable[[], None] = lambda: None
    ) -> None:
        """Let a student in; `admit` is called before, for one who was not there yet, and may raise.

        Raises TicketError if the ticket is not this student's, ClosedClassError if nobody else is
        let in, and FullClassError if the class is full.
        """

    def stay(self, code: str, students: Iterable[str]) -> None:
        """Note that students who came are still there."""

    def leave(self, code: str, student: str) -> None:
        """Free the place of a student who has left; they may come back."""

    def vote(self, code: str, student: str, scene: int, option: int) -> bool:
        """Whether a student's answer counts: it may be changed until all are revealed."""

    def say(self, code: str, student: str, text: str) -> None:
        """Keep a student's sentence, hidden, in place of an earlier one; empty takes it back."""

    def sentences(self, code: str) -> list[live_class.Sentence]:
        """All that were sent in, in their order."""

    def changes(self) -> AsyncIterator[str | None]:
        """The code of each class that changes, as it does; None if any of them may have changed.

        It never ends: if the store is gone for a while, it goes on once that is back.
        """


@cache
def store_at(where: str) -> ClassStore:
    """The store that a text names: a file, the address of a Redis, or this user's own file."""
    scheme, is_address, _ = where.partition("://")
    if not is_address:
        return SqliteStore(Path(where) if where else usual_path())
    if scheme not in REDIS:
        why = f"{scheme}:// leads to no store of classes; redis:// does."
        raise live_class.ClassStoreError(why)
    if importlib.util.find_spec("redis") is None:
        why = f"Redis needs a package that is missing: {install('redis')}."
        raise live_class.ClassStoreError(why)
    from ffnviz.lecture.classroom.store_redis import RedisStore

    return RedisStore(where)


def server_store() -> ClassStore:
    """The store that this server keeps its classes in; raises ClassStoreError, in a sentence."""
    return store_at(config().class_store)
