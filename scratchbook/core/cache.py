"""Keep outcomes on disk by what their session really used.  Anything odd is a miss; runs nothing, knows no Sphinx."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

from scratchbook.core.cells import Cell, Code, Outcome, Session, Uses
from scratchbook.core.digests import code_digest, digest, file_digest, folder_digest
from scratchbook.core.records import RecordError, from_json, to_json
from scratchbook.core.sources import is_python
from scratchbook.core.versions import installed_version

FORMAT: Final = 1
CORE: Final = os.path.dirname(os.path.abspath(__file__))  # a change of our own code can change any outcome
ENTRIES_A_SESSION: Final = 8
LARGEST_ENTRY_BYTES: Final = 256 * 1024 * 1024
OLD_TEMPORARY_SECONDS: Final = 3600

# Code that can see the line that it stands on, or that of its caller: its outcome moves with the prose above it.
SEES_LINES: Final = re.compile(
    r"lineno|traceback|inspect(?! import signature$)|_getframe|warnings|logging|currentframe", re.MULTILINE
)


@dataclass
class Store:
    """Outcomes in one folder, one file an outcome, each written whole or not at all.

    folder: absolute.   root: the project's.   capacity_bytes: the oldest entries leave first.
    Made anew for each build, for it reads each project file only once.
    """

    folder: Path
    root: Path
    capacity_bytes: int = 500 * 1024 * 1024
    _hashes: dict[str, str | None] = field(default_factory=dict)

    def load(self, session: Session) -> Outcome | None:
        """Return the outcome of that session if everything it used is as it was, else None."""
        if not self._folder_of(session).is_dir():
            return None  # before anything is hashed for it
        inputs = session_inputs(session)
        for path in self._candidates(session, inputs):
            entry = read_entry(path)
            if entry is None or not self._is_valid(entry, session, inputs):
                continue
            try:
                outcome = from_json(Outcome, entry["outcome"])
            except (RecordError, KeyError):
                continue
            with contextlib.suppress(OSError):
                os.utime(path)  # the oldest entries leave first, and this one was just needed
            return outcome
        return None

    def save(self, session: Session, outcome: Outcome) -> bool:
        """Keep an outcome; a failure, or one whose record may have gaps, is never kept.

        Returns whether it was kept.   Raises OSError when the folder cannot be written.
        """
        if outcome.failed or outcome.uses.unsure:
            return False
        inputs = session_inputs(session)
        entry = {
            "format": FORMAT,
            "name": session.name,
            "inputs": inputs,
            "lines": lines_digest(session) if is_placed(session, outcome, self.root) else None,
            "uses": to_json(outcome.uses),
            "outcome": to_json(outcome),
        }
        path = self._folder_of(session) / f"{digest(inputs)[:32]}-{digest(entry['uses'])[:16]}.json"
        write_entry(path, entry)
        self._keep_newest(path.parent)
        return True

    def explain(self, session: Session) -> tuple[str, ...]:
        """Say in plain text why the session must run, or that it need not."""
        if self.load(session) is not None:
            return ("stored: nothing that it used has changed",)
        known = sorted(self._folder_of(session).glob("*.json"), key=modified, reverse=True)
        entry = next(filter(None, map(read_entry, known)), None)
        if entry is None:
            return ("never stored: it has not run here, it failed, or what it used could not be recorded",)
        return tuple(self._changes(entry, session)) or ("stored, but the entry cannot be used",)

    def clear(self) -> int:
        """Remove every entry; return how many there were."""
        paths = list(self.folder.glob("*/*.json"))
        for path in paths:
            path.unlink(missing_ok=True)
        return len(paths)

    def sweep(self) -> None:
        """Remove what killed builds left behind, then the oldest entries beyond the capacity."""
        now = time.time()
        for path in self.folder.glob("*/*.tmp"):
            if now - modified(path) > OLD_TEMPORARY_SECONDS:
                path.unlink(missing_ok=True)
        entries = sorted(((modified(path), size(path), path) for path in self.folder.glob("*/*.json")), reverse=True)
        kept = 0
        for _, length, path in entries:
            kept += length
            if kept > self.capacity_bytes:
                path.unlink(missing_ok=True)

    def _folder_of(self, session: Session) -> Path:
        state = f"{session.state.name}={session.state.value}" if session.state else ""
        return self.folder / digest([session.name, state])[:24]

    def _candidates(self, session: Session, inputs: dict[str, str]) -> list[Path]:
        start, folder = f"{digest(inputs)[:32]}-", self._folder_of(session)
        names: list[str] = []
        with contextlib.suppress(OSError):  # `Path.glob` would compile a pattern a session
            names = [name for name in os.listdir(folder) if name.startswith(start) and name.endswith(".json")]
        return sorted((folder / name for name in names), key=modified, reverse=True)

    def _keep_newest(self, folder: Path) -> None:
        for path in sorted(folder.glob("*.json"), key=modified, reverse=True)[ENTRIES_A_SESSION:]:
            path.unlink(missing_ok=True)

    def _is_valid(self, entry: dict[str, Any], session: Session, inputs: dict[str, str]) -> bool:
        if entry.get("inputs") != inputs:
            return False
        if entry.get("lines") is not None and entry["lines"] != lines_digest(session):
            return False
        return not list(self._changed_uses(entry))

    def _changes(self, entry: dict[str, Any], session: Session) -> Iterator[str]:
        before, now = entry.get("inputs", {}), session_inputs(session)
        for label in sorted(before.keys() | now.keys()):
            if label not in before:
                yield f"{label}: new"
            elif label not in now:
                yield f"{label}: gone"
            elif before[label] != now[label]:
                yield f"{label}: changed"
        if entry.get("lines") is not None and entry["lines"] != lines_digest(session):
            yield "lines: the code moved, and its output names lines"
        yield from self._changed_uses(entry)

    def _changed_uses(self, entry: dict[str, Any]) -> Iterator[str]:
        try:
            uses = from_json(Uses, entry["uses"])
        except (RecordError, KeyError):
            yield "the entry cannot be read"
            return
        for path, known in sorted(uses.files.items()):
            if (now := self._hash(path)) != known:
                yield f"{path}: {'gone' if now is None else 'changed'}"
        for path in uses.absent:
            if os.path.lexists(self.root / path):
                yield f"{path}: was not there, and is now"
        for path, known in sorted(uses.folders.items()):
            if folder_digest(self.root / path) != known:
                yield f"{path}/: other names in it"
        for name, known in sorted(uses.modules.items()):
            if (now := installed_version(name)) != known:
                yield f"{name}: {known} before, {now or 'not installed'} now"

    def _hash(self, path: str) -> str | None:
        if path not in self._hashes:
            self._hashes[path] = file_digest(self.root / path)
        return self._hashes[path]


def read_entry(path: Path) -> dict[str, Any] | None:
    """Read one entry; None for anything that is not whole and ours.  Loading never runs what it reads."""
    try:
        if path.stat().st_size > LARGEST_ENTRY_BYTES:
            return None
        head, _, body = path.read_bytes().partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != head:
            return None
        entry = json.loads(body)
    except (OSError, ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and entry.get("format") == FORMAT else None


def write_entry(path: Path, entry: dict[str, Any]) -> None:
    """Write an entry under a name of its own, then rename it: a reader sees all of it or nothing.

    Raises OSError.
    """
    body = json.dumps(entry, sort_keys=True, ensure_ascii=True, allow_nan=False).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def session_inputs(session: Session) -> dict[str, str]:
    """Return a digest of each thing that is known before a session runs, under a label that an author can read."""
    limits = session.limits
    inputs = {
        "scratchbook": code_digest(CORE),
        "python": digest([sys.version, sys.implementation.name, *system(), processor()]),
        "settings": digest(
            [
                sorted((name, repr(value)) for name, value in session.print_options),
                [limits.shown_bytes, limits.captured_bytes],
                session.folders,
                session.preload,
            ]
        ),
        "environment variables": digest(sorted(session.environment)),
        "state": digest(to_json(session.state)),
    }
    for position, cell in enumerate(session.cells):
        inputs[f"cell {position + 1} ({cell.id})"] = digest(cell_inputs(cell))
    for path, content in session.sources:
        inputs[path] = hashlib.sha256(content).hexdigest()
    return inputs


def cell_inputs(cell: Cell) -> dict[str, Any]:
    """Return what of a cell can change its outcome: not its place, its lines or its time limit."""
    inputs: dict[str, Any] = {"cell": type(cell).__name__}
    for name in telling_fields(cast(Any, type(cell))):
        value = getattr(cell, name)
        inputs[name] = [value.path, value.text] if isinstance(value, Code) else without_lines(to_json(value))
    return inputs


@cache
def telling_fields(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a kind of cell that can change its outcome."""
    return tuple(item.name for item in fields(kind) if item.name not in ("place", "seconds"))


