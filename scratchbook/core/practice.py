"""Judge the code of an exercise: its starter must fail the check, its solution must pass it.  Runs in a branch."""

from __future__ import annotations

import ast
from typing import Any

from scratchbook.core.branches import check_code
from scratchbook.core.cells import Code
from scratchbook.core.errors import Mistake, Place


def as_assertion(check: Code) -> Code:
    """Turn a check that is one expression into an assertion; one with statements makes its own."""
    try:
        ast.parse(check.text.strip(), mode="eval")
    except SyntaxError:
        return check
    first, last = check.numbers[0], check.numbers[-1]
    return Code(check.path, f"assert (\n{check.text}\n)", (first, *check.numbers, last))


def judge_starter(namespace: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Report a starter that passes the check, since then there is nothing to do, and one that cannot run at all.

    payload: as `check_code` takes it, the check last, and "name": what messages call the exercise.
    """
    data = ran(namespace, payload)
    if data["text"].startswith("SyntaxError") and data["failed"] < len(payload["codes"]) - 1:
        return verdict(Mistake("exercise", f"the starter of {payload['name']} is no Python: {data['text']}"))
    if not data["ok"]:
        return verdict()
    text = f"the starter of {payload['name']} passes the check already: leave something to do, or check more"
    return verdict(Mistake("exercise", text))


def judge_solution(namespace: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Report a solution that raises, or that the check finds wrong; payload as for `judge_starter`."""
    data = ran(namespace, payload)
    if data["ok"]:
        return verdict()
    is_check = data["failed"] == len(payload["codes"]) - 1
    if is_check and data["text"].startswith("AssertionError"):
        text = f"the solution of {payload['name']} does not pass its check: mend the one or the other"
    else:
        where = "check of the solution" if is_check else "solution"
        text = f"the {where} of {payload['name']} ends with {data['text']}"
    place = Place(*data["place"]) if data["place"] else None
    return verdict(Mistake("exercise", text, place, data["detail"]))


def ran(namespace: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Return what became of the pieces of code, see `check_code`."""
    data: dict[str, Any] = check_code(namespace, payload)["parts"][0]["data"]
    return data


def verdict(*mistakes: Mistake) -> dict[str, Any]:
    """Return what a branch gives.  Where a right starter fails is not in it: that would move with the prose above."""
    return {"parts": [], "mistakes": [mistake.to_json() for mistake in mistakes]}
