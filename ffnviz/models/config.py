"""What this server shows and how it answers: one value, made once by the command line.

Each process that the server starts is handed the same, pickled.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from os import environ
from pathlib import Path
from typing import Any

_PACKED = Path(__file__).parents[1] / "top"  # only in a wheel; setup.py says what goes there
TOP = _PACKED if _PACKED.is_dir() else Path(__file__).parents[2]
ASSETS = TOP / "assets"


def install(extra: str) -> str:
    """The command that installs what an extra of pyproject.toml needs.

    It names the packages and not `ffnviz[extra]`: pip would look for that in an index, but ffnviz
    may have come from a folder.
    """
    try:
        requirements = [line.partition(";") for line in requires("ffnviz") or ()]
    except PackageNotFoundError:  # a checkout that was never installed
        requirements = []
    of_extra = re.compile(rf"""extra\s*==\s*['"]{extra}['"]""")
    names = [name.strip() for name, _, marker in requirements if of_extra.search(marker)]
    return "pip install " + " ".join(f"'{name}'" for name in names or [f"{TOP}[{extra}]"])


def optional(package: str, what: str) -> Any:
    """A package that `what` needs and an extra of its name installs; ImportError in a sentence."""
    try:
        return import_module(package)
    except ImportError as error:
        advice = f"{what} needs the package {package}. Install it: {install(package)}"
        raise ImportError(advice) from error


@dataclass(frozen=True)
class NetworkRequest:
    """A network of somebody else that is to be shown."""

    name: str  # a folder, or a name on the Hugging Face Hub
    dtype: str | None = None  # "float32" or "bfloat16"; None takes what its size suggests
    revision: str | None = None  # on the Hub; None takes the newest


@dataclass(frozen=True)
class Config:
    """What this server shows and how it answers."""

    networks: tuple[NetworkRequest, ...] = ()  # other people's, in the order of the page
    twins: bool = True  # whether ours are shown too
    indexes: tuple[Path, ...] = ()  # index files that take the place of the usual ones
    descriptions: tuple[tuple[str, Path], ...] = ()  # network ids and files of others' descriptions
    saes: tuple[tuple[str, Path], ...] = ()  # network ids and folders of sparse autoencoders
    lecture: Path | None = None  # its file; None takes ours
    has_classes: bool = False  # whether classes can be opened here
    class_store: str = ""  # where classes are kept, a file or an address; "" takes the user's file
    hosts: tuple[str, ...] = ()  # the host names that it answers to, in lower case; () allows any
    frame_ancestors: str = "'self'"  # whose pages may show it in a frame
    origins: tuple[str, ...] = ()  # other sites whose pages may open sessions
    learned: Path | None = None  # the folder of networks that visitors train; None keeps none
    train_minutes: float = 3.0  # of a core, that one training on the page Learn may take; 0: none
    without_patches: tuple[str, ...] = ()  # patches of Streamlit that are left out


WITHOUT_PATCHES = "FFNVIZ_WITHOUT_PATCHES"
# The environment variables of these fields, and how each is read where there is no command line.
# With None, only the command line reads it: what it names must be opened first, and checked.
VARIABLES: dict[str, tuple[str, Callable[[str], Any] | None]] = {
    "networks": ("FFNVIZ_MODEL", None),
    "indexes": ("FFNVIZ_INDEX", None),
    "descriptions": ("FFNVIZ_DESCRIPTIONS", None),
    "saes": ("FFNVIZ_SAE", None),
    "lecture": ("FFNVIZ_LECTURE", Path),
    "class_store": ("FFNVIZ_CLASS_STORE", str),
    "hosts": ("FFNVIZ_ALLOWED_HOSTS", lambda text: tuple(text.lower().split())),
    "frame_ancestors": ("FFNVIZ_FRAME_ANCESTORS", str),
    "origins": ("FFNVIZ_ORIGINS", lambda text: tuple(text.split())),
    "train_minutes": ("FFNVIZ_TRAIN_MINUTES", None),
    "without_patches": (WITHOUT_PATCHES, lambda text: tuple(text.replace(",", " ").split())),
}


def config_from_environment() -> Config:
    """The configuration that environment variables ask for; `docs/deploy.md` lists them."""
    values = dict[str, Any]()
    for name, (variable, read) in VARIABLES.items():
        text = environ.get(variable)
        if text and read:
            values[name] = read(text)
    return Config(**values)


_current: list[Config] = []
_default = cache(config_from_environment)


def config() -> Config:
    """The configuration of this process."""
    return _current[-1] if _current else _default()


def use(wanted: Config) -> None:
    """Make a configuration that of this process."""
    _current[:] = [wanted]
