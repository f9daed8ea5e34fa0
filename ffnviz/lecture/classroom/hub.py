"""Who waits for a class to change: one look at the store for all who wait at this process."""

import asyncio
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from ffnviz.lecture.classroom.course import Course, NoSuchClassError
from ffnviz.lecture.classroom.store import ClassStore

LOOK_EVERY_S = 0.2


class Hub:
    """The waiting, by the class's code; all on one event loop."""

    def __init__(self, store: ClassStore) -> None:
        self.store = store
        self.closing = False  # whether the server is to stop, which waits for no open answer
        self._changed: dict[str, asyncio.Condition] = {}
        self._courses: dict[str, Course | None] = {}  # as last seen; None: it is over
        self._waiting: dict[str, int] = {}
        self._watchers: dict[str, asyncio.Task[None]] = {}

    async def course(self, code: str) -> Course:
        """The class as it is now, read once for all who wait for it."""
        known = self._courses.get(code)
        if known is not None and self.store.revision(code) == known.revision:
            return known
        return self.store.course(code)

    async def change(self, code: str, seen: int, patience_s: float) -> bool:
        """Wait until the class has a later revision than `seen`; False if it took too long."""
        condition = self._changed.setdefault(code, asyncio.Condition())
        self._waiting[code] = self._waiting.get(code, 0) + 1
        if code not in self._watchers:
            self._look(code)
            self._watchers[code] = asyncio.create_task(self._watch(code, condition))
        try:
            async with condition, asyncio.timeout(patience_s):
                await condition.wait_for(lambda: self.closing or self._is_past(code, seen))
        except TimeoutError:
            return False
        finally:
            self._waiting[code] -= 1
        return True

    def _is_past(self, code: str, seen: int) -> bool:
        # Who has just come has seen more than was there at the last look.
        revision = self._revision(code)
        return revision is None or revision > seen

    def _revision(self, code: str) -> int | None:
        course = self._courses.get(code)
        return None if course is None else course.revision

    def _look(self, code: str) -> bool:
        """See whether the class has changed."""
        before = self._revision(code)
        try:
            if self.store.revision(code) == before:
                return False
            self._courses[code] = self.store.course(code)
        except NoSuchClassError:
            self._courses[code] = None
        return self._revision(code) != before

    async def _watch(self, code: str, condition: asyncio.Condition) -> None:
        while self._waiting[code] > 0:
            await asyncio.sleep(LOOK_EVERY_S)
            if self._look(code) or self.closing:
                async with condition:
                    condition.notify_all()
        for table in (self._changed, self._courses, self._waiting, self._watchers):
            table.pop(code, None)

    def close_with_the_server(self) -> None:
        """Before the server waits for all answers to end, those that never would are ended."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if callable(before):
                with suppress(ValueError):
                    signal.signal(number, self._closer(before))

    def _closer(
        self, before: Callable[[int, FrameType | None], object]
    ) -> Callable[[int, FrameType | None], None]:
        def close(number: int, frame: FrameType | None) -> None:
            self.closing = True
            before(number, frame)

        return close
