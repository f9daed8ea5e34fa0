"""The students of a class in the SQLite file, and its door."""

import sqlite3
from collections.abc import Iterable

from ffnviz.lecture.classroom.door import FullClassError
from ffnviz.lecture.classroom.limits import AWAY_AFTER_S, MOST_PEOPLE


def door(db: sqlite3.Connection, code: str) -> tuple[bool, int]:
    """Whether nobody else is let in, and how often everybody was removed."""
    row = db.execute("SELECT closed, lists FROM door WHERE code = ?", (code,)).fetchone()
    return (bool(row["closed"]), int(row["lists"])) if row else (False, 0)


def set_door(db: sqlite3.Connection, code: str, closed: bool) -> None:
    """Close or open the door."""
    db.execute(
        "INSERT INTO door VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET closed = excluded.closed",
        (code, int(closed)),
    )


def remove_all(db: sqlite3.Connection, code: str) -> None:
    """Remove everybody, with their answers and sentences."""
    db.execute(
        "INSERT INTO door VALUES (?, 0, 1) ON CONFLICT DO UPDATE SET lists = lists + 1", (code,)
    )
    for table in ("person", "vote", "sentence"):
        db.execute(f"DELETE FROM {table} WHERE code = ?", (code,))  # noqa: S608  # names of ours


def people(db: sqlite3.Connection, code: str, now: float) -> int:
    """The number of students who are there."""
    seen = "SELECT count(*) FROM person WHERE code = ? AND seen >= ?"
    return int(db.execute(seen, (code, now - AWAY_AFTER_S)).fetchone()[0])


def last_seen(db: sqlite3.Connection, code: str, student: str) -> float | None:
    """When a student was last seen; None if they never came."""
    seen = "SELECT seen FROM person WHERE code = ? AND who = ?"
    row = db.execute(seen, (code, student)).fetchone()
    return None if row is None else float(row["seen"])


def let_in(db: sqlite3.Connection, code: str, student: str, now: float) -> None:
    """Note that a student is there.

    Raises:
        FullClassError: if the class is full.
    """
    seen = last_seen(db, code, student)
    is_new = seen is None or seen < now - AWAY_AFTER_S
    if is_new and people(db, code, now) >= MOST_PEOPLE:
        raise FullClassError
    db.execute(
        "INSERT INTO person VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seen = excluded.seen",
        (code, student, now),
    )
    if is_new:
        _add_revision(db, code)


def see(db: sqlite3.Connection, code: str, students: Iterable[str], at: float, now: float) -> None:
    """Note when students were last seen."""
    before = people(db, code, now)
    db.executemany(
        "UPDATE person SET seen = ? WHERE code = ? AND who = ?",
        [(at, code, student) for student in students],
    )
    if people(db, code, now) != before:
        _add_revision(db, code)


def _add_revision(db: sqlite3.Connection, code: str) -> None:
    db.execute("UPDATE class SET revision = revision + 1 WHERE code = ?", (code,))
