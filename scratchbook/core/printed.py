"""Turn captured bytes into text that a page can show: what a reader would see on a terminal, the same every time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# Operating system commands and other strings, control sequences, two-letter escapes; each may be cut off.
ESCAPES: Final = re.compile(
    r"\x1b[\]PX^_][^\n]*?(?:\x07|\x1b\\|(?=\n)|\Z)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?"
)
CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# They turn the order of letters round, show nothing or are no letters, so that a reader sees something else than was
# printed, and no file can hold the last kind.
HIDDEN: Final = re.compile("[\ud800-\udfff\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
# An address differs from run to run and tells a reader nothing.
ADDRESS: Final = re.compile(r"\bat 0x[0-9a-fA-F]{6,16}\b")


@dataclass(frozen=True)
class Printed:
    """Text for a page.   cut: bytes left out at its end.   wrong: bytes that were not UTF-8."""

    text: str
    cut: int = 0
    wrong: int = 0


def show_bytes(data: bytes, shown_bytes: int, folders: tuple[tuple[str, str], ...] = ()) -> Printed:
    """Make the text of a block's output.

    shown_bytes: the most that is shown; the cut stands between two lines where there are several.
    folders: (a path of this machine, what a reader sees in its place), the longest first.
    """
    shown = data[:shown_bytes]
    if len(data) > len(shown):
        shown = shown[: shown.rfind(b"\n") + 1] or shown.decode("utf-8", "ignore").encode()
    text = shown.decode("utf-8", "replace")
    wrong = 0
    if "\ufffd" in text:
        text = shown.decode("utf-8", "surrogateescape")
        wrong = sum("\udc80" <= letter <= "\udcff" for letter in text)
        text = re.sub("[\udc80-\udcff]", "\ufffd", text)
    return Printed(clean_text(text, folders), len(data) - len(shown), wrong)


def clean_text(text: str, folders: tuple[tuple[str, str], ...] = ()) -> str:
    """Take out what is not text, and what would differ on another machine.

    Colours, cursor moves, links and control bytes go; a progress bar is left as it ended; a hidden character is
    written as its number; addresses and the paths of this machine are replaced.
    """
    text = ESCAPES.sub("", text)
    if "\r" in text or "\b" in text:
        text = "\n".join(map(_overwrite, text.replace("\r\n", "\n").split("\n")))
    text = CONTROLS.sub("", text)
    text = HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    text = ADDRESS.sub("at 0x…", text)
    return replace_folders(text, folders)


def replace_folders(text: str, folders: tuple[tuple[str, str], ...]) -> str:
    """Write what a reader sees in place of each path of this machine, whole names only."""
    if not any(path in text for path, _ in folders):  # a pattern of this session's folders is dear to compile
        return text
    names = dict(folders)
    found = "|".join(re.escape(path) + ("" if path.endswith("/") else r"(?![\w.-])") for path, _ in folders)
    return re.sub(found, lambda match: names[match[0]], text)


def _overwrite(line: str) -> str:
    """Return what a line shows after its carriage returns and backspaces."""
    shown: list[str] = []
    for letter in next(filter(None, reversed(line.split("\r"))), ""):
        if letter != "\b":
            shown.append(letter)
        elif shown:
            shown.pop()
    return "".join(shown)


def say_bytes(count: int) -> str:
    """Return a number of bytes in the unit that an author would use."""
    for unit, size in (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} bytes"
