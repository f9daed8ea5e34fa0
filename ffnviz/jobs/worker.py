"""The process that computes what takes long: orders come in, progress and results go out."""

import os
import sys
import time
import traceback
from typing import IO, Any

from ffnviz.jobs.garbage import collect_garbage, freeze_loaded_objects
from ffnviz.jobs.job_pool import Order, close, receive, send
from ffnviz.models.config import use
from ffnviz.state.run_factory import make_run

STEP_BACK = 10  # of Unix' niceness: a page that is waited for comes first
TELL_EVERY_S = 0.1


def main() -> None:
    """Compute one order after the other, until nobody sends any."""
    if hasattr(os, "nice"):
        os.nice(STEP_BACK)
    freeze_loaded_objects()
    orders = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whoever prints does not disturb
    use(receive(orders))
    while True:
        try:
            order: Order = receive(orders)
        except EOFError:
            return
        try:
            send(answers, answer(order, answers))
        except BrokenPipeError:  # the process of the pages is gone
            close(answers)
            return
        collect_garbage()


def answer(order: Order, answers: IO[bytes]) -> tuple[Any, ...]:
    """The result of an order and the share of a processor it got, or why there is none."""
    last_sent = 0.0

    def progress(share: float) -> None:
        nonlocal last_sent
        now = time.monotonic()
        if now - last_sent > TELL_EVERY_S:
            last_sent = now
            send(answers, ("share", min(1.0, share)))

    try:
        run = make_run(order.state, order.device, order.networks)
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
