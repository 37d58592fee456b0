"""Compare what a page's code gave with what its author accepted.  Text in, text and differences out; opens nothing.

A pin file is TOML that a reader of a pull request can follow: one table a cell, with what the cell printed, the value
in the sentence, the rows of a table, the sketch of a figure.  Lines of the chapter are not in it, so prose can move.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from scratchbook.core.cells import Cell, CellOutcome, ClaimCell, CodeCell, FileCell, Part, State, ValueCell
from scratchbook.core.errors import ScratchbookError

FORMAT: Final = 1
NUMBER: Final = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?!\w)")
FIGURE_TOLERANCE: Final = 0.5  # in the units of the figure, points for matplotlib's: no eye sees half a point
TABLES: Final = ("table", "header")  # what is stored as rows
BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Pin:
    """What one cell gave, in one state of its page.

    shows: what ran, its first line, for the reader.   parts: kind of part -> text, rows, or a figure's sketch.
    frozen: the date and the machine of a stored outcome that is not run everywhere; "" for all others.
    code: the hash of the code that a stored outcome came from; "" for all others.
    rtol: how much this cell's floats may differ, relative, where its author has written that down; else 0.
    """

    shows: str
    parts: Mapping[str, Any] = field(default_factory=dict)
    frozen: str = ""
    code: str = ""
    rtol: float = 0.0


@dataclass(frozen=True)
class Difference:
    """One cell that gave something else than was accepted.  before, after: lines; empty when there is none."""

    cell: str
    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    def __str__(self) -> str:
        if not self.before:
            return f"{self.kind} has no accepted outcome: {shorten(self.after)}"
        if not self.after:
            return f"{self.kind} is gone; accepted was {shorten(self.before)}"
        before, after = first_difference(self.before, self.after)
        return f"{self.kind} was {before!r} when it was accepted and is {after!r}"

    @property
    def where(self) -> str:
        """Return the state of the page that it is about, " (where mode = a)"; "" for a page without states."""
        name, _, value = self.cell.partition(" ")[2].partition("=")
        return f" (where {name} = {value})" if name else ""

    def diff(self) -> str:
        """Return old beside new, as a unified diff without a header."""
        lines = difflib.unified_diff(self.before, self.after, "accepted", "now", lineterm="", n=2)
        return "\n".join(lines)


def pin_name(cell_id: str, state: State | None = None) -> str:
    """Name a cell among all of its page's states."""
    return cell_id if state is None else f"{cell_id} {state.name}={state.value}"


def make_pin(cell: Cell, outcome: CellOutcome) -> Pin | None:
    """Return what is to be pinned of a cell; None when it gave nothing that a reader sees."""
    parts = numbered(filter(None, map(pin_part, outcome.parts)))
    if not parts:
        return None
    return Pin(first_line(cell), parts)


