"""Classes kept in one SQLite file, which all processes of a machine read and write.

Nothing of a class is left in it once the class is over: deleted rows are overwritten.

It has a write-ahead log (WAL), so readers wait for nobody.
"""

import asyncio
import json
import os
import sqlite3
import stat
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ffnviz.lecture.classroom.live_class import (
    AWAY_AFTER_S,
    LIVES_S,
    MOST_OPTIONS,
    MOST_PEOPLE,
    MUST_FOLLOW,
    NOWHERE,
    ClassPosition,
    ClassStoreError,
    FullClassError,
    LiveClass,
    NoSuchClassError,
    Opened,
    Sentence,
    check_lecturer,
    counted,
    is_secret,
    pass_door,
    sentence_text,
    sum_of,
    ticket_of,
)

TABLES = """
CREATE TABLE IF NOT EXISTS class (code TEXT PRIMARY KEY, secret TEXT, touched REAL, revision INT,
    moved INT, place TEXT, revealed TEXT, lecture TEXT);
CREATE TABLE IF NOT EXISTS person (code TEXT, who TEXT, seen REAL, PRIMARY KEY (code, who));
CREATE TABLE IF NOT EXISTS vote (code TEXT, scene INT, who TEXT, option INT,
    PRIMARY KEY (code, scene, who));
CREATE TABLE IF NOT EXISTS sentence (code TEXT, number INT, who TEXT, text TEXT, hidden INT,
    PRIMARY KEY (code, who));
CREATE TABLE IF NOT EXISTS door (code TEXT PRIMARY KEY, closed INT, lists INT);
"""
BUSY_MS = 5_000
MAPPED = 16 * 2**20  # bytes of the file that are read without copying
LOOK_EVERY_S = 0.2  # between two looks whether the file has changed, a few microseconds each
AGAIN_S = 1.0  # between two tries to connect


def usual_path() -> Path:
    """A file in a folder of this user alone, where a restarted server finds it.

    Raises:
        ClassStoreError: if the folder is somebody else's.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"ffnviz-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
        raise ClassStoreError(f"{folder} is not this user's folder.")
    folder.chmod(0o700)
    return folder / "classes.sqlite"


class ClassFile:
    """The SQLite file, with a connection for each thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._own = threading.local()
        self._change = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection.

        Raises:
            ClassStoreError: if the file cannot be used, also within the block.
        """
        try:
            if not hasattr(self._own, "db"):
                self._own.db = self._connected()
            yield self._own.db
        except sqlite3.Error as error:
            raise ClassStoreError(f"{self.path} cannot be used ({error}).") from error

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection in a transaction.

        Threads take turns: SQLite waits by trying again later and later, so that of a thousand
        votes at once some took seconds.
        """
        with self._change, self.reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def empty_the_log(self) -> None:
        """Remove deleted rows from the write-ahead log, too, unless somebody is reading it."""
        with self.reading() as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    async def changes(self) -> AsyncIterator[str | None]:
        """None whenever another connection has changed the file."""
        while True:
            try:
                # Its own connection, as none notices changes that it made itself.
                with closing(self._connected()) as db:
                    seen = -1
                    while True:
                        version = int(db.execute("PRAGMA data_version").fetchone()[0])
                        if version != seen:
                            seen = version
                            yield None
                        await asyncio.sleep(LOOK_EVERY_S)
            except sqlite3.Error:
                await asyncio.sleep(AGAIN_S)

    def _connected(self) -> sqlite3.Connection:
        try:
            new = not self.path.exists()
            db = sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_MS / 1_000)
            if new:
                self.path.chmod(0o600)
        except OSError as error:
            raise sqlite3.OperationalError(str(error)) from error
        db.row_factory = sqlite3.Row
        for pragma in (
            "journal_mode = WAL",
            "synchronous = OFF",
            "secure_delete = ON",
            f"mmap_size = {MAPPED}",
            f"busy_timeout = {BUSY_MS}",
        ):
            db.execute(f"PRAGMA {pragma}")
        db.executescript(TABLES)
        return db


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
            row, (closed, lists) = self._row(db, code), door(db, code)
            return LiveClass(
                code,
                row["revision"],
                row["moved"],
                ClassPosition.from_text(row["place"]),
                frozenset(json.loads(row["revealed"])),
                counted(db.execute(votes, (code,))),
                people(db, code, self.clock()),
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
            set_door(db, code, closed)
            self._touch(db, code)

    def remove_all(self, code: str, secret: str) -> None:
        """Remove everybody, with their answers and sentences, and void their tickets."""
        with self._file.changing() as db:
            self._row_for_lecturer(db, code, secret)
            remove_all(db, code)
            self._touch(db, code)

    def ticket(self, code: str, student: str) -> str:
        """What lets a student in; only a page's session gives it to them."""
        with self._file.reading() as db:
            row, (_, lists) = self._row(db, code), door(db, code)
            return ticket_of(row["secret"], lists, student)

    def come(
        self, code: str, student: str, ticket: str, admit: Callable[[], None] = lambda: None
    ) -> None:
        """Let a student in, unless the door is closed to them."""
        with self._file.changing() as db:
            secret_hash = self._row(db, code)["secret"]
            known = last_seen(db, code, student) is not None
            pass_door(student, ticket, secret_hash, door(db, code), known, admit)
            let_in(db, code, student, self.clock())

    def stay(self, code: str, students: Iterable[str]) -> None:
        """Note that students who came are still there."""
        with self._file.changing() as db:
            self._row(db, code)
            see(db, code, students, self.clock(), self.clock())

    def leave(self, code: str, student: str) -> None:
        """Free the place of a student who has left; they may come back."""
        with self._file.changing() as db:
            self._row(db, code)
            see(db, code, [student], 0.0, self.clock())

    def vote(self, code: str, student: str, scene: int, option: int) -> bool:
        """Whether a student's answer counts: it may be changed until all are revealed."""
        with self._file.changing() as db:
            row = self._row_for_student(db, code, student)
            if scene in json.loads(row["revealed"]) or not 0 <= option < MOST_OPTIONS:
                return False
            db.execute(
                "INSERT INTO vote VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET option = excluded.option",
                (code, scene, student, option),
            )
            self._touch(db, code)
        return True

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
        if last_seen(db, code, student) is None:
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
