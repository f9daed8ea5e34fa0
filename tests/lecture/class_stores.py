"""Both stores of classes, each with a clock that a test can move on."""

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, Protocol

import pytest
import redis

from ffnviz.lecture.classroom.store import ClassStore
from ffnviz.lecture.classroom.store_redis import RedisStore
from ffnviz.lecture.classroom.store_sqlite import SqliteStore

P = ParamSpec("P")
ANNA, BEN = "a" * 32, "b" * 32  # two students
START_S = 30
FIND = Path(__file__).with_name("redis-server.sh")


class Kept(Protocol):
    """Somewhere classes are kept."""

    store: ClassStore  # what is asked

    def another(self) -> ClassStore:
        """What another process asks."""

    def pass_time(self, seconds: float) -> None:
        """As if so long had passed."""

    def written(self) -> bytes:
        """All that is kept, of whatever class."""


def come(store: ClassStore, code: str, who: str) -> None:
    """As a page does that was given a ticket."""
    store.come(code, who, store.ticket(code, who))


def run_alone(work: Coroutine[Any, Any, None]) -> None:
    """In a loop of its own: the browser's may run in this thread."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, asyncio.wait_for(work, 20)).result()


def alone(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test of what is awaited."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        run_alone(test(*args, **kwargs))

    return run


class InFile:
    """A SQLite file."""

    def __init__(self, folder: Path) -> None:
        self.path, self.now = folder / "classes.sqlite", 1_000_000.0
        self.store: ClassStore = self.another()

    def another(self) -> ClassStore:
        return SqliteStore(self.path, lambda: self.now)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def written(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.path.parent.iterdir())


class InRedis:
    """A Redis, whose clock is moved on by having everything happen earlier."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.redis: Any = redis.Redis.from_url(url, decode_responses=True)
        self.redis.flushall()
        self.store: ClassStore = self.another()

    def another(self) -> ClassStore:
        return RedisStore(self.url)

    def pass_time(self, seconds: float) -> None:
        for key in self.redis.keys("*"):
            left = self.redis.pttl(key)
            assert left >= 0, f"{key} never goes away"
            self.redis.pexpire(key, int(left - 1_000 * seconds))
        for key in self.redis.keys("*:people"):
            for who, _ in self.redis.zrange(key, 0, -1, withscores=True):
                self.redis.zincrby(key, -seconds, who)

    def written(self) -> bytes:
        read = {"hash": "hgetall", "zset": "zrange", "set": "smembers", "string": "get"}
        found = []
        for key in self.redis.keys("*"):
            kind = self.redis.type(key)
            places = (0, -1) if kind == "zset" else ()
            found.append((key, getattr(self.redis, read[kind])(key, *places)))
        return repr(found).encode()


@contextmanager
def redis_server(folder: Path, port: int | None = None) -> Iterator[str]:
    """The address of a Redis of our own, until the block ends."""
    found = subprocess.run(["sh", FIND], stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode:
        if os.environ.get("CI") == "true":
            pytest.fail("With CI=true a missing redis-server is a failure.")
        pytest.skip("there is no redis-server here")
    if port is None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    server = subprocess.Popen([found.stdout.strip(), *options], stdout=subprocess.DEVNULL)
    url, end = f"redis://127.0.0.1:{port}", time.monotonic() + START_S
    try:
        while True:
            try:
                with redis.Redis.from_url(url) as asked:
                    asked.ping()
                break
            except redis.ConnectionError:
                assert time.monotonic() < end, "redis-server does not answer"
                time.sleep(0.02)
        yield url
    finally:
        server.terminate()
        server.wait()
