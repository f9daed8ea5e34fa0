"""Several processes that serve the same pages at one address."""

import os
import secrets
import tempfile
from functools import partial

import uvicorn
from streamlit.starlette import App
from uvicorn.supervisors import Multiprocess

from ffnviz.jobs.memory import end_with_parent
from ffnviz.models.config import Config
from ffnviz.models.encoder.folder import FOLDER as WEIGHTS_FOLDER
from ffnviz.server.application import application
from ffnviz.server.metrics import FOLDER
from ffnviz.server.streamlit_patches.compressed_messages import protocol
from ffnviz.server.streamlit_patches.message_limits import MOST_BYTES

SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"  # noqa: S105  # a name, not a secret
BACKLOG = 2_048
ALIVE_WITHIN_S = 60  # a worker that does not answer for so long is replaced


class Supervisor(Multiprocess):
    """Uvicorn's supervisor, which remembers whether Ctrl-C stopped it."""

    interrupted = False

    def handle_int(self) -> None:
        """Remember that it was Ctrl-C."""
        self.interrupted = True
        super().handle_int()


def _served(config: Config) -> App:
    end_with_parent()
    return application(config)


def serve_with(workers: int, host: str, port: int, config: Config) -> None:
    """Serve until stopped; a worker that ends is replaced.

    Streamlit and prometheus-client read what the workers must agree on from the environment.

    Raises:
        KeyboardInterrupt: if Ctrl-C ended it.
    """
    os.environ["STREAMLIT_SERVER_ADDRESS"] = host
    os.environ["STREAMLIT_SERVER_PORT"] = str(port)
    os.environ.setdefault(SECRET, secrets.token_hex())
    with tempfile.TemporaryDirectory(prefix="ffnviz-workers-") as folder:
        os.environ[FOLDER] = os.environ[WEIGHTS_FOLDER] = folder
        served = uvicorn.Config(
            partial(_served, config),
            factory=True,
            host=host,
            port=port,
            workers=workers,
            backlog=BACKLOG,
            ws=protocol(),
            ws_max_size=MOST_BYTES,
            ws_per_message_deflate=False,
            access_log=False,
            log_level="warning",
            timeout_worker_healthcheck=ALIVE_WITHIN_S,
        )
        supervisor = Supervisor(served, sockets=[served.bind_socket()])
        supervisor.run()
    if supervisor.interrupted:
        raise KeyboardInterrupt
