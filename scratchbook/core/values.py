"""Turn the text of a value or a claim into an expression and a format, and its value into a reader's text."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scratchbook.core.near import near_names

LONGEST_VALUE: Final = 200
CONVERSIONS: Final[dict[str, Callable[[Any], str]]] = {"r": repr, "s": str, "a": ascii}
QUOTE: Final = re.compile(r"\"\"\"|'''|\"|'")
ADDRESS: Final = re.compile(r"<.* at 0x[0-9a-f]+>")
BARE_OBJECT: Final = re.compile(r"<.*>", re.DOTALL)  # such as <class 'int'>


class ValueMistake(ValueError):
    """A value that a sentence cannot show; the message is the author's."""


@dataclass(frozen=True)
class Formula:
    """The text of a role, split as in an f-string: expression, conversion ("r", "s", "a" or none) and format.

    spec: None when there is no colon.
    """

    expression: str
    conversion: str = ""
    spec: str | None = None


def split_formula(text: str) -> Formula:
    """Split `expression!r:spec` at the first '!' or ':' outside brackets and strings.

    Our own scanner, for f-strings differ between versions of Python.  A lambda, a slice or `:=` must stand in
    brackets, as in an f-string.   Raises ValueMistake for an unknown conversion or no expression.
    """
    end = _find_end(text)
    expression, rest = text[:end].strip(), text[end:]
    if not expression:
        raise ValueMistake("there is no expression; write one such as `loss:.4f`")
    conversion = ""
    if rest.startswith("!"):
        conversion, colon, spec = rest[1:].partition(":")
        conversion = conversion.strip()
        if conversion not in CONVERSIONS:
            raise ValueMistake(f"'!{conversion}' is no conversion; there are !r, !s and !a")
        return Formula(expression, conversion, spec if colon else None)
    return Formula(expression, "", rest[1:] if rest else None)


def _find_end(text: str) -> int:
    """Return where the expression ends: at a '!' or ':' of its own, or with the text."""
    depth, place = 0, 0
    while place < len(text):
        letter = text[place]
        if quote := QUOTE.match(text, place):
            place = _end_of_string(text, quote.end(), quote[0])
            continue
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif depth == 0 and (letter == ":" or (letter == "!" and text[place + 1 : place + 2] != "=")):
            return place
        place += 1
    return len(text)


def _end_of_string(text: str, place: int, quote: str) -> int:
    """Return the place behind the quote that closes a string; the text's end when none does."""
    while place < len(text):
        if text[place] == "\\":
            place += 2
        elif text.startswith(quote, place):
            return place + len(quote)
        else:
            place += 1
    return len(text)


def show_value(text: str, evaluate: Callable[[str], Any]) -> str:
    """Return what a sentence shows for the text of a role.

    evaluate: gives the value of an expression.   Without a format a number is what `print` shows, and a NumPy scalar
    is shown as the number that it is.   Raises ValueMistake; what `evaluate` raises passes through.
    """
    formula = split_formula(text)
    value = evaluate(formula.expression)
    spec = None if formula.spec is None else _fill(formula.spec, evaluate)
    with np.printoptions(legacy="1.25"):  # that is: np.float64(3.5) inside a tuple is written 3.5
        if formula.conversion:
            value = CONVERSIONS[formula.conversion](value)
        shown = _plain(value, formula.expression) if spec is None else _format(value, spec)
    return _checked(shown, formula.expression)


def _fill(spec: str, evaluate: Callable[[str], Any]) -> str:
    """Put values into the braces of a format, as in `x:.{digits}f`."""
    return re.sub(r"\{([^{}]*)\}", lambda found: show_value(found[1], evaluate), spec)


def _format(value: Any, spec: str) -> str:
    """Format a value; an array of one number is that number.  Raises ValueMistake when the format does not fit."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    try:
        return format(value, spec)
    except (ValueError, TypeError) as error:
        kind = type(value).__name__
        raise ValueMistake(f"the format ':{spec}' does not fit a value of type {kind}: {error}") from None


def _plain(value: Any, expression: str) -> str:
    """Return the text of a value without a format."""
    if value is None:
        raise ValueMistake(f"`{expression}` is None")
    if is_drawing(value):
        raise ValueMistake(f"`{expression}` is a drawing; show it with :figure: in a block")
    if not isinstance(value, str) and BARE_OBJECT.fullmatch(str(value)):
        raise ValueMistake(f"`{expression}` is an object that has no text of its own; name what to show of it")
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        raise ValueMistake(f"`{expression}` is {value}; if that is meant, give it a format such as `:.2f`")
    return str(value)


def is_drawing(value: Any) -> bool:
    """Whether a value is a figure, or a part of one, whose text says nothing of what it shows."""
    return any(kind.__module__.startswith("matplotlib.") for kind in type(value).__mro__)


def _checked(shown: str, expression: str) -> str:
    """Return the text when a sentence can hold it."""
    if ADDRESS.search(shown):
        raise ValueMistake(f"`{expression}` is an object that has no text of its own; name what to show of it")
    if not shown.strip():
        raise ValueMistake(f"`{expression}` is empty")
    if "\n" in shown:
        raise ValueMistake(f"`{expression}` takes {shown.count(chr(10)) + 1} lines; a sentence has room for one")
    if len(shown) > LONGEST_VALUE:
        raise ValueMistake(
            f"`{expression}` takes {len(shown)} characters; a sentence has room for {LONGEST_VALUE}: name a part of it"
        )
    return shown


def check_claim(expression: str, evaluate: Callable[[str], Any]) -> None:
    """Raise ValueMistake unless an expression is true; what `evaluate` raises passes through."""
    if not expression.strip():
        raise ValueMistake("there is no expression; write one that is true or false")
    value = evaluate(expression.strip())
    if isinstance(value, np.ndarray):
        if value.ndim:
            raise ValueMistake(f"`{expression}` gives {value.size} answers; say .all() or .any()")
        value = value[()]
    if not isinstance(value, bool | np.bool_):
        shown = str(value).split("\n", 1)[0][:LONGEST_VALUE]
        raise ValueMistake(f"`{expression}` is {shown}, which is neither true nor false")
    if not value:
        raise ValueMistake(f"`{expression}` does not hold{sides_of(expression, evaluate)}")


def sides_of(expression: str, evaluate: Callable[[str], Any]) -> str:
    """Return the values on both sides of a comparison that failed, where they are short."""
    node = ast.parse(expression.strip(), mode="eval").body
    if not isinstance(node, ast.Compare):
        return ""
    try:
        with np.printoptions(legacy="1.25"):
            sides = [str(evaluate(ast.unparse(side))) for side in (node.left, *node.comparators)]
    except Exception:  # a side that can be evaluated only once has said all that it will
        return ""
    if any("\n" in side or len(side) > 60 for side in sides):
        return ""
    return f": the sides are {' and '.join(sides)}"


def nearest_names(error: NameError, names: list[str]) -> str:
    """Return the choice that an author has after an undefined name."""
    near = near_names(error.name or "", [name for name in names if not name.startswith("__")])
    return f"; did you mean {' or '.join(near)}" if near else ""
