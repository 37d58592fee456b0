"""Run one task in a fork of a page's namespace, which it cannot change, and bring back plain data.

A task is a function named "package.module:function", called with the namespace and the cell's payload.  It returns
{"parts": [{"kind": ..., "data": ...}], "mistakes": [Mistake.to_json(), ...]}; a ScratchbookError is one mistake.
"""

from __future__ import annotations

import importlib
import json
import os
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scratchbook.core.capture import Marker
from scratchbook.core.cells import BranchCell, Code
from scratchbook.core.errors import Mistake, ScratchbookError
from scratchbook.core.failures import describe, say
from scratchbook.core.processes import die_with_parent, fork
from scratchbook.core.records import from_json, to_json
from scratchbook.core.statements import compile_page, remember_lines

if TYPE_CHECKING:  # the builder knows this room on every system, and a tracer needs Unix
    from scratchbook.core.tracing import Tracer

Report = Callable[[dict[str, Any]], None]
Task = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]


def run_branch(
    cell: BranchCell,
    namespace: dict[str, Any],
    marker: Marker,
    report: Report,
    clean: Callable[[str], str],
    tracer: Tracer,
) -> None:
    """Fork, run the task there, and wait for its end, which it reports itself when it can.

    clean: takes out of every text what differs between machines.
    """
    begin = marker.mark()
    with tracer.paused():
        child = fork()
    if child:
        _, status = os.waitpid(child, 0)
        report({"end": cell.id, "died": status})  # does not count when the task has said its end
        return
    status = 1
    try:
        os.setpgid(0, 0)  # the supervisor kills by group
        die_with_parent()
        report({"begin": cell.id, "mark": begin, "process": os.getpid()})
        line = _run_task(cell, namespace, clean)
        report({"uses": to_json(tracer.uses())})
        report({"end": cell.id, **line})
        status = 0
    finally:
        os._exit(status)


def _run_task(cell: BranchCell, namespace: dict[str, Any], clean: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields of a cell's outcome."""
    parts: list[dict[str, Any]] = []
    try:
        result = find_task(cell.task)(namespace, dict(cell.payload))
        json.dumps(result, allow_nan=False)
        parts, mistakes = _clean_texts(result["parts"], clean), _clean_texts(result["mistakes"], clean)
    except ScratchbookError as error:
        mistakes = [error.mistake.to_json()]
    except Exception as error:  # a task is a plug-in: whatever it raises is told at the author's line
        text, detail = clean(say(error)), clean("".join(traceback.format_exception(error)))
        mistakes = [Mistake("run", f"{cell.task} failed: {text}", None, detail).to_json()]
    return {"status": "failed" if mistakes else "ok", "parts": parts, "mistakes": mistakes}


def _clean_texts(data: Any, clean: Callable[[str], str]) -> Any:
    """Return plain data with every text cleaned."""
    if isinstance(data, dict):
        return {key: _clean_texts(item, clean) for key, item in data.items()}
    if isinstance(data, list | tuple):
        return [_clean_texts(item, clean) for item in data]
    return clean(data) if isinstance(data, str) else data


def find_task(name: str) -> Task:
    """Return the function of that name.  Raises ImportError or AttributeError."""
    module, _, function = name.partition(":")
    task: Task = getattr(importlib.import_module(module), function)
    return task


def check_code(namespace: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Say whether pieces of code run without an exception, one after another: an exercise's starter or solution.

    payload: {"codes": [Code as `records.to_json` writes it, ...]}.   Returns one part "data": {"ok", "failed", "text",
    "place", "detail"}, failed being the index of the piece that raised, None when all ran.
    """
    codes = [from_json(Code, code) for code in payload["codes"]]
    flags = 0
    for index, code in enumerate(codes):
        remember_lines(code.path, dict(zip(code.numbers, code.text.split("\n"), strict=False)))
        try:
            compiled = compile_page(code.text, code.numbers, code.path, flags, wants_last=False)
            flags = compiled.flags
            exec(compiled.body, namespace)
        except (Exception, SystemExit) as error:  # that it fails, however, is the answer
            return _verdict(index, describe(error, str))
    return _verdict(None, None)


def _verdict(failed: int | None, mistake: Mistake | None) -> dict[str, Any]:
    data = {
        "ok": failed is None,
        "failed": failed,
        "text": mistake.text if mistake else "",
        "place": [mistake.place.path, mistake.place.line] if mistake and mistake.place else None,
        "detail": mistake.detail if mistake else "",
    }
    return {"parts": [{"kind": "data", "data": data}], "mistakes": []}
