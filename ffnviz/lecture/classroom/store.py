"""Where classes are kept: one SQLite file, which all processes of a machine read and write.

It is written ahead (WAL), so readers wait for nobody. Nothing of a class is left in it once the
class is over: deleted rows are overwritten.
"""

import json
import os
import sqlite3
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ffnviz.lecture.classroom.course import (
    AWAY_AFTER_S,
    LIVES_S,
    LONGEST_SENTENCE,
    MOST_OPTIONS,
    MOST_PEOPLE,
    Course,
    FullClassError,
    NoSuchClassError,
    NotTheLecturerError,
    Opened,
    Place,
    Sentence,
    is_secret,
    new_code,
    new_secret,
    sum_of,
)

TABLES = """
CREATE TABLE IF NOT EXISTS class (code TEXT PRIMARY KEY, secret TEXT, touched REAL, revision INT,
    moved INT, place TEXT, revealed TEXT, lecture TEXT);
CREATE TABLE IF NOT EXISTS person (code TEXT, who TEXT, seen REAL, PRIMARY KEY (code, who));
CREATE TABLE IF NOT EXISTS vote (code TEXT, scene INT, who TEXT, option INT,
    PRIMARY KEY (code, scene, who));
CREATE TABLE IF NOT EXISTS sentence (code TEXT, number INT, who TEXT, text TEXT, hidden INT,
    PRIMARY KEY (code, who));
"""
BUSY_MS = 5_000
MAPPED = 16 * 2**20  # bytes of the file that are read without copying
LONGEST_WHO = 64


