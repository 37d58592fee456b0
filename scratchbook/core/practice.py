"""Judge the code of an exercise: its starter must fail the check, its solution must pass it.  Runs in a branch."""

from __future__ import annotations

import ast
from typing import Any

from scratchbook.core.branches import check_code
from scratchbook.core.cells import Code
from scratchbook.core.errors import Mistake, Place
from scratchbook.core.records import from_json, to_json
from scratchbook.core.values import sides_of


def is_expression(check: Code) -> bool:
    """Whether a check is one expression, and no statements."""
    try:
        ast.parse(bracketed(check), mode="eval")
    except SyntaxError:
        return False
    return True


def bracketed(check: Code) -> str:
    """Return a check in brackets, so that it may take several lines and end with a comment."""
    return f"(\n{check.text}\n)"


def as_assertion(check: Code) -> Code:
    """Turn a check that is one expression into an assertion; one with statements makes its own."""
    if not is_expression(check):
        return check
    first, last = check.numbers[0], check.numbers[-1]
    return Code(check.path, f"assert {bracketed(check)}", (first, *check.numbers, last))


def judge_starter(namespace: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Report a starter that passes the checks, since then there is nothing to do, and one that cannot run at all.

    payload: "name": what messages call the exercise; "codes", "checks": what runs one after another, each a Code as
    `records.to_json` writes it.
    """
    data = ran(namespace, payload)
    if data["text"].startswith("SyntaxError") and data["failed"] < len(payload["codes"]):
        return verdict(Mistake("exercise", f"the starter of {payload['name']} is no Python: {data['text']}"))
    if not data["ok"]:
        return verdict()
    text = f"the starter of {payload['name']} passes the check already: leave something to do, or check more"
    return verdict(Mistake("exercise", text))


def judge_solution(namespace: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Report a solution that raises, or that a check finds wrong; payload as for `judge_starter`."""
    data = ran(namespace, payload)
    if data["ok"]:
        return verdict()
    number = data["failed"] - len(payload["codes"])
    check = from_json(Code, payload["checks"][number]) if number >= 0 else None
    place = Place(*data["place"]) if data["place"] else None
    if check is None or not data["text"].startswith("AssertionError"):
        where = "check of the solution" if check else "solution"
        text = f"the {where} of {payload['name']} ends with {data['text']}"
        return verdict(Mistake("exercise", text, place, data["detail"]))
    text = f"the solution of {payload['name']} does not pass its check"
    if not is_expression(check):
        return verdict(Mistake("exercise", f"{text}: mend the one or the other", place, data["detail"]))
    sides = sides_of(bracketed(check), lambda expression: eval(expression, namespace))
    return verdict(Mistake("exercise", f"{text}{sides}{';' if sides else ':'} mend the one or the other", place))


def ran(namespace: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Return what became of the pieces of code and of the checks behind them, see `check_code`."""
    checks = [to_json(as_assertion(from_json(Code, check))) for check in payload["checks"]]
    data: dict[str, Any] = check_code(namespace, {"codes": [*payload["codes"], *checks]})["parts"][0]["data"]
    return data


def verdict(*mistakes: Mistake) -> dict[str, Any]:
    """Return what a branch gives.  Where a right starter fails is not in it: that would move with the prose above."""
    return {"parts": [], "mistakes": [mistake.to_json() for mistake in mistakes]}
