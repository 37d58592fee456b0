"""Turn the bytes of a source file into text, or into one clear mistake.  Opens nothing."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass, field
from typing import Final

from scratchbook.core.errors import Mistake, Place, ScratchbookError

PYTHON_SUFFIXES: Final = frozenset({".py", ".pyi", ".pyw"})
UTF8_MARK: Final = b"\xef\xbb\xbf"
CODING_COMMENT: Final = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(eq=False)
class SourceError(ScratchbookError):
    """A file that is not there or is not text in the encoding that it names."""

    kind: str = field(default="source", kw_only=True)


def is_python(path: str) -> bool:
    """Say whether a file's name makes it Python, so that comments and strings can be told apart."""
    return os.path.splitext(path)[1].lower() in PYTHON_SUFFIXES


def read_text(data: bytes, path: str) -> str:
    """Read a source file as its author meant it: without a byte order mark, every line ending in LF.

    data: the file's bytes.   path: from the project's root, for messages and to know Python by its name.
    UTF-8, or what a Python file's coding comment says (PEP 263).  CRLF and a lone CR become LF, as in Python's
    own reader, so a line number means the same here, in a traceback and in an editor.
    Raises SourceError at the line of the first byte that does not fit, with its offset from the file's start.
    """
    encoding = _coding(data, path) if is_python(path) else "utf-8"
    try:
        text = data.removeprefix(UTF8_MARK).decode(encoding)
    except UnicodeDecodeError as error:
        offset = error.start + len(data) - len(data.removeprefix(UTF8_MARK))
        raise _wrong_byte(data, offset, encoding, path) from None
    except UnicodeError as error:  # some codecs, such as idna, do not say which byte
        raise SourceError(f"{path} cannot be read as {encoding}: {error}", Place(path, 1)) from None
    if "\0" in text:
        offset = data.find(b"\0")
        raise SourceError(f"{path} is not text: byte 0x00 at offset {offset}", _place(data, offset, path))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def missing_file(name: str, looked: tuple[str, ...], *, optional: bool = False) -> tuple[Mistake, ...]:
    """Tell the author that a file named on a page is not there; an optional one may be missing.

    name: as written on the page.   looked: the paths that were tried, in order.
    """
    if optional:
        return ()
    tried = " and ".join(looked) if looked else "no folder"
    return (Mistake("source", f"no file '{name}'; looked for {tried}"),)


def _coding(data: bytes, path: str) -> str:
    """Return the encoding that a Python file names in its first two lines, else UTF-8."""
    first, _, rest = _with_line_feeds(data.removeprefix(UTF8_MARK)).partition(b"\n")
    lines = (first, rest.partition(b"\n")[0]) if re.fullmatch(rb"[ \t\f]*(?:#.*)?", first) else (first,)
    found = next((match for line in lines if (match := CODING_COMMENT.match(line))), None)
    if found is None:
        return "utf-8"
    place = Place(path, lines.index(found.string) + 1)
    # Emacs says how lines end as well; Python reads 'utf-8-unix' as UTF-8.
    named = re.sub("-(?:unix|dos|mac)$", "", found[1].decode("ascii").lower())
    try:
        encoding = codecs.lookup(named).name
        "".encode(encoding)  # codecs such as rot13 are known and make no bytes
    except LookupError:
        raise SourceError(f"{path} names the encoding '{named}', which is unknown; save it as UTF-8", place) from None
    if data.startswith(UTF8_MARK) and encoding != "utf-8":
        fact = f"{path} names the encoding '{named}' after a UTF-8 byte order mark"
        raise SourceError(f"{fact}; take one of them out", place)
    return encoding


def _wrong_byte(data: bytes, offset: int, encoding: str, path: str) -> SourceError:
    """Make the message for a byte that its encoding does not know."""
    if data.startswith(UTF16_MARKS):
        choice = "it looks like UTF-16; save it as UTF-8"
    elif is_python(path) and encoding == "utf-8":
        choice = "save it as UTF-8 or name its encoding in a coding comment"
    else:
        choice = "save it as UTF-8"
    fact = f"{path} is not {encoding.upper()}: byte 0x{data[offset]:02x} at offset {offset}"
    return SourceError(f"{fact}; {choice}", _place(data, offset, path))


def _with_line_feeds(data: bytes) -> bytes:
    """Let a coding comment be found in a file whose lines end in CR."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _place(data: bytes, offset: int, path: str) -> Place:
    """Return the 1-based line in which a byte stands."""
    return Place(path, _with_line_feeds(data[:offset]).count(b"\n") + 1)
