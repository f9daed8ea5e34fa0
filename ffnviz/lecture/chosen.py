"""Which lecture is followed: the visitor's own, the one that `ffnviz app` was given, or ours."""

from pathlib import Path

import streamlit as st

from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.reading import read_lecture
from ffnviz.lecture.scene import Lecture
from ffnviz.lecture.tables import LectureError
from ffnviz.models.assets import ASSETS
from ffnviz.models.config import config
from ffnviz.state.state import Catalog

OURS = ASSETS / "lectures" / "ffn.toml"
OWN = "own_lecture"


def lecture_file(path: Path, catalog: Catalog) -> Lecture:
    """The lecture of a file.

    Raises:
        LectureError: if it cannot be read or is none; the message names the file.
    """
    try:
        return read_lecture(path.read_text(encoding="utf-8"), catalog, FACTS)
    except OSError as error:
        raise LectureError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise LectureError(f"{path} is not a text in UTF-8.") from error
    except LectureError as error:
        raise LectureError(f"{path} is no lecture: {error}") from error


@st.cache_resource(show_spinner=False)
def _of_server(path: Path, _catalog: Catalog) -> Lecture:
    return lecture_file(path, _catalog)


def lecture_of(catalog: Catalog) -> Lecture:
    """The lecture of this visitor.

    Raises:
        LectureError: if the server's file is gone, or is none any more.
    """
    own: Lecture | None = st.session_state.get(OWN)
    return own or _of_server(config().lecture or OURS, catalog)
