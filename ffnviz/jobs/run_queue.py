"""The queue of page runs: one at a time, so that people who type do not slow each other down.

Page runs are arithmetic in one interpreter. Thirty of them side by side take as long as one after
the other, and each of the thirty then waits for all. Here each waits for its turn and runs alone.
A turn is a slice of time that need not be given back: a run that is not done at its end goes on
beside the next. So nothing can deadlock here, whatever a page waits for, and a slow page delays the
others by one slice.
"""

import logging
import os
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache

from ffnviz.state.run import Run

SERIAL_LOCK = threading.Lock()  # of what takes seconds, and would take no less side by side

SLICE_S = 0.3  # six usual page runs
SETTLED_S = 1.05  # a visitor who has asked for nothing new for so long has stopped typing
SOONEST_S = 0.3  # and nobody before that
PAUSES = 1.3  # whoever types has stopped when so many of their own pauses between keys have passed
OLDEST_EVERY = 8  # every so many turns go to whoever waits longest
REMEMBERED = 60  # turns, for the usual wait
# Up to which usual wait, in seconds, the sentence box pauses for how long; Streamlit's own first.
PAUSES_MS = ((0.15, 250), (0.3, 600), (float("inf"), 1_250))


@dataclass(eq=False)
class QueuedRun:
    """A place in the queue, and then the right to run."""

    asked: float  # when its visitor last asked for something, in seconds
    came: float  # when it began to wait
    changed: threading.Condition
    settles_s: float = SETTLED_S  # after `asked`: its visitor has then stopped typing
    began: float | None = None  # when it began to run; None while it waits
    ended: bool = False

    def ask(self, now: float) -> None:
        """Its visitor asks for something new, at a time in seconds."""
        pause, self.asked = now - self.asked, now
        typing = pause < SETTLED_S
        self.settles_s = max(SOONEST_S, min(PAUSES * pause, SETTLED_S)) if typing else SETTLED_S


@dataclass
class RunCounts:
    """Totals of all page runs since the start."""

    runs: int = 0  # turns that ended
    seconds: float = 0.0  # of running, all turns together
    waited: float = 0.0  # seconds of waiting, all turns together
    overran: int = 0  # turns that took longer than their slice


@dataclass(eq=False)
class RunQueue:
    """A queue of visitors, each of whom waits at most once.

    Visitors who have stopped typing come first, in order: they look at the page, while those who go
    on would throw it away. Nobody is known to have stopped before a second has passed, or a little
    more than the pause between their own last keys; of all others the newest comes first, whose key
    may have been the last. (First come, first served makes everybody wait, at the same throughput.)
    Every eighth turn goes to whoever waits longest, so that nobody starves who never stops.
    """

    slice_s: float = SLICE_S
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[QueuedRun] = field(default_factory=list)
    _inside: QueuedRun | None = None
    _given: int = 0
    _counts: RunCounts = field(default_factory=RunCounts)
    _recent: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def wait(self, turn: QueuedRun | None = None) -> QueuedRun:
        """Wait for a turn."""
        turn = turn or self.place()
        with self._lock:
            self._waiting.append(turn)
            self._next()
            while turn.began is None:
                turn.changed.wait(self._until_free())
                self._next()
        return turn

    def place(self) -> QueuedRun:
        """A turn that does not wait yet."""
        now = time.monotonic()
        return QueuedRun(now, now, threading.Condition(self._lock))

    def end(self, turn: QueuedRun) -> None:
        """Give the turn to the next; a second call does nothing."""
        with self._lock:
            if turn.ended or turn.began is None:
                return
            turn.ended = True
            took = time.monotonic() - turn.began
            self._counts.runs += 1
            self._counts.seconds += took
            self._counts.overran += took > self.slice_s
            if self._inside is turn:
                self._inside = None
            self._next()

    def slice_is_over(self, turn: QueuedRun) -> bool:
        """Whether the turn has lasted longer than its slice."""
        return turn.began is not None and time.monotonic() - turn.began > self.slice_s

    def _until_free(self) -> float | None:
        inside = self._inside
        if inside is None or inside.began is None:
            return None
        return max(0.0, inside.began + self.slice_s - time.monotonic()) + 0.001

    def _next(self) -> None:
        """Give the turn to the next run, if none has it or its slice is over."""
        if not self._waiting or (self._inside is not None and not self.slice_is_over(self._inside)):
            return
        turn = self._chosen(time.monotonic())
        self._waiting.remove(turn)
        turn.began = time.monotonic()
        self._counts.waited += turn.began - turn.came
        self._recent.append(turn.began - max(turn.came, turn.asked))
        self._inside = turn
        turn.changed.notify()

    def _chosen(self, now: float) -> QueuedRun:
        self._given += 1
        if self._given % OLDEST_EVERY == 0:
            return min(self._waiting, key=lambda turn: turn.came)
        settled = [turn for turn in self._waiting if now - turn.asked > turn.settles_s]
        if settled:
            return min(settled, key=lambda turn: turn.asked)
        return max(self._waiting, key=lambda turn: turn.asked)

    @property
    def queue(self) -> int:
        """The number of runs that wait."""
        return len(self._waiting)

    @property
    def counted(self) -> RunCounts:
        """Totals of all page runs since the start."""
        with self._lock:
            return replace(self._counts)

    @property
    def pause_ms(self) -> int:
        """How long a box should wait for another key before it sends the text.

        The busier the server, the longer: pages of half-typed words are then not asked for.
        """
        with self._lock:
            recent = list(self._recent)
        usual = sum(recent) / len(recent) if recent else 0.0
        return next(pause for most, pause in PAUSES_MS if usual <= most)


RUN_QUEUE = RunQueue()
log = logging.getLogger(__name__)


def trace_ahead(run: Run) -> bool:
    """Begin the partner's trace, unless other visitors wait for the cores; whether it was begun.

    Whoever asks for that trace waits for it, as the cache computes nothing twice.
    """
    partner = run.partner
    if partner is None or RUN_QUEUE.queue or (os.cpu_count() or 1) < 2:
        return False

    def work() -> None:
        try:
            _ = partner.whole
        except Exception:  # it is raised again for whoever asks for the trace
            log.debug("No trace was made ahead.", exc_info=True)

    _executor().submit(work)
    return True


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "trace-ahead")
