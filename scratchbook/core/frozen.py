"""Store what a cell gave whole, to be shown by builds that must not run it.  Text in, outcomes out; opens nothing."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
from collections.abc import Iterator
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

from scratchbook.core.cells import CellOutcome, CodeCell, Part
from scratchbook.core.pins import Pin, first_line, numbered


def freeze(cell: CodeCell, outcome: CellOutcome, day: date, machine: str) -> Pin:
    """Return all that a cell gave, with the day and the machine that its reader must know."""
    parts = numbered(piece for part in outcome.parts for piece in stored_pieces(part))
    return Pin(first_line(cell), parts, f"{day.isoformat()} on {machine}", code_digest(cell))


def stored_pieces(part: Part) -> Iterator[tuple[str, Any]]:
    """Yield a part as it stands in the file: figures whole, tables as rows."""
    match part.kind:
        case "text":
            yield "text", part.data["text"]
            if part.data.get("cut"):
                yield "cut", str(part.data["cut"])
        case "value":
            yield "value", part.data["text"]
        case "table":
            if part.data["header"]:
                yield "header", [part.data["header"]]
            yield "table", part.data["rows"]
        case "svg":
            yield "svg", part.data["svg"]
        case "pdf" | "png":
            yield part.kind, part.data["base64"]


def thaw(pin: Pin) -> CellOutcome:
    """Return the outcome that was stored, and a part {"frozen"} that says when and where it was run.

    Raises ValueError for parts that no cell gives.
    """
    parts = [stored_part(name.partition("-")[0], value, pin) for name, value in pin.parts.items()]
    note = Part("data", {"frozen": pin.frozen})
    return CellOutcome("ok", (*(part for part in parts if part is not None), note))


def stored_part(kind: str, value: Any, pin: Pin) -> Part | None:
    """Return one part; None for what stands beside another one."""
    match kind:
        case "text" | "value" if isinstance(value, str):
            cut = {"cut": int(pin.parts.get("cut", 0))} if kind == "text" else {}
            return Part(kind, {"text": value, **cut})
        case "table" if isinstance(value, list):
            header: Any = pin.parts.get("header") or [[]]
            if len({len(row) for row in [*filter(None, header), *value]}) != 1:
                raise ValueError("the rows of its table have unlike lengths")
            return Part("table", {"header": header[0], "rows": value})
        case "svg" if isinstance(value, str):
            return Part("svg", {"svg": value})
        case "pdf" | "png" if isinstance(value, str):
            base64.b64decode(value, validate=True)  # else the page that shows it could not be written
            return Part(kind, {"base64": value})
        case "cut" | "header":
            return None
    raise ValueError(f"a cell gives no part '{kind}' of that form")


def code_digest(cell: CodeCell) -> str:
    """Return the hash of what runs, and of what is wanted of it."""
    asked = repr((cell.code.text, cell.wants, cell.show_value, cell.raises))
    return "sha256:" + hashlib.sha256(asked.encode()).hexdigest()


def this_machine() -> str:
    """Say in a few words where code runs, with what its speed depends on; never the machine's own name."""
    processors = os.cpu_count() or 1
    noun = "processor" if processors == 1 else "processors"
    where = f"{processor_name()} ({processors} {noun}), {platform.system()}"
    return f"{where}, Python {platform.python_version()}, NumPy {metadata.version('numpy')}"


def processor_name() -> str:
    """Return the processor's name, as its maker writes it, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.machine()