def numbered(parts: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return parts by name; the second figure of a cell is `figure-2`."""
    found: dict[str, Any] = {}
    for kind, value in parts:
        count = sum(name.partition("-")[0] == kind for name in found)
        found[f"{kind}-{count + 1}" if count else kind] = value
    return found


def pin_part(part: Part) -> tuple[str, Any] | None:
    """Return a part as it stands in a pin file."""
    match part.kind:
        case "text":
            return ("text", part.data["text"]) if part.data["text"] else None
        case "value":
            return "value", part.data["text"]
        case "table":
            return "table", [part.data["header"], *part.data["rows"]] if part.data["header"] else part.data["rows"]
        case "svg" if part.data.get("sketch"):
            return "figure", "".join(f"{line}\n" for line in part.data["sketch"])
        case "svg":
            return "figure", "sha256:" + hashlib.sha256(part.data["svg"].encode()).hexdigest()
        case "png":
            return "figure", "sha256:" + hashlib.sha256(part.data["base64"].encode()).hexdigest()
    return None


def first_line(cell: Cell) -> str:
    """Return what a reader knows a cell by."""
    match cell:
        case CodeCell():
            return next((line.strip() for line in cell.code.text.splitlines() if line.strip()), "")
        case FileCell():
            return f"{cell.file} {cell.selection.tag or cell.selection.tags or cell.selection.lines or ''}".strip()
        case ValueCell() | ClaimCell():
            return cell.expression
    return ""


def compare(accepted: Mapping[str, Pin], now: Mapping[str, Pin], rtol: float) -> tuple[Difference, ...]:
    """Return every difference; numbers with a point or an exponent may differ by rtol (relative, no unit).

    Where a cell's pin has an rtol of its own, that holds.   Places in a figure may differ by half a point.
    """
    return tuple(
        difference
        for name in dict.fromkeys([*now, *accepted])
        for difference in compare_pin(name, accepted.get(name), now.get(name), rtol)
    )


def compare_pin(name: str, accepted: Pin | None, now: Pin | None, rtol: float) -> Iterator[Difference]:
    """Yield the parts of one cell that differ."""
    before, after = (dict(pin.parts) if pin else {} for pin in (accepted, now))
    for kind in dict.fromkeys([*after, *before]):
        old, new = as_lines(before.get(kind)), as_lines(after.get(kind))
        allowed = (accepted and accepted.rtol) or rtol
        if not (are_close_sketches if kind.startswith("figure") else are_close)(old, new, allowed):
            yield Difference(name, "output" if kind == "text" else kind, old, new)


def as_lines(value: Any) -> tuple[str, ...]:
    """Return the content of a part as lines."""
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(value.splitlines()) or ("",)
    return tuple("\t".join(map(str, row)) for row in value)


def are_close(before: tuple[str, ...], after: tuple[str, ...], rtol: float) -> bool:
    """Tell whether two texts say the same, up to the last digits of their floats."""
    if len(before) != len(after):
        return False
    return all(are_close_lines(old, new, rtol) for old, new in zip(before, after, strict=True))


def are_close_sketches(before: tuple[str, ...], after: tuple[str, ...], rtol: float) -> bool:
    """Tell whether two figures look the same; their words are compared as what a cell prints."""
    if not are_close(before[:1], after[:1], rtol) or len(before) != len(after):
        return False
    return all(are_close_lines(old, new, 0.0, FIGURE_TOLERANCE) for old, new in zip(before, after, strict=True))


def are_close_lines(before: str, after: str, rtol: float, atol: float = 0.0) -> bool:
    """Compare two lines: words to the letter, floats to rtol, blanks not at all where a number changed its width."""
    if before == after:
        return True
    words = [re.sub(r"\s+", " ", NUMBER.sub(" \0 ", line)) for line in (before, after)]
    old, new = (NUMBER.findall(line) for line in (before, after))
    return words[0] == words[1] and all(are_close_numbers(*pair, rtol, atol) for pair in zip(old, new, strict=True))


def are_close_numbers(before: str, after: str, rtol: float, atol: float) -> bool:
    """Compare two printed numbers; whole numbers are counts, and those are exact."""
    if before == after:
        return True
    if not all(set(number) & set(".eE") for number in (before, after)):
        return False
    return math.isclose(float(before), float(after), rel_tol=rtol, abs_tol=atol)


def first_difference(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, str]:
    """Return the first lines that differ, old and new."""
    for position in range(max(len(before), len(after))):
        old, new = (lines[position] if position < len(lines) else "" for lines in (before, after))
        if old != new:
            return old, new
    return "", ""


def shorten(lines: tuple[str, ...]) -> str:
    """Return the first line, quoted, and how many follow."""
    rest = len(lines) - 1
    more = f" and {rest} more {'line' if rest == 1 else 'lines'}" if rest > 0 else ""
    return f"{lines[0]!r}{more}" if lines else "nothing"


def read_pins(text: str, path: str) -> dict[str, Pin]:
    """Read a pin file.  Raises ScratchbookError of the kind "pin" for anything that is none."""
    try:
        data = tomllib.loads(text)
        if data.pop("format", None) != FORMAT:
            raise ScratchbookError(f"{path} is of another format; write it anew with the review", kind="pin")
        return {name: read_pin(name, table) for name, table in data.items()}
    except ValueError as error:  # as that of TOML is
        raise ScratchbookError(f"{path} cannot be read as accepted outcomes: {error}", kind="pin") from error


def read_pin(name: str, table: Any) -> Pin:
    """Make the pin of one cell.  Raises ValueError for what the review would not have written."""
    if not isinstance(table, dict) or "shows" not in table:
        raise ValueError(f"[{name}] is no table with `shows = ...`")
    rtol = table.pop("rtol", 0.0)
    if not isinstance(rtol, float | int) or not 0 <= rtol < math.inf:
        raise ValueError(f"`rtol` of [{name}] is {rtol!r}; write a number such as 0.1")
    for key, value in table.items():
        if not isinstance(value, str) and not (key.partition("-")[0] in TABLES and holds_rows(value)):
            raise ValueError(f"`{key}` of [{name}] is {value!r}; write it in quotes")
    return Pin(table.pop("shows"), table, table.pop("frozen", ""), table.pop("code", ""), float(rtol))


def holds_rows(value: Any) -> bool:
    """Whether a value is the rows of a table, all texts."""
    rows = value if isinstance(value, list) else [None]
    return all(isinstance(row, list) and all(isinstance(cell, str) for cell in row) for row in rows)


def write_pins(pins: Mapping[str, Pin], chapter: str) -> str:
    """Write a pin file, in page order."""
    lines = [
        f"# What the code of {chapter} gave when its author last accepted it.  The review writes this file; by hand it",
        "# takes `rtol = 0.1` for a cell whose floats may differ by a tenth between processors.",
        f"format = {FORMAT}",
    ]
    for name, pin in pins.items():
        lines += ["", f"[{name if BARE_KEY.fullmatch(name) else quoted(name)}]", f"shows = {quoted(pin.shows)}"]
        if pin.frozen:
            lines.append(f"frozen = {quoted(pin.frozen)}")
        if pin.code:
            lines.append(f"code = {quoted(pin.code)}")
        if pin.rtol:
            lines.append(f"rtol = {pin.rtol!r}")
        lines += [f"{kind} = {toml_value(value)}" for kind, value in pin.parts.items()]
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """Write a part: lines as they are where TOML can, so that a change reads as a change."""
    if not isinstance(value, str):
        rows = "".join(f"  [{', '.join(quoted(str(item)) for item in row)}],\n" for row in value)
        return f"[\n{rows}]"
    is_plain = "'''" not in value and all(sign >= " " or sign in "\n\t" for sign in value) and "\x7f" not in value
    if "\n" in value and is_plain and not value.endswith("'"):
        return f"'''\n{value}'''"
    return quoted(value)


def quoted(text: str) -> str:
    """Write a TOML basic string."""
    special = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(special.get(sign) or (sign if sign.isprintable() else escape(sign)) for sign in text) + '"'


def escape(sign: str) -> str:
    """Write a character that must not stand in TOML as it is."""
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
