"""Call code with the symbols of an equation: arguments by the names of the signature, and numbers of what returns."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from .errors import EquationError
from .notation import Notation, Symbol
from .origins import CodeObject, describe
from .symbols import code_name

ROOT: Final = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class CodeCall:
    """A function with the code names that fill its parameters.  rooted: parameters that are dicts of symbols, such as
    weights."""

    function: Callable[..., Any]
    code: CodeObject
    arguments: dict[str, str]
    rooted: dict[str, tuple[str, ...]]

    @property
    def text(self) -> str:
        """The call as an author would write it."""
        parts = [name if name == argument else f"{name}={argument}" for name, argument in self.arguments.items()]
        return f"{self.code.name}({', '.join(parts)})"

    def run(self, environment: Mapping[str, Any]) -> Any:
        """Call it with the values of a draw.  Raises EquationError for whatever the code raises."""
        given = {parameter: environment[name] for parameter, name in self.arguments.items()}
        try:
            return self.function(**given)
        except Exception as error:  # the code under test may raise anything; the author must see what
            raise EquationError(f"{self.text} raised {type(error).__name__}: {error}", field="check") from error


def bind_signature(
    function: Callable[..., Any], name: str, notation: Notation, used: set[str], extra: Iterable[str] = ()
) -> CodeCall:
    """Fill a function's parameters with symbols by their code names.

    used: keys that the equation mentions; a parameter with a default is filled only by these.   extra: further names
    to use.
    Raises EquationError that names a parameter without a symbol.
    """
    arguments: dict[str, str] = {}
    rooted: dict[str, tuple[str, ...]] = {}
    codes = notation.by_code()
    for parameter in signature_of(function, name):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        found = find_symbols(parameter.name, notation, used)
        is_optional = parameter.default is not parameter.empty
        if parameter.name in extra:
            arguments[parameter.name] = parameter.name
        elif len(found) == 1 and found[0].isidentifier():
            check_value(codes[found[0]], name, parameter.name)
            if not is_optional or codes[found[0]].key in used:
                arguments[parameter.name] = found[0]
        elif found:
            rooted[parameter.name] = tuple(found)
            arguments[parameter.name] = parameter.name
        elif not is_optional:
            raise EquationError(missing_symbol(name, parameter.name, notation), field="check")
    return CodeCall(function, describe(function, name), arguments, rooted)


def plain_call(text: str, function: Callable[..., Any] | None, notation: Notation) -> CodeCall | None:
    """A call that gives a function symbols and nothing else, as f(x, g); None for any other expression."""
    node = ast.parse(text, mode="eval").body
    if function is None or not isinstance(node, ast.Call):
        return None
    codes = notation.by_code()
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not all(isinstance(part, ast.Name) and part.id in codes for part in given):
        return None
    names = [ast.unparse(part) for part in node.args]
    try:
        named = {keyword.arg or "": ast.unparse(keyword.value) for keyword in node.keywords}
        bound = inspect.signature(function).bind(*names, **named)
    except (TypeError, ValueError):
        return None
    arguments = {parameter: name for parameter, name in bound.arguments.items() if isinstance(name, str)}
    return CodeCall(function, describe(function, ast.unparse(node.func)), arguments, {})


def check_value(symbol: Symbol, name: str, parameter: str) -> None:
    """Refuse to fill a parameter with an index, which has no one value."""
    if symbol.kind.name == "index":
        kind = f"int({symbol.kind.arguments[0]})" if symbol.kind.arguments else "int(1..n)"
        fact = f"{name} takes '{parameter}', and {symbol.latex} is an index, which runs over all its values"
        raise EquationError(f"{fact}; declare it as a number: '{symbol.latex}: {kind}'", field="check")


def signature_of(function: Callable[..., Any], name: str) -> Iterable[inspect.Parameter]:
    """The parameters of a function.  Raises EquationError for one that does not say them, such as some of NumPy's."""
    try:
        return inspect.signature(function).parameters.values()
    except ValueError:
        text = f"{name} does not say what it takes; write the call with its arguments"
        raise EquationError(text, field="check") from None


