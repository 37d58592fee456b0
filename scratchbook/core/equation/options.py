r"""Read what an author writes beside an equation: targets, gradients, bindings, points; Python that only names, calls
and computes.

An expression is compiled after every node of it was found in a list; it is evaluated with the names given and nothing
else.
"""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any, Final

from .errors import EquationError, fault
from .tokens import Token

ALLOWED: Final = (
    ast.Expression, ast.Name, ast.Load, ast.Attribute, ast.Call, ast.keyword, ast.Constant, ast.Subscript, ast.Slice,
    ast.Tuple,
    ast.List, ast.Dict, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Compare, ast.cmpop,
)  # fmt: skip
BUILTINS: Final = {
    name: getattr(builtins, name)
    for name in ("abs", "bool", "dict", "float", "int", "len", "list", "max", "min", "range", "round", "sum", "tuple")
}
RTOL: Final = 1e-9
# Above it an approximation says little: a quarter of the larger value.
MAX_RTOL: Final = 0.25
MAX_TEXT: Final = 2_000
MOST_KEPT: Final = 1_000  # expressions; each is asked for again at every draw


@dataclass(frozen=True)
class Request:
    r"""What an author asks about one equation, as written.

    label: names the check and seeds its draws.   check: one target a line, LEFT == PYTHON, PYTHON, or a function's
    name.
    grad: NAME = PYTHON a line, with `up` for what arrives.   using: \operatorname{F} = PYTHON a line.
    where: further notation, all of which must be used.   rtol: for \approx.   at: d=768 h=2048.   base: the first
    index, 0 or 1.
    """

    label: str = ""
    check: str = ""
    grad: str = ""
    using: str = ""
    where: str = ""
    rtol: str = ""
    at: str = ""
    base: str = ""

    @property
    def first_index(self) -> int:
        """The first index: 1 unless the author says 0."""
        if self.base.strip() not in ("", "0", "1"):
            raise whole_fault(f"the base is '{self.base.strip()}'; write 0 or 1", self.base, "base")
        return int(self.base.strip() or 1)


@dataclass(frozen=True)
class Expression:
    """Python of an option.  names: what it reads.   calls: the names and paths that it calls."""

    text: str
    names: frozenset[str]
    calls: tuple[str, ...]
    code: CodeType = field(compare=False, repr=False)
    source: str = ""
    field_name: str = "check"
    offset: int = 0

    def value(self, environment: Mapping[str, Any]) -> Any:
        """Evaluate with these names and a few harmless functions.

        Raises EquationError for an unknown name, and for whatever the code raises.
        """
        for name in sorted(self.names):
            if name not in environment and name not in BUILTINS:
                raise self.fault(unknown_name(name, environment))
        try:
            return eval(self.code, {**BUILTINS, **environment})
        except EquationError:
            raise
        except Exception as error:  # the code under test may raise anything; the author must see what
            raise self.fault(f"{self.text} raised {type(error).__name__}: {error}") from error

    def fault(self, text: str) -> EquationError:
        """A mistake in this expression."""
        return EquationError(
            text,
            offset=self.offset,
            end=self.offset + len(self.text),
            source=self.source or self.text,
            field=self.field_name,
        )


def unknown_name(name: str, environment: Mapping[str, Any]) -> str:
    """What to say about a name that is nowhere."""
    close = difflib.get_close_matches(name, [key for key in environment if not key.startswith("_")], 1)
    hint = f"; did you mean {close[0]}?" if close else "; import it on the page, or declare it in the notation"
    return f"{name} is neither a symbol's Python name nor a name of the page{hint}"


