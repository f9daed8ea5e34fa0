"""A server that speaks the protocol of S3, for tests without a network."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyarrow import fs


@dataclass(frozen=True)
class Store:
    """A server; `stop` ends it."""

    host: str
    stop: Callable[[], None]

    def address(self, place: str, more: str = "") -> str:
        return f"s3://{place}?endpoint_override={self.host}&scheme=http&region=us-east-1{more}"

    def put(self, folder: Path, bucket: str) -> str:
        """A bucket with what is in a folder; its address."""
        made = self.address(bucket, "&allow_bucket_creation=true")
        system, place = fs.FileSystem.from_uri(made)
        system.create_dir(place)
        for path in folder.rglob("*"):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                with system.open_output_stream(f"{place}/{name}", compression=None) as file:
                    file.write(path.read_bytes())
        return self.address(bucket)

    def remove(self, place: str) -> None:
        system, path = fs.FileSystem.from_uri(self.address(place))
        system.delete_file(path)


@contextmanager
def serving(strict: bool = False) -> Iterator[Store]:
    """A new server; a strict one knows no access key."""
    pytest.importorskip("moto", reason="needs moto: pip install -r requirements-dev.txt")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": "0" if strict else "inf"}
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=settings,
    )  # fmt: skip

    def stop() -> None:
        server.kill()
        server.wait()

    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert server.poll() is None
                time.sleep(0.1)
        yield Store(f"127.0.0.1:{port}", stop)
    finally:
        stop()


@pytest.fixture(scope="session", autouse=True)
def keys() -> Iterator[None]:
    """Any will do; without, pyarrow asks the machine's cloud for some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        yield


@pytest.fixture(scope="session")
def store() -> Iterator[Store]:
    with serving() as made:
        yield made
