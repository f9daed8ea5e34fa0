"""The SQLite file of classes: its tables, its connections, and when it has changed.

It has a write-ahead log (WAL), so readers wait for nobody.
"""

import asyncio
import os
import sqlite3
import stat
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ffnviz.lecture.classroom.errors import ClassStoreError

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
        for pragma in ("journal_mode = WAL", "synchronous = OFF", "secure_delete = ON",
                       f"mmap_size = {MAPPED}", f"busy_timeout = {BUSY_MS}"):  # fmt: skip
            db.execute(f"PRAGMA {pragma}")
        db.executescript(TABLES)
        return db
