"""Tie symbols to code: the page's functions by their signatures, and functions within an equation by a Python
expression."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .algebra import Identity, Ones, Row, Value, shown
from .errors import EquationError, fault
from .notation import Function, Notation, Symbol
from .options import BUILTINS, Expression, read_expression
from .symbols import code_name, split_key

PLACEHOLDER: Final = re.compile(r"_\d?$")
ROOT: Final = re.compile(r"[A-Za-z_]\w*")
STEP: Final = 1e-3


@dataclass(frozen=True)
class CodeObject:
    """A function that a check ran.  line: 1-based first line, that of a decorator included."""

    name: str
    module: str
    qualname: str
    file: str
    line: int


def describe(function: Any, name: str) -> CodeObject:
    """Where a function stands.

    Raises EquationError for a lambda, a local function and a wrapper: the check must run the very function that the
    book shows.
    """
    if isinstance(function, functools.partial | types.MethodType) and not hasattr(function, "__code__"):
        raise EquationError(f"{name} is a wrapper; name the function itself")
    plain = inspect.unwrap(function) if callable(function) else function
    code = getattr(plain, "__code__", None)
    qualname, module = getattr(function, "__qualname__", ""), getattr(function, "__module__", "")
    if code is None or not qualname:
        raise EquationError(f"{name} is not a Python function; name one that the book shows")
    if "<" in qualname:
        raise EquationError(
            f"{name} is a {'lambda' if 'lambda' in qualname else 'local function'}; name the function that the book "
            f"shows"
        )
    held: Any = sys.modules.get(module)
    for part in qualname.split("."):
        held = getattr(held, part, None)
    if held is not None and held is not function:
        raise EquationError(f"{name} is not the {qualname} of {module}, but a wrapper; name the function itself")
    return CodeObject(name, module, qualname, code.co_filename, code.co_firstlineno)


def is_project_function(function: Any) -> bool:
    """Is it a Python function, or a wrapper of one, and not one of NumPy or of the standard library?"""
    if isinstance(function, functools.partial):
        return True
    plain = inspect.unwrap(function) if callable(function) else None
    module = str(getattr(function, "__module__", "") or "")
    return getattr(plain, "__code__", None) is not None and module.partition(".")[0] not in (
        "numpy",
        "math",
        "scipy",
        "builtins",
    )


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
    holder: Any = environment
    for step in [node.id, *reversed(steps[1:])]:
        holder = holder.setdefault(step, {})
    holder[steps[0]] = value


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
    shown_name = candidates[0] if candidates else "x"
    fact = f"{name} takes '{parameter}', and no symbol has that name in the code"
    return f"{fact}; write '{shown_name} as {parameter}: ...' in the notation, or the call with its arguments"


@dataclass
class BoundFunctions:
    """The functions that the notation binds, ready to be called by the evaluator.

    namespace: the page's names.   environment: code values of this draw.   used: the code that was called.
    """

    notation: Notation
    namespace: Mapping[str, Any]
    functions: dict[str, Bound] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for key, function in self.notation.functions.items():
            self.functions[key] = read_bound(function, self.notation)

    def has(self, key: str) -> bool:
        """Is the function bound, and is it no family?"""
        return key in self.functions and self.functions[key].member is None

    def has_family(self, base: str) -> bool:
        """Is there a family of this base, such as R_m?"""
        return any(bound.member is not None and bound.base == base for bound in self.functions.values())

    def find(self, key: str, base: str) -> Bound:
        """The binding of a function, or of the family that it belongs to."""
        if self.has(key):
            return self.functions[key]
        return next(bound for bound in self.functions.values() if bound.member is not None and bound.base == base)

    def call(
        self,
        key: str,
        base: str,
        arguments: list[Value],
        indices: list[Value],
        evaluator: Any,
        bound: Mapping[str, Any],
    ) -> Value:
        """Call the code; a complex step goes through it by differences."""
        binding = self.find(key, base)
        self.called.add(binding.key)
        plain = [plain_argument(argument, binding.latex) for argument in arguments]
        environment = dict(self.environment)
        inputs = environment_of(self.notation, evaluator.inputs)
        environment.update(inputs)
        if binding.member is not None:
            if len(indices) != 1:
                raise fault(f"{binding.latex} takes one index")
            environment[binding.member] = indices[0]
        return binding.run(plain, environment, self.namespace)


@dataclass(frozen=True)
class Bound:
    """One function of the notation.  member: the code name of a family's index, m of R_m."""

    key: str
    latex: str
    base: str
    member: str | None
    expression: Expression
    is_name: bool

    def run(self, arguments: list[Any], environment: dict[str, Any], namespace: Mapping[str, Any]) -> Value:
        """The value of the code, by a step of both sizes where an argument carries a complex step."""
        varying = {f"@{number}": value for number, value in enumerate(arguments)} | environment
        scale = largest_step(varying)
        if scale == 0:
            return self.real(arguments, environment, namespace)

        def at(step: float) -> Any:
            moved = [shift(value, step / scale) for value in arguments]
            return np.asarray(
                self.real(moved, {name: shift(value, step / scale) for name, value in environment.items()}, namespace),
                dtype=float,
            )

        slope = (8 * (at(STEP) - at(-STEP)) - (at(2 * STEP) - at(-2 * STEP))) / (12 * STEP)
        return at(0.0) + 1j * scale * slope

    def real(self, arguments: list[Any], environment: dict[str, Any], namespace: Mapping[str, Any]) -> Any:
        """Call the code with real numbers."""
        if self.is_name:
            function = namespace.get(self.expression.text, environment.get(self.expression.text))
            if not callable(function):
                raise self.expression.fault(f"{self.expression.text} is not a function of the page; import it there")
            return self.checked(self.filled(function, arguments, environment))
        if len(arguments) > 1 and "_" in self.expression.names:
            marks = ", ".join(f"_{number}" for number in range(1, len(arguments) + 1))
            text = f"{self.latex} has {len(arguments)} arguments here, and '_' is one; write {marks} where each goes"
            raise self.expression.fault(text)
        placed: dict[str, Any] = {"_": arguments[0] if arguments else None}
        placed |= {f"_{number}": value for number, value in enumerate(arguments, start=1)}
        return self.checked(self.expression.value({**namespace, **environment, **placed}))

    def checked(self, value: Any) -> Any:
        """What the code computed, as numbers.  Raises EquationError, at the binding, for anything else."""
        try:
            return as_numbers(result_of(value), self.expression.text)
        except EquationError as error:
            raise self.expression.fault(error.text) from None

    def filled(self, function: Callable[..., Any], arguments: list[Any], environment: dict[str, Any]) -> Any:
        """Call a named function: the equation's arguments first, further parameters by their names."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except ValueError:
            parameters = []
        further = {
            p.name: environment[p.name]
            for p in parameters[len(arguments) :]
            if p.name in environment and p.default is p.empty
        }
        try:
            return function(*arguments, **further)
        except Exception as error:  # the code under test may raise anything; the author must see what
            raise self.expression.fault(f"{self.expression.text} raised {type(error).__name__}: {error}") from error


def read_bound(function: Function, notation: Notation) -> Bound:
    """Read the Python of one function of the notation."""
    expression = read_expression(function.code, field_name="using")
    base, below, _, _ = split_key(function.key)
    member = next((symbol.code for symbol in notation.symbols.values() if below and symbol.key == below), None)
    if member is None and below and below in expression.names:
        member = below
    uses_argument = any(PLACEHOLDER.match(name) for name in expression.names)
    if not uses_argument and not expression.text.replace(".", "").isidentifier():
        raise expression.fault(f"the binding of {function.latex} does not use its argument; write _ where it goes")
    is_member = member is not None and member in expression.names
    return Bound(function.key, function.latex, base, member if is_member else None, expression, not uses_argument)


def plain_argument(value: Value, name: str) -> Any:
    """An argument as the code takes it."""
    if isinstance(value, Row):
        return value.array
    if isinstance(value, Ones | Identity):
        raise fault(f"{name} of a {shown(value)}; write its size")
    return value


def largest_step(values: Mapping[str, Any]) -> float:
    """The largest imaginary part among values, dicts included."""
    largest = 0.0
    for value in values.values():
        if isinstance(value, dict):
            largest = max(largest, largest_step(value))
        elif np.iscomplexobj(value):
            largest = max(largest, float(np.max(np.abs(np.imag(value)), initial=0.0)))
    return largest


def shift(value: Any, factor: float) -> Any:
    """A value moved along its imaginary part, real again."""
    if isinstance(value, dict):
        return {key: shift(item, factor) for key, item in value.items()}
    if not np.iscomplexobj(value):
        return value
    moved = np.real(value) + factor * np.imag(value)
    return float(moved) if np.ndim(moved) == 0 else moved


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
    return array if isinstance(value, list | tuple) else value


def called_functions(expression: Expression, namespace: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The project's functions that an expression calls, with the names that it calls them by."""
    found = [(path, named_function(path, namespace)) for path in expression.calls]
    return [(path, function) for path, function in found if function is not None]


def named_function(path: str, namespace: Mapping[str, Any]) -> Any:
    """The project's function of a name or path; None for anything else."""
    value = at_path(path, namespace)
    return value if value is not None and path not in BUILTINS and is_project_function(value) else None


def at_path(path: str, namespace: Mapping[str, Any]) -> Any:
    """What a name or a dotted path of public names stands for; None when there is no such thing."""
    first, *further = path.split(".")
    value = namespace.get(first)
    for part in further:
        value = None if part.startswith("_") else getattr(value, part, None)
    return value
