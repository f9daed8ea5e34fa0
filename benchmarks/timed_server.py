"""`streamlit run`, with what every run of the script took on the server written to a file.

    python -m benchmarks.timed_server FILE page.py --server.port 8501

Whole runs and runs of a fragment count alike: from the request's arrival in the script's thread to
its end, with all that Streamlit does there.
"""

import sys
import time
from pathlib import Path
from typing import Any

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.web import cli


def main(log: Path) -> None:
    """Serve the page that the remaining arguments name."""
    run_script = ScriptRunner._run_script

    def timed(self: ScriptRunner, rerun_data: Any) -> None:
        started = time.perf_counter()
        run_script(self, rerun_data)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{(time.perf_counter() - started) * 1_000}\n")

    ScriptRunner._run_script = timed  # type: ignore[method-assign]
    cli.main_run([*sys.argv[2:]])


if __name__ == "__main__" and len(sys.argv) > 2:
    main(Path(sys.argv[1]))
