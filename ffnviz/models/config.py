"""What this server shows and how it answers: one value, made once by the command line.

Each process that the server starts is handed the same, pickled.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class NetworkRequest:
    """A network of somebody else that is to be shown.

    Attributes:
        name: a folder, or a name on the Hugging Face Hub.
        dtype: "float32" or "bfloat16"; None takes what its size suggests.
        revision: on the Hub; None takes the newest.
    """

    name: str
    dtype: str | None = None
    revision: str | None = None


@dataclass(frozen=True)
class Config:
    """What this server shows and how it answers.

    Attributes:
        networks: other people's, the first of them first.
        twins: whether ours are shown too.
        indexes: files of neurons that take the place of the usual ones.
        descriptions: networks' ids, each with a file of what others say of its neurons.
        saes: networks' ids, each with a folder of a dictionary of its features.
        lecture: the file of the lecture; None: ours.
        has_classes: whether classes can be opened here.
        class_store: where they are kept, a file or an address; empty: a file of this user's.
        hosts: the names that it answers to, in lower case; none: any.
        frame_ancestors: whose pages may show it in a frame.
        origins: other sites whose pages may open sessions.
        learned: the folder of networks that visitors have trained; None: none are kept.
        train_minutes: of the processor, that one training on the page Learn may take; 0: there is
            none.
        without_patches: what to leave of Streamlit as it is.
    """

    networks: tuple[NetworkRequest, ...] = ()
    twins: bool = True
    indexes: tuple[Path, ...] = ()
    descriptions: tuple[tuple[str, Path], ...] = ()
    saes: tuple[tuple[str, Path], ...] = ()
    lecture: Path | None = None
    has_classes: bool = False
    class_store: str = ""
    hosts: tuple[str, ...] = ()
    frame_ancestors: str = "'self'"
    origins: tuple[str, ...] = ()
    learned: Path | None = None
    train_minutes: float = 3.0
    without_patches: tuple[str, ...] = ()


LECTURE = "FFNVIZ_LECTURE"
CLASS_STORE = "FFNVIZ_CLASS_STORE"
ALLOWED_HOSTS = "FFNVIZ_ALLOWED_HOSTS"
FRAME_ANCESTORS = "FFNVIZ_FRAME_ANCESTORS"
ORIGINS = "FFNVIZ_ORIGINS"
TRAIN_MINUTES = "FFNVIZ_TRAIN_MINUTES"
WITHOUT_PATCHES = "FFNVIZ_WITHOUT_PATCHES"


def config_from_environment(environment: Mapping[str, str] = os.environ) -> Config:
    """What whoever runs the server has set; `docs/deploy.md` lists the variables."""
    lecture = environment.get(LECTURE)
    return Config(
        lecture=Path(lecture) if lecture else None,
        class_store=environment.get(CLASS_STORE, ""),
        hosts=tuple(environment.get(ALLOWED_HOSTS, "").lower().split()),
        frame_ancestors=environment.get(FRAME_ANCESTORS) or Config.frame_ancestors,
        origins=tuple(environment.get(ORIGINS, "").split()),
        without_patches=tuple(environment.get(WITHOUT_PATCHES, "").replace(",", " ").split()),
    )


_used: list[Config] = []
_usual = cache(config_from_environment)


def config() -> Config:
    """The one of this process."""
    return _used[-1] if _used else _usual()


def use(asked: Config) -> None:
    """Have this process obey it from now on."""
    _used[:] = [asked]
