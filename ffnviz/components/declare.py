"""Registering a component whose .js and .css lie in this folder under its name."""

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st


@cache
def _registered(name: str) -> Callable[..., Any]:
    return st.components.v2.component(f"ffnviz.{name}", js=f"{name}.js", css=f"{name}.css")


def declare(name: str) -> Callable[..., Any]:
    """The mounting command of a component listed in pyproject.toml.

    It is registered when first mounted, not on import: only a running Streamlit knows the asset
    folder, and the package must import without one.
    """
    return lambda **arguments: _registered(name)(**arguments)