def usual_path() -> Path:
    """A file in a folder of this user's alone, where a server that starts again finds it.

    Raises:
        PermissionError: if the folder is somebody else's.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"ffnviz-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        raise PermissionError(f"{folder} is not this user's folder.")
    folder.chmod(0o700)
    return folder / "classes.sqlite"


class ClassStore:
    """The classes of one file.

    Each method may raise NoSuchClassError; those that take a secret NotTheLecturerError too.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.clock = clock
        self._own = threading.local()

    def ready(self) -> None:
        """See that the file can be read and written.

        Raises:
            OSError, sqlite3.Error: if it cannot.
        """
        with self._changing():
            pass

    def open(self, lecture: str) -> Opened:
        """A new class, which is shown this lecture (the text of its file)."""
        opened = Opened(new_code(), new_secret())
        with self._changing() as db:
            self._forget_the_old(db)
            place = json.dumps([None, {}, None, False])
            db.execute(
                "INSERT INTO class VALUES (?, ?, ?, 1, 0, ?, '[]', ?)",
                (opened.code, sum_of(opened.secret), self.clock(), place, lecture),
            )
        return opened

    def course(self, code: str) -> Course:
        """The class as it is now."""
        db = self._db
        row = self._row(db, code)
        page, query, scene, short = json.loads(row["place"])
        counts: dict[int, list[int]] = {}
        votes = "SELECT scene, option, count(*) FROM vote WHERE code = ? GROUP BY scene, option"
        for at, option, n in db.execute(votes, (code,)):
            counts.setdefault(at, [0] * MOST_OPTIONS)[option] = n
        return Course(
            code,
            row["revision"],
            row["moved"],
            Place(page or "", query, scene, bool(short)),
            frozenset(json.loads(row["revealed"])),
            counts,
            self._people(db, code),
            db.execute(
                "SELECT count(*) FROM sentence WHERE code = ? AND hidden = 0", (code,)
            ).fetchone()[0],
        )

    def revision(self, code: str) -> int:
        """Its number, which is all that who waits for a change has to ask for."""
        return int(self._row(self._db, code)["revision"])

    def lecture(self, code: str) -> str:
        """The text of its lecture's file."""
        return str(self._row(self._db, code)["lecture"])

    def is_lecturer(self, code: str, secret: str) -> bool:
        """Whether the secret is the class's."""
        return is_secret(secret, self._row(self._db, code)["secret"])

    def move(self, code: str, secret: str, place: Place, lecture: str | None = None) -> None:
        """The lecturer is elsewhere, and perhaps in another lecture."""
        with self._changing() as db:
            row = self._lecturers(db, code, secret)
            written = json.dumps([place.page, place.query, place.scene, place.short])
            if written == row["place"] and lecture in (None, row["lecture"]):
                return
            db.execute(
                "UPDATE class SET place = ?, moved = moved + 1, lecture = coalesce(?, lecture) "
                "WHERE code = ?",
                (written, lecture, code),
            )
            self._touch(db, code)

    def reveal(self, code: str, secret: str, scene: int) -> None:
        """The answers to a scene's question are shown."""
        with self._changing() as db:
            row = self._lecturers(db, code, secret)
            revealed = sorted({*json.loads(row["revealed"]), scene})
            db.execute("UPDATE class SET revealed = ? WHERE code = ?", (json.dumps(revealed), code))
            self._touch(db, code)

    def hide(self, code: str, secret: str, number: int, hidden: bool = True) -> None:
        """A student's sentence is hidden, or shown again."""
        with self._changing() as db:
            self._lecturers(db, code, secret)
            db.execute(
                "UPDATE sentence SET hidden = ? WHERE code = ? AND number = ?",
                (int(hidden), code, number),
            )
            self._touch(db, code)

    def end(self, code: str, secret: str) -> None:
        """The class is over, and gone."""
        with self._changing() as db:
            self._lecturers(db, code, secret)
            self._forget(db, code)
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def come(self, code: str, who: str) -> None:
        """A student is there, or is still there.

        Raises:
            FullClassError: if nobody else has room.
        """
        with self._changing() as db:
            self._row(db, code)
            known = db.execute(
                "SELECT seen FROM person WHERE code = ? AND who = ?", (code, who)
            ).fetchone()
            stale = known is None or known[0] < self.clock() - AWAY_AFTER_S
            if stale and self._people(db, code) >= MOST_PEOPLE:
                raise FullClassError(f"At most {MOST_PEOPLE} can follow a class.")
            db.execute(
                "INSERT INTO person VALUES (?, ?, ?) "
                "ON CONFLICT DO UPDATE SET seen = excluded.seen",
                (code, who[:LONGEST_WHO], self.clock()),
            )
            if stale:
                db.execute("UPDATE class SET revision = revision + 1 WHERE code = ?", (code,))

    def vote(self, code: str, who: str, scene: int, option: int) -> None:
        """A student's answer, which may be changed until all are revealed."""
        with self._changing() as db:
            row = self._with(db, code, who)
            if scene in json.loads(row["revealed"]) or not 0 <= option < MOST_OPTIONS:
                return
            db.execute(
                "INSERT INTO vote VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET option = excluded.option",
                (code, scene, who, option),
            )
            self._touch(db, code)

    def say(self, code: str, who: str, text: str) -> None:
        """A student's sentence, in the place of an earlier one; an empty one takes it back."""
        with self._changing() as db:
            self._with(db, code, who)
            text = " ".join(text.split())[:LONGEST_SENTENCE]
            db.execute("DELETE FROM sentence WHERE code = ? AND who = ?", (code, who))
            if text:
                db.execute(
                    "INSERT INTO sentence SELECT ?, 1 + coalesce(max(number), 0), ?, ?, 0 "
                    "FROM sentence WHERE code = ?",
                    (code, who, text, code),
                )
            self._touch(db, code)

    def sentences(self, code: str) -> list[Sentence]:
        """All that were sent in, in their order."""
        self._row(self._db, code)
        rows = self._db.execute(
            "SELECT number, text, hidden FROM sentence WHERE code = ? ORDER BY number", (code,)
        )
        return [Sentence(row["number"], row["text"], bool(row["hidden"])) for row in rows]

    @property
    def _db(self) -> sqlite3.Connection:
        """This thread's connection."""
        db: sqlite3.Connection | None = getattr(self._own, "db", None)
        if db is None:
            new = not self.path.exists()
            db = sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_MS / 1_000)
            if new:
                self.path.chmod(0o600)
            db.row_factory = sqlite3.Row
            for pragma in ("journal_mode = WAL", "synchronous = OFF", "secure_delete = ON",
                           f"mmap_size = {MAPPED}", f"busy_timeout = {BUSY_MS}"):  # fmt: skip
                db.execute(f"PRAGMA {pragma}")
            db.executescript(TABLES)
            self._own.db = db
        return db

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def _row(self, db: sqlite3.Connection, code: str) -> sqlite3.Row:
        row: sqlite3.Row | None = db.execute(
            "SELECT * FROM class WHERE code = ? AND touched > ?", (code, self.clock() - LIVES_S)
        ).fetchone()
        if row is None:
            raise NoSuchClassError("There is no class of this code, or it is over.")
        return row

    def _lecturers(self, db: sqlite3.Connection, code: str, secret: str) -> sqlite3.Row:
        row = self._row(db, code)
        if not is_secret(secret, row["secret"]):
            raise NotTheLecturerError("Only the lecturer may do this.")
        return row

    def _with(self, db: sqlite3.Connection, code: str, who: str) -> sqlite3.Row:
        """The class, if that student is in it."""
        row = self._row(db, code)
        there = "SELECT 1 FROM person WHERE code = ? AND who = ?"
        if db.execute(there, (code, who)).fetchone() is None:
            raise NoSuchClassError("Who takes part must follow the class first.")
        return row

    def _people(self, db: sqlite3.Connection, code: str) -> int:
        since = self.clock() - AWAY_AFTER_S
        seen = "SELECT count(*) FROM person WHERE code = ? AND seen >= ?"
        return int(db.execute(seen, (code, since)).fetchone()[0])

    def _touch(self, db: sqlite3.Connection, code: str) -> None:
        db.execute(
            "UPDATE class SET touched = ?, revision = revision + 1 WHERE code = ?",
            (self.clock(), code),
        )

    def _forget_the_old(self, db: sqlite3.Connection) -> None:
        old = "SELECT code FROM class WHERE touched <= ?"
        for row in db.execute(old, (self.clock() - LIVES_S,)).fetchall():
            self._forget(db, row["code"])

    def _forget(self, db: sqlite3.Connection, code: str) -> None:
        for table in ("class", "person", "vote", "sentence"):
            db.execute(f"DELETE FROM {table} WHERE code = ?", (code,))  # noqa: S608  # names of ours
