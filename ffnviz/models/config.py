"""What this server shows and how it answers: one value, made once by the command line.

Each process that the server starts is handed the same, pickled.
"""

from dataclasses import dataclass
from functools import cache
from os import environ
from pathlib import Path


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


LECTURE = "FFNVIZ_LECTURE"
CLASS_STORE = "FFNVIZ_CLASS_STORE"
ALLOWED_HOSTS = "FFNVIZ_ALLOWED_HOSTS"
FRAME_ANCESTORS = "FFNVIZ_FRAME_ANCESTORS"
ORIGINS = "FFNVIZ_ORIGINS"
TRAIN_MINUTES = "FFNVIZ_TRAIN_MINUTES"
WITHOUT_PATCHES = "FFNVIZ_WITHOUT_PATCHES"


def config_from_environment() -> Config:
    """The configuration that environment variables ask for; `docs/deploy.md` lists them."""
    lecture = environ.get(LECTURE)
    return Config(
        lecture=Path(lecture) if lecture else None,
        class_store=environ.get(CLASS_STORE, ""),
        hosts=tuple(environ.get(ALLOWED_HOSTS, "").lower().split()),
        frame_ancestors=environ.get(FRAME_ANCESTORS) or Config.frame_ancestors,
        origins=tuple(environ.get(ORIGINS, "").split()),
        without_patches=tuple(environ.get(WITHOUT_PATCHES, "").replace(",", " ").split()),
    )


_current: list[Config] = []
_default = cache(config_from_environment)


def config() -> Config:
    """The configuration of this process."""
    return _current[-1] if _current else _default()


def use(wanted: Config) -> None:
    """Make a configuration that of this process."""
    _current[:] = [wanted]
