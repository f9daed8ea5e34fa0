"""Classes kept in one SQLite file, which all processes of a machine read and write.

Nothing of a class is left in it once the class is over: deleted rows are overwritten.
"""

import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

from ffnviz.lecture.classroom import sqlite_people
from ffnviz.lecture.classroom.door import pass_door, ticket_of
from ffnviz.lecture.classroom.errors import MUST_FOLLOW, NoSuchClassError
from ffnviz.lecture.classroom.limits import LIVES_S, MOST_OPTIONS, sentence_text
from ffnviz.lecture.classroom.live_class import NOWHERE, ClassPosition, LiveClass, Sentence, counted
from ffnviz.lecture.classroom.secret import Opened, check_lecturer, is_secret, sum_of
from ffnviz.lecture.classroom.sqlite_file import ClassFile


class SqliteStore:
    """The classes of one file."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.clock = clock
        self._file = ClassFile(path)

    def ready(self) -> None:
        """Check that the file can be read and written."""
        with self._file.changing():
            pass

    def open(self, lecture: str) -> Opened:
        """A new class, which is shown this lecture (the text of its file)."""
        opened = Opened.new()
        self.sweep()
        with self._file.changing() as db:
            db.execute(
                "INSERT INTO class VALUES (?, ?, ?, 1, 0, ?, '[]', ?)",
                (opened.code, sum_of(opened.secret), self.clock(), NOWHERE, lecture),
            )
        return opened

    def sweep(self) -> None:
        """Delete all that is left of classes that are over."""
        outdated = "SELECT code FROM class WHERE touched <= ?"
        with self._file.changing() as db:
            for row in db.execute(outdated, (self.clock() - LIVES_S,)).fetchall():
                self._delete(db, row["code"])
        # Always: a reader at the time when a class ended has kept its sentences in the log.
        self._file.empty_the_log()

    def course(self, code: str) -> LiveClass:
        """The class as it is now."""
        votes = "SELECT scene, option, count(*) FROM vote WHERE code = ? GROUP BY scene, option"
        sentences = "SELECT count(*) FROM sentence WHERE code = ? AND hidden = ?"
        with self._file.reading() as db:
            row, (closed, lists) = self._row(db, code), sqlite_people.door(db, code)
            return LiveClass(
                code,
                row["revision"],
                row["moved"],
                ClassPosition.from_text(row["place"]),
                frozenset(json.loads(row["revealed"])),
                counted(db.execute(votes, (code,))),
                sqlite_people.people(db, code, self.clock()),
                db.execute(sentences, (code, 0)).fetchone()[0],
                closed,
                db.execute(sentences, (code, 1)).fetchone()[0],
                lists,
            )

    def lecture(self, code: str) -> str:
        """The text of its lecture's file."""
        with self._file.reading() as db:
            return str(self._row(db, code)["lecture"])

    def is_lecturer(self, code: str, secret: str) -> bool:
        """Whether the secret is the class's."""
        with self._file.reading() as db:
            return is_secret(secret, self._row(db, code)["secret"])

    def move(
        self, code: str, secret: str, place: ClassPosition, lecture: str | None = None
    ) -> None:
        """Note where the lecturer is now, and perhaps another lecture."""
        with self._file.changing() as db:
            row = self._row_for_lecturer(db, code, secret)
            position = place.to_text()
            if position == row["place"] and lecture in (None, row["lecture"]):
                return
            db.execute(
                "UPDATE class SET place = ?, moved = moved + 1, lecture = coalesce(?, lecture) "
                "WHERE code = ?",
                (position, lecture, code),
            )
            self._touch(db, code)

    def reveal(self, code: str, secret: str, scene: int) -> None:
        """Show the answers to a scene's question."""
        with self._file.changing() as db:
            row = self._row_for_lecturer(db, code, secret)
            revealed = sorted({*json.loads(row["revealed"]), scene})
            db.execute("UPDATE class SET revealed = ? WHERE code = ?", (json.dumps(revealed), code))
            self._touch(db, code)

    def hide(self, code: str, secret: str, number: int, hidden: bool = True) -> None:
        """Hide a student's sentence, or show it again."""
        with self._file.changing() as db:
            self._row_for_lecturer(db, code, secret)
            db.execute(
                "UPDATE sentence SET hidden = ? WHERE code = ? AND number = ?",
                (int(hidden), code, number),
            )
            self._touch(db, code)

    def end(self, code: str, secret: str) -> None:
        """End the class and delete it."""
        with self._file.changing() as db:
            self._row_for_lecturer(db, code, secret)
            self._delete(db, code)
        self._file.empty_the_log()

    def set_door(self, code: str, secret: str, closed: bool) -> None:
        """Close the door to all who were not there before, or open it."""
        with self._file.changing() as db:
            self._row_for_lecturer(db, code, secret)
            sqlite_people.set_door(db, code, closed)
            self._touch(db, code)

    def remove_all(self, code: str, secret: str) -> None:
        """Remove everybody, with their answers and sentences, and void their tickets."""
        with self._file.changing() as db:
            self._row_for_lecturer(db, code, secret)
            sqlite_people.remove_all(db, code)
            self._touch(db, code)

    def ticket(self, code: str, student: str) -> str:
        """What lets a student in; only a page's session gives it to them."""
        with self._file.reading() as db:
            row, (_, lists) = self._row(db, code), sqlite_people.door(db, code)
            return ticket_of(row["secret"], lists, student)

    def come(
        self, code: str, student: str, ticket: str, admit: Callable[[], None] = lambda: None
    ) -> None:
        """Let a student in, unless the door is closed to them."""
        with self._file.changing() as db:
            secret_hash = self._row(db, code)["secret"]
            known = sqlite_people.last_seen(db, code, student) is not None
            pass_door(student, ticket, secret_hash, sqlite_people.door(db, code), known, admit)
            sqlite_people.let_in(db, code, student, self.clock())

    def stay(self, code: str, students: Iterable[str]) -> None:
        """Note that students who came are still there."""
        with self._file.changing() as db:
            self._row(db, code)
            sqlite_people.see(db, code, students, self.clock(), self.clock())

    def leave(self, code: str, student: str) -> None:
        """Free the place of a student who has left; they may come back."""
        with self._file.changing() as db:
            self._row(db, code)
            sqlite_people.see(db, code, [student], 0.0, self.clock())

    def vote(self, code: str, student: str, scene: int, option: int) -> None:
        """Note a student's answer, which may be changed until all are revealed."""
        with self._file.changing() as db:
            row = self._row_for_student(db, code, student)
            if scene in json.loads(row["revealed"]) or not 0 <= option < MOST_OPTIONS:
                return
            db.execute(
                "INSERT INTO vote VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET option = excluded.option",
                (code, scene, student, option),
            )
            self._touch(db, code)

    def say(self, code: str, student: str, text: str) -> None:
        """Keep a student's sentence, hidden, in place of an earlier one; empty takes it back."""
        with self._file.changing() as db:
            self._row_for_student(db, code, student)
            text = sentence_text(text)
            db.execute("DELETE FROM sentence WHERE code = ? AND who = ?", (code, student))
            if text:
                db.execute(
                    "INSERT INTO sentence SELECT ?, 1 + coalesce(max(number), 0), ?, ?, 1 "
                    "FROM sentence WHERE code = ?",
                    (code, student, text, code),
                )
            self._touch(db, code)

    def sentences(self, code: str) -> list[Sentence]:
        """All that were sent in, in their order."""
        ordered = "SELECT number, text, hidden FROM sentence WHERE code = ? ORDER BY number"
        with self._file.reading() as db:
            self._row(db, code)
            rows = db.execute(ordered, (code,)).fetchall()
        return [Sentence(row["number"], row["text"], bool(row["hidden"])) for row in rows]

    def changes(self) -> AsyncIterator[str | None]:
        """None whenever another connection has changed the file."""
        return self._file.changes()

    def _row(self, db: sqlite3.Connection, code: str) -> sqlite3.Row:
        row: sqlite3.Row | None = db.execute(
            "SELECT * FROM class WHERE code = ? AND touched > ?", (code, self.clock() - LIVES_S)
        ).fetchone()
        if row is None:
            raise NoSuchClassError
        return row

    def _row_for_lecturer(self, db: sqlite3.Connection, code: str, secret: str) -> sqlite3.Row:
        """The class, if that is its lecturer's secret."""
        row = self._row(db, code)
        check_lecturer(secret, row["secret"])
        return row

    def _row_for_student(self, db: sqlite3.Connection, code: str, student: str) -> sqlite3.Row:
        """The class, if that student is in it."""
        row = self._row(db, code)
        if sqlite_people.last_seen(db, code, student) is None:
            raise NoSuchClassError(MUST_FOLLOW)
        return row

    def _touch(self, db: sqlite3.Connection, code: str) -> None:
        db.execute(
            "UPDATE class SET touched = ?, revision = revision + 1 WHERE code = ?",
            (self.clock(), code),
        )

    def _delete(self, db: sqlite3.Connection, code: str) -> None:
        for table in ("class", "person", "vote", "sentence", "door"):
            db.execute(f"DELETE FROM {table} WHERE code = ?", (code,))  # noqa: S608  # names of ours
