"""Classes kept in one SQLite file, which all processes of a machine read and write.

It has a write-ahead log (WAL), so readers wait for nobody. Nothing of a class is left in it once
the class is over: deleted rows are overwritten. `ClassStore` says what the methods do.
"""

# ruff: noqa: D102

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

from ffnviz.lecture.classroom import live_class
from ffnviz.lecture.classroom.live_class import MOST_PEOPLE

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
TABLE_NAMES = ("class", "person", "vote", "sentence", "door")
BUSY_MS = 5_000
MAPPED = 16 * 2**20  # bytes of the file that are read without copying
LOOK_EVERY_S = 0.2  # between two looks whether the file has changed, a few microseconds each
AGAIN_S = 1.0  # between two tries to connect


def usual_path() -> Path:
    """A file in a folder of this user alone, where a restarted server finds it.

    Raises ClassStoreError if the folder is somebody else's.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"ffnviz-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
        raise live_class.ClassStoreError(f"{folder} is not this user's folder.")
    folder.chmod(0o700)
    return folder / "classes.sqlite"


class SqliteStore:
    """The classes of one file, with a connection for each thread."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path, self.clock = path, clock
        self._own = threading.local()
        self._change = threading.Lock()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection; what goes wrong in the block is a ClassStoreError."""
        try:
            if not hasattr(self._own, "db"):
                self._own.db = self._connected()
            yield self._own.db
        except sqlite3.Error as error:
            raise live_class.ClassStoreError(f"{self.path} cannot be used ({error}).") from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection in a transaction.

        Threads take turns: SQLite waits by trying again later and later, so that of a thousand
        votes at once some took seconds.
        """
        with self._change, self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    @contextmanager
    def _led(self, code: str, secret: str) -> Iterator[tuple[sqlite3.Connection, sqlite3.Row]]:
        """A transaction of the lecturer's, with the class; it puts off the end of the class."""
        with self._changing() as db:
            yield db, self._row_for_lecturer(db, code, secret)
            self._touch(db, code)

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

    def _empty_the_log(self) -> None:
        """Remove deleted rows from the write-ahead log, too, unless somebody is reading it."""
        with self._reading() as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    async def changes(self) -> AsyncIterator[str | None]:
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

    def ready(self) -> None:
        with self._changing():
            pass

    def open(self, lecture: str) -> live_class.Opened:
        opened = live_class.Opened.new()
        self.sweep()
        secret_hash = live_class.sum_of(opened.secret)
        with self._changing() as db:
            db.execute(
                "INSERT INTO class VALUES (?, ?, ?, 1, 0, ?, '[]', ?)",
                (opened.code, secret_hash, self.clock(), live_class.NOWHERE, lecture),
            )
        return opened

    def sweep(self) -> None:
        outdated = "SELECT code FROM class WHERE touched <= ?"
        with self._changing() as db:
            for row in db.execute(outdated, (self.clock() - live_class.LIVES_S,)).fetchall():
                _delete(db, TABLE_NAMES, row["code"])
        # Always: a reader at the time when a class ended has kept its sentences in the log.
        self._empty_the_log()

    def course(self, code: str) -> live_class.LiveClass:
        votes = "SELECT scene, option, count(*) FROM vote WHERE code = ? GROUP BY scene, option"
        sentences = "SELECT count(*) FROM sentence WHERE code = ? AND hidden = ?"
        with self._reading() as db:
            row = self._row(db, code)
            return live_class.LiveClass(
                code,
                revision=row["revision"],
                moved=row["moved"],
                place=live_class.ClassPosition.from_text(row["place"]),
                revealed=frozenset(json.loads(row["revealed"])),
                counts=live_class.counted(db.execute(votes, (code,))),
                people=_people(db, code, self.clock()),
                sentences=db.execute(sentences, (code, 0)).fetchone()[0],
                closed=bool(row["closed"]),
                waiting=db.execute(sentences, (code, 1)).fetchone()[0],
                lists=row["lists"],
            )

    def lecture(self, code: str) -> str:
        with self._reading() as db:
            return str(self._row(db, code)["lecture"])

    def is_lecturer(self, code: str, secret: str) -> bool:
        with self._reading() as db:
            return live_class.is_secret(secret, self._row(db, code)["secret"])

    def move(
        self, code: str, secret: str, place: live_class.ClassPosition, lecture: str | None = None
    ) -> None:
        moved = (
            "UPDATE class SET place = ?, moved = moved + 1, lecture = coalesce(?, lecture) "
            "WHERE code = ?"
        )
        with self._changing() as db:
            row, position = self._row_for_lecturer(db, code, secret), place.to_text()
            if position != row["place"] or lecture not in (None, row["lecture"]):
                db.execute(moved, (position, lecture, code))
                self._touch(db, code)

    def reveal(self, code: str, secret: str, scene: int) -> None:
        with self._led(code, secret) as (db, row):
            revealed = sorted({*json.loads(row["revealed"]), scene})
            db.execute("UPDATE class SET revealed = ? WHERE code = ?", (json.dumps(revealed), code))

    def hide(self, code: str, secret: str, number: int, hidden: bool = True) -> None:
        hide = "UPDATE sentence SET hidden = ? WHERE code = ? AND number = ?"
        with self._led(code, secret) as (db, _):
            db.execute(hide, (int(hidden), code, number))

    def end(self, code: str, secret: str) -> None:
        with self._led(code, secret) as (db, _):
            _delete(db, TABLE_NAMES, code)
        self._empty_the_log()

    def set_door(self, code: str, secret: str, closed: bool) -> None:
        door = (
            "INSERT INTO door VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET closed = excluded.closed"
        )
        with self._led(code, secret) as (db, _):
            db.execute(door, (code, int(closed)))

    def remove_all(self, code: str, secret: str) -> None:
        door = "INSERT INTO door VALUES (?, 0, 1) ON CONFLICT DO UPDATE SET lists = lists + 1"
        with self._led(code, secret) as (db, _):
            db.execute(door, (code,))
            _delete(db, ("person", "vote", "sentence"), code)

    def ticket(self, code: str, student: str) -> str:
        with self._reading() as db:
            row = self._row(db, code)
            return live_class.ticket_of(row["secret"], row["lists"], student)

    def come(
        self, code: str, student: str, ticket: str, admit: Callable[[], None] = lambda: None
    ) -> None:
        seen_now = (
            "INSERT INTO person VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seen = excluded.seen"
        )
        with self._changing() as db:
            row, seen = self._row(db, code), _last_seen(db, code, student)
            door = bool(row["closed"]), row["lists"]
            live_class.pass_door(student, ticket, row["secret"], door, seen is not None, admit)
            now = self.clock()
            is_new = seen is None or seen < now - live_class.AWAY_AFTER_S
            if is_new and _people(db, code, now) >= MOST_PEOPLE:
                raise live_class.FullClassError
            db.execute(seen_now, (code, student, now))
            if is_new:
                _add_revision(db, code)

    def stay(self, code: str, students: Iterable[str]) -> None:
        self._see(code, students)

    def leave(self, code: str, student: str) -> None:
        self._see(code, [student], 0.0)

    def _see(self, code: str, students: Iterable[str], at: float | None = None) -> None:
        """Note when students were last seen; None: now, once the file is this thread's."""
        seen = "UPDATE person SET seen = ? WHERE code = ? AND who = ?"
        with self._changing() as db:
            self._row(db, code)
            now = self.clock()
            before = _people(db, code, now)
            last = now if at is None else at
            db.executemany(seen, [(last, code, student) for student in students])
            if _people(db, code, now) != before:
                _add_revision(db, code)

    def vote(self, code: str, student: str, scene: int, option: int) -> bool:
        voted = (
            "INSERT INTO vote VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET option = excluded.option"
        )
        with self._changing() as db:
            row = self._row_for_student(db, code, student)
            if scene in json.loads(row["revealed"]) or not 0 <= option < live_class.MOST_OPTIONS:
                return False
            db.execute(voted, (code, scene, student, option))
            self._touch(db, code)
        return True

    def say(self, code: str, student: str, text: str) -> None:
        said = (
            "INSERT INTO sentence SELECT ?, 1 + coalesce(max(number), 0), ?, ?, 1 "
            "FROM sentence WHERE code = ?"
        )
        with self._changing() as db:
            self._row_for_student(db, code, student)
            text = live_class.sentence_text(text)
            db.execute("DELETE FROM sentence WHERE code = ? AND who = ?", (code, student))
            if text:
                db.execute(said, (code, student, text, code))
            self._touch(db, code)

    def sentences(self, code: str) -> list[live_class.Sentence]:
        ordered = "SELECT number, text, hidden FROM sentence WHERE code = ? ORDER BY number"
        with self._reading() as db:
            self._row(db, code)
            rows = db.execute(ordered, (code,)).fetchall()
        return [
            live_class.Sentence(row["number"], row["text"], bool(row["hidden"])) for row in rows
        ]

    def _row(self, db: sqlite3.Connection, code: str) -> sqlite3.Row:
        """The class, with its door: whether it is closed, and how often everybody was removed."""
        found = (
            "SELECT class.*, coalesce(closed, 0) AS closed, coalesce(lists, 0) AS lists "
            "FROM class LEFT JOIN door USING (code) WHERE code = ? AND touched > ?"
        )
        since = self.clock() - live_class.LIVES_S
        row: sqlite3.Row | None = db.execute(found, (code, since)).fetchone()
        if row is None:
            raise live_class.NoSuchClassError
        return row

    def _row_for_lecturer(self, db: sqlite3.Connection, code: str, secret: str) -> sqlite3.Row:
        """The class, if the secret is its lecturer's."""
        row = self._row(db, code)
        live_class.check_lecturer(secret, row["secret"])
        return row

    def _row_for_student(self, db: sqlite3.Connection, code: str, student: str) -> sqlite3.Row:
        """The class, if that student is in it."""
        row = self._row(db, code)
        if _last_seen(db, code, student) is None:
            raise live_class.NoSuchClassError(live_class.MUST_FOLLOW)
        return row

    def _touch(self, db: sqlite3.Connection, code: str) -> None:
        touch = "UPDATE class SET touched = ?, revision = revision + 1 WHERE code = ?"
        db.execute(touch, (self.clock(), code))


def _people(db: sqlite3.Connection, code: str, now: float) -> int:
    """The number of students who are there."""
    seen = "SELECT count(*) FROM person WHERE code = ? AND seen >= ?"
    return int(db.execute(seen, (code, now - live_class.AWAY_AFTER_S)).fetchone()[0])


def _last_seen(db: sqlite3.Connection, code: str, student: str) -> float | None:
    """When a student was last seen; None if they never came."""
    seen = "SELECT seen FROM person WHERE code = ? AND who = ?"
    row = db.execute(seen, (code, student)).fetchone()
    return None if row is None else float(row["seen"])


def _add_revision(db: sqlite3.Connection, code: str) -> None:
    db.execute("UPDATE class SET revision = revision + 1 WHERE code = ?", (code,))


def _delete(db: sqlite3.Connection, tables: Iterable[str], code: str) -> None:
    for table in tables:
        db.execute(f"DELETE FROM {table} WHERE code = ?", (code,))  # noqa: S608  # names of ours
