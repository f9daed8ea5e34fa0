"""Finds the modules of a package, so that a new file needs no line anywhere else."""

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def modules(package: str, paths: Iterable[str]) -> list[ModuleType]:
    """The modules that lie directly in a package, imported, in the order of their names.

    Args:
        package: its name, ``__name__`` in its ``__init__.py``.
        paths: its folders, ``__path__`` there.
    """
    names = sorted(each.name for each in iter_modules(paths))
    return [import_module(f"{package}.{name}") for name in names]
