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

from ffnviz.jobs.job import CANCEL, Cancelled, Channel, Order, outcome, receive, send
from ffnviz.jobs.memory import collect_garbage, freeze_loaded_objects
from ffnviz.models.config import use
from ffnviz.state.run_factory import make_run


def main() -> None:
    """Compute one order after the other, until the pages' process ends."""
    freeze_loaded_objects()
    # Not sys.stdin's own buffer: Python locks that as it ends, and the inbox may be reading.
    orders = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # so that what is printed is not an answer
    use(receive(orders))
    inbox = Inbox(orders)
    while True:
        order = inbox.orders.get()
        try:
            send(answers, answer(order, Channel(answers, inbox.messages, inbox.cancelled)))
        except BrokenPipeError:  # the process of the pages is gone
            os._exit(0)
        collect_garbage()


class Inbox:
    """The orders that come in, and the messages to the work on the one under way."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.orders: SimpleQueue[Order] = SimpleQueue()
        self.messages: SimpleQueue[Any] = SimpleQueue()  # since the last order
        self.cancelled = threading.Event()  # the work under way
        threading.Thread(target=self._listen, args=(pipe,), daemon=True).start()

    def _listen(self, pipe: IO[bytes]) -> None:
        while True:
            try:
                message = receive(pipe)
            except EOFError:  # nobody waits any longer for what is computed
                os._exit(0)
            if isinstance(message, Order):
                while not self.messages.empty():  # to the work before, which had just ended
                    self.messages.get()
                self.cancelled.clear()
                self.orders.put(message)
            elif message == CANCEL:
                self.cancelled.set()
            else:
                self.messages.put(message)


def answer(order: Order, channel: Channel) -> tuple[Any, ...]:
    """The result of an order and the share of a processor it got, or why there is none."""
    try:
        run = make_run(order.state, order.device, order.networks) if order.state else None
        channel(0.0)  # the networks are loaded
        began, worked = time.perf_counter(), time.process_time()
        result = outcome(order.work(run, channel, *order.args), channel.send)
        took = time.perf_counter() - began
        return "done", result, min(1.0, (time.process_time() - worked) / max(took, 1e-9))
    except BrokenPipeError:
        raise
    except Cancelled:
        return "failed", ""
    except Exception as error:
        traceback.print_exc()  # for whoever runs the server
        return "failed", f"It could not be computed: {error}"


if __name__ == "__main__":
    main()
