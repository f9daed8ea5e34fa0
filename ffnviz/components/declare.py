"""The one Streamlit component there is: it hangs a picture of ffnviz/pictures into the page."""

import logging
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import streamlit as st
from numpy.typing import NDArray

from ffnviz.components.payload import pack

_SERVER_LOG = "streamlit.web.server.starlette.starlette_routes"


@cache
def _registered() -> Callable[..., Any]:
    return st.components.v2.component("ffnviz.picture", js="adapter.js")


def declare(name: str) -> Callable[..., Any]:
    """The mounting command of a picture, by its name in shell.js.

    It takes `data` as JSON values, `arrays` to go with them if there are any, and the rest as
    Streamlit's own. The component is registered when first mounted, not on import: only a running
    Streamlit knows the asset folder, and the package must import without one.
    """

    def mount(
        data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None = None, **more: Any
    ) -> Any:
        named = {"picture": name, **data}
        return _registered()(data=named if arrays is None else pack(named, arrays), **more)

    return mount


def _without_trace(record: logging.LogRecord) -> bool:
    """A file that is not there is answered with 404; one line in the log says enough."""
    if record.exc_info and isinstance(record.exc_info[1], FileNotFoundError):
        record.exc_info = None
    return True


logging.getLogger(_SERVER_LOG).addFilter(_without_trace)
