"""Cut one stream of output into pieces.  The child writes marks between its pieces, its supervisor splits at them."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator
from typing import Final

MARK_LENGTH: Final = 42  # under PIPE_BUF, so that no other writer of the pipe can tear a mark


class Marker:
    """Writes marks into the stream of output.

    handle: of the stream, our own.   token: 32 letters that nobody else knows.   A mark is where a piece begins.
    """

    def __init__(self, handle: int, token: str) -> None:
        self.handle = handle
        self._token = token
        self.count = 0

    def mark(self) -> int:
        """Begin the next piece of output; return its number."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # whatever code has put there
                stream.flush()
        self.count += 1
        os.write(self.handle, f"\x1f{self._token}{self.count:08d}\x1f".encode("ascii"))
        return self.count


class Splitter:
    """Collects what comes between the marks.  `pieces` holds the output by the number of the mark before it."""

    def __init__(self, token: str) -> None:
        self._pattern = re.compile(f"\x1f{token}([0-9]{{8}})\x1f".encode("ascii"))
        self._rest = b""
        self._number = 0
        self.pieces: dict[int, bytearray] = {0: bytearray()}

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream; half a mark at their end waits for its other half."""
        data = self._rest + data
        start = 0
        for found in self._pattern.finditer(data):
            self.pieces[self._number] += data[start : found.start()]
            self._number = int(found[1])
            self.pieces[self._number] = bytearray()
            start = found.end()
        half = data.find(b"\x1f", max(start, len(data) - MARK_LENGTH + 1))
        end = half if half >= 0 else len(data)
        self.pieces[self._number] += data[start:end]
        self._rest = data[end:]

    def finish(self) -> None:
        """Take what waited for the rest of a mark as output: nothing more comes."""
        self.pieces[self._number] += self._rest
        self._rest = b""

    @property
    def end(self) -> int:
        """The mark behind all that came."""
        return max(self.pieces) + 1

    def size_since(self, mark: int) -> int:
        """Return how many bytes of output came since that mark."""
        size = 0
        for number in reversed(self.pieces):  # they came in this order, so the rest is older
            if number < mark:
                break
            size += len(self.pieces[number])
        return size

    def join(self, spans: list[tuple[int, int]]) -> bytes:
        """Return the output of spans of marks, each from its first mark up to, not including, its last."""
        wanted = sorted({number for first, last in spans for number in range(first, last)})
        return b"".join(bytes(self.pieces.get(number, b"")) for number in wanted)


def redirect(handle: int) -> None:
    """Send all that this process and its children print into that handle, and give them nothing to read."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (handle, 1), (handle, 2)):
        os.dup2(source, target)
    os.close(nothing)
    empty = io.BufferedReader(io.FileIO(0, closefd=False))
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(empty, encoding="utf-8")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _open_text(1, "<stdout>", "strict")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _open_text(2, "<stderr>", "backslashreplace")  # type: ignore[misc]


def _open_text(handle: int, name: str, errors: str) -> io.TextIOWrapper:
    """Open a stream that keeps nothing back, so that what several writers print stays in order."""
    raw = io.FileIO(handle, "w", closefd=False)
    raw.name = name
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, newline="\n", write_through=True)


@contextlib.contextmanager
def own_streams(handle: int) -> Iterator[None]:
    """Give the streams back after a block that put something else in their place, or closed them.

    handle: of the page's output, into which what is printed goes again.
    """
    before = sys.stdin, sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        if any(stream.closed for stream in before):
            redirect(handle)
        for target in (1, 2):
            os.dup2(handle, target)
