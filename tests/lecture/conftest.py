"""Both places in which classes are kept, for all tests of classes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ffnviz.lecture.classroom.live_class import Opened
from tests.lecture.class_stores import ANNA, BEN, InFile, InRedis, Kept, come, redis_server


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(params=["file", "redis"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    return InFile(tmp_path) if request.param == "file" else InRedis(request.getfixturevalue("url"))


@pytest.fixture
def opened(kept: Kept) -> Opened:
    """A class with two students."""
    opened = kept.store.open('title = "A lecture"')
    for who in (ANNA, BEN):
        come(kept.store, opened.code, who)
    return opened