@lru_cache(MOST_KEPT)
def read_expression(text: str, source: str = "", field_name: str = "check", offset: int = 0) -> Expression:
    """Read Python that may name, call, index and compute; nothing else.

    Raises EquationError at the part that is not allowed.
    """
    whole = source or text
    lead = len(text) - len(text.lstrip())
    text = text.strip()
    offset += lead
    end = offset + max(1, len(text))
    if len(text) > MAX_TEXT:
        raise EquationError(
            f"an expression of {len(text)} characters is over the limit of {MAX_TEXT}",
            offset=offset,
            end=end,
            source=whole,
            field=field_name,
        )
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = max(0, (getattr(error, "offset", 1) or 1) - 1)
        raise EquationError(
            f"'{text}' is not a Python expression: {getattr(error, 'msg', error)}",
            offset=offset + column,
            end=end,
            source=whole,
            field=field_name,
        ) from None
    for node in ast.walk(tree):
        reason = forbidden(node)
        if reason:
            start = offset + getattr(node, "col_offset", 0)
            raise EquationError(
                reason,
                offset=start,
                end=offset + (getattr(node, "end_col_offset", 0) or len(text)),
                source=whole,
                field=field_name,
            )
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    calls = tuple(ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return Expression(text, names, calls, compile(tree, "<check>", "eval"), whole, field_name, offset)


def forbidden(node: ast.AST) -> str:
    """Why a part of an expression is not allowed; empty when it is."""
    if isinstance(node, ast.Lambda):
        return "a lambda is made for the check only; name the function that the book shows"
    if not isinstance(node, ALLOWED):
        return f"'{type(node).__name__}' has no place in a check; name, call, index and compute only"
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        return f"the attribute {node.attr} is private"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        power = node.right.value
        if isinstance(power, int | float) and abs(power) > 1000:
            return f"the power {power} is over the limit of 1000"
    return ""


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The lines of an option that say something, each with its offset."""
    offset = 0
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            yield offset, line
        offset += len(line) + 1


def split_line(line: str, sign: str) -> tuple[str, str, int]:
    """Part a line at the first sign outside brackets: left, right, and where the right begins; no left without the
    sign."""
    depth = 0
    for place, character in enumerate(line):
        depth += (character in "{([") - (character in "})]")
        if depth == 0 and line.startswith(sign, place) and line[place : place + 2] != "==" * (sign == "="):
            return line[:place].strip(), line[place + len(sign) :], place + len(sign)
    return "", line, 0


def read_tolerance(request: Request, approximation: Token | None) -> float:
    r"""The relative tolerance: compulsory for \approx, at most 1e-9 for an equality.

    approximation: the first \approx of the equation.

    Raises EquationError when the author's is missing, too large or not a number.
    """
    text = request.rtol.strip()
    if not text:
        if approximation:
            said = "an approximation needs its tolerance; write ':rtol: 0.01' with the largest relative difference"
            raise fault(said, approximation)
        return RTOL
    try:
        value = float(text)
    except ValueError:
        raise whole_fault(f"the tolerance '{text}' is not a number; write for example 0.01", text, "rtol") from None
    if not 0 < value <= MAX_RTOL:
        raise whole_fault(f"the tolerance {text} must lie between 0 and {MAX_RTOL}", text, "rtol")
    if value > RTOL and not approximation:
        raise whole_fault(f"the tolerance {text} is above {RTOL:g} for '='; write \\approx, or drop it", text, "rtol")
    return value


def whole_fault(text: str, source: str, field_name: str) -> EquationError:
    """A mistake that is the whole of an option."""
    return EquationError(text, offset=0, end=len(source), source=source, field=field_name)


def read_points(request: Request) -> list[dict[str, float]]:
    """The points of ':at: d=768 h=2048', one a line or between semicolons.

    Raises EquationError for what is not NAME=NUMBER.
    """
    points = []
    for piece in request.at.replace(";", "\n").split("\n"):
        if not piece.strip():
            continue
        point: dict[str, float] = {}
        for pair in piece.replace(",", " ").split():
            name, sign, number = pair.partition("=")
            try:
                value = float(number)
            except ValueError:
                sign = ""
            if not sign or not name.isidentifier():
                start = request.at.find(pair)
                text = f"'{pair}' is not a point; write ':at: d=768 h=2048'"
                raise EquationError(text, offset=start, end=start + len(pair), source=request.at, field="at")
            point[name] = int(value) if value == int(value) else value
        points.append(point)
    return points
