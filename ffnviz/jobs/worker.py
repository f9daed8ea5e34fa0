"""The process that computes what takes long: orders come in, progress and results go out."""

import os
import sys

if __name__ == "__main__" and hasattr(os, "nice"):
    os.nice(int(sys.argv[1]))  # before PyTorch is read, which keeps a core busy for seconds

import threading
import time
import traceback
from queue import SimpleQueue
from typing import IO, Any

from ffnviz.jobs.garbage import collect_garbage, freeze_loaded_objects
from ffnviz.jobs.job_pool import Order, close, receive, send
from ffnviz.models.config import use
from ffnviz.state.run_factory import make_run

TELL_EVERY_S = 0.1


def main() -> None:
    """Compute one order after the other, until nobody sends any."""
    freeze_loaded_objects()
    # Not sys.stdin's own buffer: Python locks that as it ends, and the inbox may be reading.
    orders = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whoever prints does not disturb
    use(receive(orders))
    inbox = Inbox(orders)
    while (order := inbox.orders.get()) is not None:
        try:
            send(answers, answer(order, Channel(answers, inbox)))
        except BrokenPipeError:  # the process of the pages is gone
            close(answers)
            return
        collect_garbage()


class Inbox:
    """What comes in: orders, and what is said to the work on the one under way.

    Attributes:
        orders: None comes last.
        said: since the last order.
    """

    def __init__(self, messages: IO[bytes]) -> None:
        self.orders: SimpleQueue[Order | None] = SimpleQueue()
        self.said: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=self._listen, args=(messages,), daemon=True).start()

    def _listen(self, messages: IO[bytes]) -> None:
        while True:
            try:
                message = receive(messages)
            except EOFError:
                self.orders.put(None)
                return
            if isinstance(message, Order):
                while not self.said.empty():  # to the work before, which had just ended
                    self.said.get()
                self.orders.put(message)
            else:
                self.said.put(message)


class Channel:
    """Between the work on an order and whoever asked for it; called with the share that is done."""

    def __init__(self, answers: IO[bytes], inbox: Inbox) -> None:
        self._answers, self._inbox = answers, inbox
        self._last_sent = 0.0

    def __call__(self, share: float) -> None:
        """Say how much is done, from 0 to 1."""
        now = time.monotonic()
        if now - self._last_sent > TELL_EVERY_S:
            self._last_sent = now
            send(self._answers, ("share", min(1.0, share)))

    def tell(self, something: object) -> None:
        """Pass on what was found so far."""
        send(self._answers, ("told", something))

    def heard(self) -> list[Any]:
        """What was said to this work since it last asked."""
        return [self._inbox.said.get() for _ in range(self._inbox.said.qsize())]


def answer(order: Order, progress: Channel) -> tuple[Any, ...]:
    """The result of an order and the share of a processor it got, or why there is none."""
    try:
        run = make_run(order.state, order.device, order.networks) if order.state else None
        began, worked = time.perf_counter(), time.process_time()
        result = order.work(run, progress, *order.args)
        took = time.perf_counter() - began
        return "done", result, min(1.0, (time.process_time() - worked) / max(took, 1e-9))
    except BrokenPipeError:
        raise
    except Exception as error:
        traceback.print_exc()  # for whoever runs the server
        return "failed", f"It could not be computed: {error}"


if __name__ == "__main__":
    main()
