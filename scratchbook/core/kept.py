"""Keep text that could be made again: coloured code, drawn formulas, compiled templates.  Knows not what it keeps.

One SQLite file, since thousands of small pieces are read by each build and written by several processes at once.
It is never needed: what cannot be read is a miss, what cannot be written is made again by the next build.

SQLite is loaded where it is first used: a build that writes no page goes without it, and one that runs pages does not
hold it beside them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import sqlite3

SCHEMA: Final = "create table if not exists kept (key text primary key, digest blob, value blob) without rowid"
MOST_PIECES: Final = 50_000
WAIT_SECONDS: Final = 2.0


@dataclass(eq=False)
class Kept:
    """A map from keys to bytes in one file.

    path: absolute; its folder is made when it is not there.   A key must name all that its value depends on.
    Safe to use in processes that are forked after it was made: each opens the file for itself.
    """

    path: Path
    _connection: sqlite3.Connection | None = field(default=None, repr=False)

    def get(self, key: str) -> bytes | None:
        """Return what was kept under that key, None when it is not there or not whole."""
        row = self._ask("select digest, value from kept where key = ?", (key,))
        if row and isinstance(row[1], bytes) and digest_of(key, row[1]) == row[0]:
            return row[1]
        return None

    def put(self, key: str, value: bytes) -> None:
        """Keep a value; a store that cannot be written is left as it is."""
        self._ask("insert or replace into kept values (?, ?, ?)", (key, digest_of(key, value), value))

    def sweep(self) -> None:
        """Begin anew once there are too many pieces: all that is needed comes back with the next build."""
        row = self._ask("select count(*) from kept")
        if row and row[0] > MOST_PIECES:
            self._ask("delete from kept")
            self._ask("vacuum")

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with contextlib.suppress(connection.Error):
                connection.close()

    def __del__(self) -> None:
        """Close the file of a build that ended before it could."""
        self.close()

    def _ask(self, statement: str, values: tuple[Any, ...] = ()) -> Any:
        """Return the first row of an answer; None when there is none, or nothing can be asked."""
        import sqlite3

        for _ in range(2):
            try:
                return self._open().execute(statement, values).fetchone()
            except (sqlite3.Error, OSError) as error:
                if type(error) is not sqlite3.DatabaseError:  # those of its subclasses are of the disk, not of the file
                    return None
                self._begin_anew()
        return None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = connect(self.path)
            OPEN.add(self)
        return self._connection

    def _begin_anew(self) -> None:
        """Remove the file, its journal first: SQLite would write an old one into the file made next."""
        self.close()
        for suffix in ("-wal", "-shm", ""):
            with contextlib.suppress(OSError):
                self.path.with_name(self.path.name + suffix).unlink()


# A child must not inherit an open file: SQLite's notes of who holds which lock would be wrong in it.
OPEN: Final[weakref.WeakSet[Kept]] = weakref.WeakSet()


def close_all() -> None:
    """Close every file of this process; the next use opens it again."""
    for kept in list(OPEN):
        kept.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=close_all)


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, each statement a transaction of its own.  Raises sqlite3.Error."""
    import sqlite3

    connection = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        # Without a sync a power cut may damage the file; a killed build cannot.
        connection.execute("pragma synchronous = off")
        connection.execute("pragma journal_mode = wal")
        connection.execute(SCHEMA)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def digest_of(key: str, value: bytes) -> bytes:
    """Return what tells whether a value is whole, and whether it is that key's: a flipped bit may make it another's."""
    return hashlib.blake2b(key.encode() + b"\0" + value, digest_size=16).digest()


def key_of(*parts: object) -> str:
    """Return a key for a value that depends on these parts, and on nothing else."""
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
