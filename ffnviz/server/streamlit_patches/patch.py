"""What every patch has: a switch, a sentence when Streamlit has changed, and a page without it."""

import logging
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from types import ModuleType
from typing import ParamSpec, TypeVar

import streamlit as st

from ffnviz.models.config import config

ALL = "all"

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

log = logging.getLogger(__name__)
_failed: set[str] = set()


class StreamlitChangedError(RuntimeError):
    """Streamlit is not what a patch expects it to be."""


def expect(holds: object, what: str) -> None:
    """Go on only if Streamlit is as a patch needs it; else raises StreamlitChangedError."""
    if not holds:
        raise StreamlitChangedError(f"it expects that {what}")


def is_off(name: str) -> bool:
    """Whether a patch was switched off, or has failed in this process."""
    off = config().without_patches
    return name in _failed or name in off or ALL in off


def check(name: str) -> ModuleType:
    """The module of a patch; raises StreamlitChangedError if it does not fit this Streamlit."""
    try:
        module = import_module(f"{__package__}.{name}")
        module.check()
    except Exception as error:
        why = f"The patch {name} does not fit Streamlit {st.__version__}: {error}."
        raise StreamlitChangedError(why) from error
    return module


_checked = cache(check)


def apply(name: str) -> None:
    """Apply a patch, unless it is switched off; if it does not fit, one line says so."""
    if is_off(name):
        return
    try:
        _checked(name).apply()
    except Exception as error:
        without(name, error)


def without(name: str, error: Exception) -> None:
    """Go on without a patch from now on, and say so in the log, once."""
    if name not in _failed:
        _failed.add(name)
        log.warning("Pages are served without the patch %s. %s", name, error)


def guarded(otherwise: S) -> Callable[[Callable[P, R]], Callable[P, R | S]]:
    """Decorate what reads Streamlit; where its patch is off or fails, it returns `otherwise`."""

    def decorate(look: Callable[P, R]) -> Callable[P, R | S]:
        name = look.__module__.rpartition(".")[2]

        @wraps(look)
        def looked(*args: P.args, **more: P.kwargs) -> R | S:
            if not is_off(name):
                try:
                    return look(*args, **more)
                except Exception as error:
                    without(name, error)
            return otherwise

        return looked

    return decorate
