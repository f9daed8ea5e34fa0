"""Which lecture is followed: a built-in one by name, the visitor's own, or the server's."""

from pathlib import Path

from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.lecture import Lecture, LectureError, read_lecture
from ffnviz.models.config import ASSETS, config
from ffnviz.models.text_encoding import read_text
from ffnviz.state.state import Catalog

BUILT_IN = {name: ASSETS / "lectures" / f"{name}.toml" for name in ("ffn", "course")}
OURS = BUILT_IN["ffn"]


def lecture_file(path: Path, catalog: Catalog) -> Lecture:
    """The lecture of a file; the message of a LectureError names it."""
    try:
        return read_lecture(read_text(path), catalog, FACTS)
    except OSError as error:
        raise LectureError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise LectureError(f"{path} is not a text in UTF-8.") from error
    except LectureError as error:
        raise LectureError(f"{path} is not a lecture: {error}") from error


_READ: dict[Path, Lecture] = {}  # once for all visitors


def lecture_of(catalog: Catalog, named: str = "", own: Lecture | None = None) -> Lecture:
    """The lecture of a visitor: a built-in one by its name, or else their own, or the server's."""
    if own and named not in BUILT_IN:
        return own
    path = BUILT_IN.get(named) or config().lecture or OURS
    if path not in _READ:
        _READ[path] = lecture_file(path, catalog)
    return _READ[path]
