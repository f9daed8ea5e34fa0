"""The browsers that wait for news of a class at this process: one look at the store for all."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ffnviz.lecture.classroom.live_class import ClassStoreError, LiveClass, NoSuchClassError
from ffnviz.lecture.classroom.store import ClassStore

BEAT_S = 20.0  # between two signs of life
SWEEP_S = 600.0
REST_S = 0.1  # between two looks, so that many answers at once are one event
BEAT = ": still here\n\n"
OVER = "event: over\ndata: {}\n\n"


@dataclass(eq=False)
class Listener:
    """A browser that waits for news of a class."""

    student: str  # an id; empty for the lecturer
    removed: bool = False  # whether the lecturer has removed everybody
    # set when there is something to send
    woken: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(eq=False)
class Audience:
    """The listeners of one class."""

    # the class as last seen, as an event; by whether it is for the lecturer
    events: dict[bool, str] = field(default_factory=dict)
    over: bool = False  # whether there is no such class any more
    lists: int | None = None  # how often everybody was removed; None before the first look
    listeners: set[Listener] = field(default_factory=set)

    def send(self, course: LiveClass) -> None:
        """Wake those whose event is new: students get none for each other's answers."""
        before = self.events
        texts = {lecturer: json.dumps(course.to_event(lecturer)) for lecturer in (True, False)}
        self.events = {lecturer: f"data: {text}\n\n" for lecturer, text in texts.items()}
        new = {lecturer for lecturer in texts if self.events[lecturer] != before.get(lecturer)}
        self.wake(each for each in self.listeners if (not each.student) in new)

    def wake(self, listeners: Iterable[Listener]) -> None:
        """Wake these listeners."""
        for each in listeners:
            each.woken.set()


class Hub:
    """The listeners of all classes at one process, on one event loop."""

    def __init__(self, store: ClassStore) -> None:
        self.store = store
        self.closing = False  # whether the server is to stop, which waits for open answers
        self._audiences: dict[str, Audience] = {}
        self._changed: set[str] = set()  # codes of classes to look at
        self._any_changed = asyncio.Event()
        self._work: list[asyncio.Task[None]] = []

    async def events(self, code: str, student: str) -> AsyncIterator[str]:
        """A class as server-sent events: at once, at every change, and a sign of life between."""
        audience = self._audiences.setdefault(code, Audience())
        listener, sent = Listener(student), ""
        audience.listeners.add(listener)
        try:
            if not audience.events:
                await self._look(code)
            if not self._work:
                self._work = [
                    asyncio.create_task(each())
                    for each in (self._note_changes, self._look_at_changed, self._beat)
                ]
            while audience.events and not (self.closing or audience.over or listener.removed):
                listener.woken.clear()
                before, sent = sent, audience.events[not student]
                yield BEAT if sent == before else sent
                await listener.woken.wait()
            if audience.over:
                yield OVER
        finally:
            audience.listeners.discard(listener)
            last_page = student not in {"", *(each.student for each in audience.listeners)}
            if last_page and not (self.closing or audience.over or listener.removed):
                # Not awaited, as nobody waits for the result.
                asyncio.get_running_loop().run_in_executor(None, self._leave, code, student)
            if not audience.listeners:
                self._audiences.pop(code, None)
            if not self._audiences:
                for task in self._work:
                    task.cancel()
                self._work = []

    def _leave(self, code: str, student: str) -> None:
        with suppress(ClassStoreError, NoSuchClassError):
            self.store.leave(code, student)

    async def _look(self, code: str) -> None:
        """Look at a class once, and send its listeners what is new."""
        audience = self._audiences.get(code)
        if audience is None:
            return
        try:
            course = await asyncio.to_thread(self.store.course, code)
        except NoSuchClassError:
            audience.over = True
            audience.wake(audience.listeners)
        except ClassStoreError:
            pass  # once the store is back, it is looked at again
        else:
            if audience.lists not in (None, course.lists):  # everybody was removed since
                for each in audience.listeners:
                    each.removed = bool(each.student)
                audience.wake(audience.listeners)
            audience.lists = course.lists
            audience.send(course)

    async def _note_changes(self) -> None:
        """Note which classes have changed."""
        async for code in self.store.changes():
            self._changed |= self._audiences.keys() & (self._audiences if code is None else {code})
            if self._changed:
                self._any_changed.set()

    async def _look_at_changed(self) -> None:
        while True:
            await self._any_changed.wait()
            self._any_changed.clear()
            changed, self._changed = self._changed, set()
            for code in changed:
                await self._look(code)
            await asyncio.sleep(REST_S)

    async def _beat(self) -> None:
        """Now and then tell the store who is still there, and these that the server still is."""
        while True:
            await asyncio.sleep(BEAT_S)
            for code, audience in list(self._audiences.items()):
                students = sorted({each.student for each in audience.listeners} - {""})
                with suppress(ClassStoreError, NoSuchClassError):
                    await asyncio.to_thread(self.store.stay, code, students)
                await self._look(code)  # somebody may have left, and a class may have run out
                audience.wake(audience.listeners)

    async def sweep(self) -> None:
        """Delete classes that are over, now and then, for ever."""
        while True:
            with suppress(ClassStoreError):
                await asyncio.to_thread(self.store.sweep)
            await asyncio.sleep(SWEEP_S)

    def close_with_the_server(self) -> None:
        """End the event streams on a signal to stop, before the server waits for open answers.

        Called on the event loop; where that is not in the main thread, there are no signals.
        """
        loop = asyncio.get_running_loop()

        def closing_before(handle: Callable[[int, FrameType | None], object]) -> Any:
            def close(number: int, frame: FrameType | None) -> None:
                loop.call_soon_threadsafe(self._close)
                handle(number, frame)

            return close

        for number in (signal.SIGINT, signal.SIGTERM):
            handle = signal.getsignal(number)
            if callable(handle):
                with suppress(ValueError):
                    signal.signal(number, closing_before(handle))

    def _close(self) -> None:
        self.closing = True
        for audience in self._audiences.values():
            audience.wake(audience.listeners)
