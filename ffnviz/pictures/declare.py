"""The one Streamlit component there is: it hangs a picture of ffnviz/pictures/static into the page.

Whoever makes a page of another kind, such as an offline file, has the pictures collected instead.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import streamlit as st
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.payload import pack

_SERVER_LOG = "streamlit.web.server.starlette.starlette_routes"


@dataclass(frozen=True)
class Collected:
    """What a picture would have been sent.

    Attributes:
        name: the picture's, in shell.js.
        key: what the page calls it.
        data: JSON values.
        arrays: that go with them.
    """

    name: str
    key: str
    data: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)


_COLLECTOR: ContextVar[list[Collected] | None] = ContextVar("collector", default=None)


@contextmanager
def collected() -> Iterator[list[Collected]]:
    """Within this, pictures are put into the list, and none is shown."""
    pictures: list[Collected] = []
    token = _COLLECTOR.set(pictures)
    try:
        yield pictures
    finally:
        _COLLECTOR.reset(token)


def is_collecting() -> bool:
    """Whether pictures are collected now, so that nobody waits for another run of the page."""
    return _COLLECTOR.get() is not None


@cache
def _registered() -> Callable[..., Any]:
    mounted = st.components.v2.component("ffnviz.picture", js="adapter.js")

    def mount(data: Any, **more: Any) -> Any:
        # In a list: of an object, Streamlit would look at each value whether it is a table.
        return mounted(data=data if isinstance(data, bytes) else [data], **more)

    return mount


def declare(name: str) -> Callable[..., Any]:
    """The mounting command of a picture, by its name in shell.js.

    It takes `data` as JSON values, `arrays` to go with them if there are any, and the rest as
    Streamlit's own. The component is registered when first mounted, not on import: only a running
    Streamlit knows the asset folder, and the package must import without one.
    """

    def mount(
        data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None = None, **more: Any
    ) -> Any:
        collector = _COLLECTOR.get()
        if collector is not None:
            collector.append(Collected(name, str(more.get("key", "")), data, arrays or {}))
            return None
        named = {"picture": name, **data}
        return _registered()(data=named if arrays is None else pack(named, arrays), **more)

    return mount


def mount_cell(cell: Cell, stamp: str) -> None:
    """Hang one picture into the page by itself."""
    key = cell.key

    def heard(name: str, act: Callable[[Any], Any]) -> Callable[[], None]:
        return lambda: act(getattr(st.session_state[key], name))

    callbacks = {f"on_{name}_change": heard(name, act) for name, act in cell.events.items()}
    data = {**cell.data, "stamp": stamp}
    declare(cell.picture)(data, cell.arrays or None, key=key, **callbacks)


def _without_trace(record: logging.LogRecord) -> bool:
    """A file that is not there is answered with 404; one line in the log says enough."""
    if record.exc_info and isinstance(record.exc_info[1], FileNotFoundError):
        record.exc_info = None
    return True


logging.getLogger(_SERVER_LOG).addFilter(_without_trace)
