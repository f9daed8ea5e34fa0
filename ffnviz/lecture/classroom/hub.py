"""The students who wait for a class at this process: one look at the store for all of them."""

import asyncio
import json
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType

from ffnviz.lecture.classroom.errors import ClassStoreError, NoSuchClassError
from ffnviz.lecture.classroom.store import ClassStore

BEAT_S = 20.0  # between two signs of life
SWEEP_S = 600.0
REST_S = 0.1  # between two looks: many answers at once are told at once
BEAT = ": still here\n\n"
OVER = "event: over\ndata: {}\n\n"


@dataclass(eq=False)
class Listener:
    """A browser that waits for news of a class."""

    who: str  # a student; empty for the lecturer
    out: bool = False  # whether the lecturer has removed everybody
    # set when there is something to tell
    woken: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(eq=False)
class ClassListeners:
    """The listeners of one class."""

    # the class as last seen, as an event; by whether it is for the lecturer
    told: dict[bool, str] = field(default_factory=dict)
    over: bool = False  # whether there is no such class any more
    lists: int | None = None  # how often everybody was removed from it; None before the first look
    listeners: set[Listener] = field(default_factory=set)  # who waits

    def send(self, events: dict[bool, str]) -> None:
        """Wake those for whom something is new: students hear nothing of each other's answers."""
        new = {lecturer for lecturer, text in events.items() if text != self.told.get(lecturer)}
        self.told = events
        self.wake(each for each in self.listeners if (not each.who) in new)

    def empty(self, lists: int) -> None:
        """End what students wait for, if everybody was removed since the last look."""
        if self.lists not in (None, lists):
            for each in self.listeners:
                each.out = bool(each.who)
            self.wake(self.listeners)
        self.lists = lists

    def wake(self, listeners: Iterable[Listener]) -> None:
        """Wake these listeners."""
        for each in listeners:
            each.woken.set()


class Hub:
    """All classes' listeners of a process, on one event loop."""

    def __init__(self, store: ClassStore) -> None:
        self.store = store
        self.closing = False  # whether the server is to stop, which waits for no open answer
        self._rooms: dict[str, ClassListeners] = {}
        self._changed: set[str] = set()  # codes of rooms to look at
        self._something = asyncio.Event()
        self._work: list[asyncio.Task[None]] = []

    async def told(self, code: str, who: str) -> AsyncIterator[str]:
        """A class as server-sent events: at once, at every change, and a sign of life between."""
        room, listener, sent = self._rooms.setdefault(code, ClassListeners()), Listener(who), ""
        room.listeners.add(listener)
        try:
            if not room.told:
                await self._look(code)
            if not self._work:
                self._work = [asyncio.create_task(each()) for each in
                              (self._hear, self._look_at_what_changed, self._beat)]  # fmt: skip
            while room.told and not (self.closing or room.over or listener.out):
                listener.woken.clear()
                before, sent = sent, room.told[not who]
                yield BEAT if sent == before else sent
                await listener.woken.wait()
            if room.over:
                yield OVER
        finally:
            room.listeners.discard(listener)
            if not (self.closing or room.over or listener.out):
                self._has_gone(code, who, room)
            if not room.listeners:
                self._rooms.pop(code, None)
            if not self._rooms:
                self._stop()

    def _has_gone(self, code: str, who: str, room: ClassListeners) -> None:
        """Free the place of a student whose last page was closed."""

        def leave() -> None:
            with suppress(ClassStoreError, NoSuchClassError):
                self.store.leave(code, who)

        if who and all(each.who != who for each in room.listeners):
            # Not waited for: whoever has gone waits for nothing.
            asyncio.get_running_loop().run_in_executor(None, leave)

    async def _look(self, code: str) -> None:
        """Look at a class once, and send its listeners what is new."""
        room = self._rooms.get(code)
        if room is None:
            return
        try:
            course = await asyncio.to_thread(self.store.course, code)
        except NoSuchClassError:
            room.over = True
            room.wake(room.listeners)
        except ClassStoreError:
            pass  # once the store is back, it is looked at again
        else:
            events = {lecturer: json.dumps(course.to_event(lecturer)) for lecturer in (True, False)}
            room.empty(course.lists)
            room.send({lecturer: f"data: {text}\n\n" for lecturer, text in events.items()})

    async def _hear(self) -> None:
        """Note which classes have changed."""
        async for code in self.store.changes():
            self._changed |= set(self._rooms) if code is None else {code} & set(self._rooms)
            if self._changed:
                self._something.set()

    async def _look_at_what_changed(self) -> None:
        while True:
            await self._something.wait()
            self._something.clear()
            changed, self._changed = self._changed, set()
            for code in changed:
                await self._look(code)
            await asyncio.sleep(REST_S)

    async def _beat(self) -> None:
        """Now and then say to the store who is still there, and to them that the server is."""
        while True:
            await asyncio.sleep(BEAT_S)
            for code, room in list(self._rooms.items()):
                who = sorted({each.who for each in room.listeners} - {""})
                with suppress(ClassStoreError, NoSuchClassError):
                    await asyncio.to_thread(self.store.stay, code, who)
                await self._look(code)  # somebody may have gone, and a class may have run out
                room.wake(room.listeners)

    async def sweep(self) -> None:
        """Delete classes that have run out, now and then, for ever."""
        while True:
            with suppress(ClassStoreError):
                await asyncio.to_thread(self.store.sweep)
            await asyncio.sleep(SWEEP_S)

    def _stop(self) -> None:
        for task in self._work:
            task.cancel()
        self._work = []

    def close_with_the_server(self) -> None:
        """End the event streams before the server waits for all answers to end.

        Said on the event loop.
        """
        if threading.current_thread() is not threading.main_thread():
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if callable(before):
                with suppress(ValueError):
                    signal.signal(number, self._closer(before, loop))

    def _closer(
        self, before: Callable[[int, FrameType | None], object], loop: asyncio.AbstractEventLoop
    ) -> Callable[[int, FrameType | None], None]:
        def close(number: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self._close)
            before(number, frame)

        return close

    def _close(self) -> None:
        self.closing = True
        for room in self._rooms.values():
            room.wake(room.listeners)
