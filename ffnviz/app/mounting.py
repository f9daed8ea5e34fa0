"""Mounts a single picture in the page, among Streamlit's own widgets."""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.payload import pack

_SERVER_LOG = "streamlit.web.server.starlette.starlette_routes"


@cache
def _component() -> Callable[..., Any]:
    # Registered when first mounted, not on import: only a running Streamlit knows the asset folder.
    return st.components.v2.component("ffnviz.picture", js="adapter.js")


def mount_cell(cell: Cell, stamp: str = "") -> None:
    """Show one picture, which announces its stamp once it is painted."""
    key = cell.key

    def callback(name: str, act: Callable[[Any], Any]) -> Callable[[], None]:
        return lambda: act(getattr(st.session_state[key], name))

    callbacks = {f"on_{name}_change": callback(name, act) for name, act in cell.events.items()}
    data = {"picture": cell.picture, **cell.data} | ({"stamp": stamp} if stamp else {})
    _component()(data=pack(data, cell.arrays), key=key, **callbacks)


def _without_trace(record: logging.LogRecord) -> bool:
    """A file that is not there is answered with 404; one line in the log says enough."""
    if record.exc_info and isinstance(record.exc_info[1], FileNotFoundError):
        record.exc_info = None
    return True


logging.getLogger(_SERVER_LOG).addFilter(_without_trace)
