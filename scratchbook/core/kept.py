"""Keep text that could be made again: coloured code, drawn formulas, compiled templates.  Knows not what it keeps.

One SQLite file, since thousands of small pieces are read by each build and written by several processes at once.
It is never needed: what cannot be read is a miss, what cannot be written is made again by the next build.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

SCHEMA: Final = "create table if not exists kept (key text primary key, digest blob, value blob) without rowid"
MOST_PIECES: Final = 50_000
WAIT_SECONDS: Final = 2.0


@dataclass
class Kept:
    """A map from keys to bytes in one file.

    path: absolute; its folder is made when it is not there.   A key must name all that its value depends on.
    Safe to use in processes that were forked after it was made: each opens the file for itself, and leaves the
    connection of its parent alone, which SQLite forbids it to use or to close.
    """

    path: Path
    _connections: dict[int, sqlite3.Connection] = field(default_factory=dict, repr=False)  # by process

    def get(self, key: str) -> bytes | None:
        """Return what was kept under that key, None when it is not there or not whole."""
        with contextlib.suppress(sqlite3.Error, OSError):
            row = self._open().execute("select digest, value from kept where key = ?", (key,)).fetchone()
            if row and hashlib.blake2b(row[1], digest_size=16).digest() == row[0]:
                return bytes(row[1])
        return None

    def put(self, key: str, value: bytes) -> None:
        """Keep a value; a store that cannot be written is left as it is."""
        digest = hashlib.blake2b(value, digest_size=16).digest()
        with contextlib.suppress(sqlite3.Error, OSError):
            self._open().execute("insert or replace into kept values (?, ?, ?)", (key, digest, value))

    def sweep(self) -> None:
        """Begin anew once there are too many pieces: all that is needed comes back with the next build."""
        with contextlib.suppress(sqlite3.Error, OSError):
            (count,) = self._open().execute("select count(*) from kept").fetchone()
            if count > MOST_PIECES:
                self._open().execute("delete from kept")
                self._open().execute("vacuum")

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if connection := self._connections.pop(os.getpid(), None):
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def _open(self) -> sqlite3.Connection:
        process = os.getpid()
        if process not in self._connections:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connections[process] = connect(self.path)
            except sqlite3.DatabaseError:
                self.path.unlink(missing_ok=True)  # damaged: nothing in it is worth a message
                self._connections[process] = connect(self.path)
        return self._connections[process]


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, each statement a transaction of its own.  Raises sqlite3.Error."""
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


def key_of(*parts: object) -> str:
    """Return a key for a value that depends on these parts, and on nothing else."""
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