def without_lines(value: Any) -> Any:
    """Return plain data without lines of the chapter, which a branch needs for failures, and those are not kept."""
    if isinstance(value, dict):
        return {name: without_lines(item) for name, item in value.items() if name not in ("line", "numbers")}
    return [without_lines(item) for item in value] if isinstance(value, list) else value


def lines_digest(session: Session) -> str:
    """Return the digest of where the session's code stands in its chapter."""
    codes = (getattr(cell, "code", None) for cell in session.cells)
    return digest([[cell.place.line for cell in session.cells], [code.numbers for code in codes if code]])


def is_placed(session: Session, outcome: Outcome, root: Path) -> bool:
    """Tell whether an outcome may depend on the lines where its code stands."""
    paths = {cell.place.path for cell in session.cells}
    texts = [str(part.data) for cell in outcome.cells.values() for part in cell.parts if part.kind != "listing"]
    return any(path in text for path in paths for text in texts) or any(
        SEES_LINES.search(text) for text in code_texts(session, outcome, root)
    )


def code_texts(session: Session, outcome: Outcome, root: Path) -> Iterator[str]:
    """Yield all code of the project that a session ran: that of its page, and the files that were shown or imported."""
    yield from (code.text for cell in session.cells if (code := getattr(cell, "code", None)))
    shown = dict(session.sources)
    for path in filter(is_python, {*shown, *outcome.uses.files}):
        with contextlib.suppress(OSError):
            data = shown[path] if path in shown else (root / path).read_bytes()
            yield data.decode("ascii", "replace")


@cache
def system() -> tuple[str, ...]:
    """Return what system this is; the names of its release stand for its libraries of mathematics too."""
    names, c_library = platform.uname(), ""
    with contextlib.suppress(AttributeError, ValueError, OSError):  # no GNU system
        c_library = os.confstr("CS_GNU_LIBC_VERSION") or ""
    return names.system, names.release, names.machine, c_library


@cache
def processor() -> str:
    """Return the kind of processor: NumPy picks its loops by it, and the last digit may differ."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor()


def modified(path: Path) -> float:
    """Return when a file was last written, in seconds; 0 when it has just gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def size(path: Path) -> int:
    """Return a file's length in bytes; 0 when it has just gone."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
