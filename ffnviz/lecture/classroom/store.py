"""The interface of a store of classes, and the store that a text names."""

import importlib.util
from collections.abc import AsyncIterator, Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Protocol

from ffnviz.lecture.classroom.errors import ClassStoreError
from ffnviz.lecture.classroom.live_class import ClassPosition, LiveClass, Sentence
from ffnviz.lecture.classroom.secret import Opened
from ffnviz.lecture.classroom.sqlite_file import usual_path
from ffnviz.lecture.classroom.store_sqlite import SqliteStore
from ffnviz.models.config import config
from ffnviz.models.installing import install

REDIS = ("redis", "rediss", "unix")  # what its addresses begin with


class ClassStore(Protocol):
    """The classes of all processes and machines that share it.

    Whatever is asked may be answered with ClassStoreError, if the store cannot be reached; whatever
    is asked of a class with NoSuchClassError; what takes a secret with NotTheLecturerError. All but
    `changes` may be asked in any thread, and waits for the store.
    """

    def ready(self) -> None:
        """Check that the store can be read and written."""

    def open(self, lecture: str) -> Opened:
        """A new class, which is shown this lecture (the text of its file)."""

    def sweep(self) -> None:
        """Nothing is left of classes that are over."""

    def course(self, code: str) -> LiveClass:
        """The class as it is now."""

    def lecture(self, code: str) -> str:
        """The text of its lecture's file."""

    def is_lecturer(self, code: str, secret: str) -> bool:
        """Whether the secret is the class's."""

    def move(
        self, code: str, secret: str, place: ClassPosition, lecture: str | None = None
    ) -> None:
        """The lecturer is elsewhere, and perhaps in another lecture."""

    def reveal(self, code: str, secret: str, scene: int) -> None:
        """The answers to a scene's question are shown."""

    def hide(self, code: str, secret: str, number: int, hidden: bool = True) -> None:
        """A student's sentence is hidden, or shown again."""

    def end(self, code: str, secret: str) -> None:
        """The class is over, and gone."""

    def set_door(self, code: str, secret: str, closed: bool) -> None:
        """Nobody is let in who was not there before, or everybody is again."""

    def remove_all(self, code: str, secret: str) -> None:
        """Everybody is out, with their answers and sentences; their tickets are worth nothing."""

    def ticket(self, code: str, who: str) -> str:
        """What lets a student in; only a page's session hands it out."""

    def come(
        self, code: str, who: str, ticket: str, admit: Callable[[], None] = lambda: None
    ) -> None:
        """A student is there.

        Args:
            code: of the class.
            who: the student, who is one of this class from now on.
            ticket: theirs.
            admit: called before somebody is let in who was not there before; may raise.

        Raises:
            TicketError: if the ticket is not this student's.
            ClosedClassError: if nobody else is let in.
            FullClassError: if nobody else has room.
        """

    def stay(self, code: str, who: Iterable[str]) -> None:
        """Students who came are still there."""

    def leave(self, code: str, who: str) -> None:
        """A student who came is there no more, which makes room; they may come back."""

    def vote(self, code: str, who: str, scene: int, option: int) -> None:
        """A student's answer, which may be changed until all are revealed."""

    def say(self, code: str, who: str, text: str) -> None:
        """A student's sentence, in the place of an earlier one; an empty one takes it back."""

    def sentences(self, code: str) -> list[Sentence]:
        """All that were sent in, in their order."""

    def changes(self) -> AsyncIterator[str | None]:
        """The code of each class that changes, as it does; None: any may have, so look at all.

        It never ends, and where the store is gone for a while it goes on once that is back.
        """


@cache
def store_at(where: str) -> ClassStore:
    """The store that a text names: a file, the address of a Redis, or this user's own file.

    Raises:
        ClassStoreError: in a sentence, if there can be none.
    """
    scheme, is_address, _ = where.partition("://")
    if not is_address:
        return SqliteStore(Path(where) if where else usual_path())
    if scheme not in REDIS:
        raise ClassStoreError(f"{scheme}:// leads to no store of classes; redis:// does.")
    if importlib.util.find_spec("redis") is None:
        raise ClassStoreError(f"Redis needs a package that is missing: {install('redis')}.")
    from ffnviz.lecture.classroom.store_redis import RedisStore

    return RedisStore(where)


def server_store() -> ClassStore:
    """The store that this server keeps its classes in.

    Raises:
        ClassStoreError: if there can be none; the message says why.
    """
    return store_at(config().class_store)