def find_symbols(parameter: str, notation: Notation, used: set[str]) -> list[str]:
    """The code names of the symbols that fill a parameter: its own name, paths that begin with it, or another case of
    it."""
    codes = notation.by_code()
    if parameter in codes:
        return [parameter]
    paths = [code for code in codes if not code.isidentifier() and root_of(code) == parameter]
    if paths:
        return paths
    others = [code for code, symbol in codes.items() if code.lower() == parameter.lower() and symbol.key in used]
    return others if len(others) == 1 else []


def root_of(path: str) -> str:
    """The first name of a path."""
    match = ROOT.match(path)
    return match.group() if match else path


def missing_symbol(name: str, parameter: str, notation: Notation) -> str:
    """What to say about a parameter that no symbol fills."""
    candidates = [symbol.latex for symbol in notation.symbols.values() if symbol.kind.shape][:1]
    entries = [f"'{parameter}: ...'", *(f"'{latex} as {parameter}: ...'" for latex in candidates)]
    fact = f"{name} takes '{parameter}', and no symbol has that name in the code"
    return f"{fact}; write {' or '.join(entries)} in the notation, or the call with its arguments"


def environment_of(notation: Notation, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values by their Python names; those with a path within dicts and objects."""
    environment: dict[str, Any] = {}
    for key, value in values.items():
        symbol = notation.symbols.get(key)
        if symbol is None:
            continue
        if symbol.code.isidentifier():
            environment[symbol.code] = value
        else:
            put_path(environment, symbol.code, value)
    for key, value in values.items():
        symbol = notation.symbols.get(key)
        if symbol is not None and not symbol.code.isidentifier():  # W_g of weights['W_g'] is W_g where nothing else is
            environment.setdefault(code_name(key), value)
    return environment


def put_path(environment: dict[str, Any], path: str, value: Any) -> None:
    """Put a value at weights['gain_1'], making the dicts on the way."""
    holder: Any = environment
    *above, last = steps_of(path)
    for step in above:
        holder = holder.setdefault(step, {})
    holder[last] = value


@cache
def steps_of(path: str) -> tuple[Any, ...]:
    """The steps of a path, outside first: weights and gain_1 of weights['gain_1']."""
    steps: list[Any] = []
    node: ast.expr = ast.parse(path, mode="eval").body
    while isinstance(node, ast.Subscript | ast.Attribute):
        if isinstance(node, ast.Attribute):
            steps.append(node.attr)
            node = node.value
            continue
        assert isinstance(node.slice, ast.Constant)  # the notation refuses any other
        steps.append(node.slice.value)
        node = node.value
    assert isinstance(node, ast.Name)
    return node.id, *reversed(steps)


def own(value: Any) -> Any:
    """A value that code may change in place, arrays within dicts too: nobody else has it."""
    if isinstance(value, dict):
        return {key: own(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def result_of(value: Any) -> Any:
    """What a function computes: of a trace its result."""
    if hasattr(value, "result") and not isinstance(value, np.ndarray):
        return value.result
    if isinstance(value, dict) and "result" in value:
        return value["result"]
    return value


def as_numbers(value: Any, text: str) -> Any:
    """What code gave as numbers of the checker: whole ones stay whole, lists become arrays.

    text: the code, for messages.   Raises EquationError for what is no array of real numbers.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        fact = f"{text} returns arrays of different shapes, which are no array"
        raise EquationError(f"{fact}; pick one, as in {text}[0]", field="check") from None
    if array.dtype.kind == "c":
        raise EquationError(f"{text} returns complex numbers; compare real ones", field="check")
    if array.dtype.kind not in "biuf":
        raise EquationError(f"{text} returns a {type(value).__name__}; compare an array of numbers", field="check")
    if isinstance(value, bool | np.bool_):
        return int(value)
    return array if isinstance(value, list | tuple) else own(value)
