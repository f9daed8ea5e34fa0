"""Starting and ending the process that runs `worker.py`."""

import os
import subprocess
import sys
from pathlib import Path

from ffnviz.jobs.channel import close

NICENESS = 10  # of Unix: a page that is waited for comes first
PACKAGE = Path(__file__).parents[2]
QUIET = {"STREAMLIT_LOGGER_LEVEL": "error"}  # or it repeats that there is no session


def start_worker() -> subprocess.Popen[bytes]:
    """A new process, which waits for its configuration and then for orders.

    Raises:
        OSError: if it does not start.
    """
    path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(  # noqa: S603  # our own interpreter, a number of ours
        [sys.executable, "-m", "ffnviz.jobs.worker", str(NICENESS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep), **QUIET},
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a worker at once, whatever it computes."""
    process.kill()
    process.wait()
    close(process.stdin)
    close(process.stdout)
