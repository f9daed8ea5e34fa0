"""The second network's trace on a second core, while the page computes the first's."""

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from ffnviz.jobs.run_queue import RUN_QUEUE
from ffnviz.state.run import Run

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
