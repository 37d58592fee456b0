"""Read a request: which left sides are compared with which code, and which functions that code is."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from .binding import BoundFunctions
from .codecalls import CodeCall, as_numbers, bind_signature, own, result_of
from .definitions import Definitions
from .equation import Equation, Statement, definition_of
from .errors import EquationError
from .factors import check_factors
from .joined import put_names
from .leftsides import read_left, resolve_left
from .nodes import Call, Index, Name, Node, free_names, walk
from .notation import Notation
from .options import Expression, Request, lines_of, read_expression, split_line
from .origins import CodeObject, at_path, called_functions, describe
from .parser import Parser
from .shown import is_spelled
from .spelling import spell
from .symbols import BESIDE, latex_of, split_key, symbol_key
from .tokens import Macros, Token, read_tokens

EXPRESSION: Final = "left side "


@dataclass(frozen=True)
class Target:
    """One left side and the code that gives its value.

    keys: the names, more than one when the code returns a tuple.   source: the code.
    check, offset, end: the text of ':check:', and where this target stands in it.
    """

    keys: tuple[str, ...]
    source: Expression | CodeCall
    check: str = ""
    offset: int = 0
    end: int = 0

    @property
    def text(self) -> str:
        """The code as an author would write it."""
        return self.source.text

    @property
    def reads(self) -> set[str]:
        """The names that the code takes."""
        return set(self.source.names if isinstance(self.source, Expression) else self.source.arguments.values())

    def run(self, environment: Mapping[str, Any], namespace: Mapping[str, Any]) -> Any:
        """What the code returns, given numbers of its own.  Raises EquationError, at this target, for whatever it
        raises."""
        if isinstance(self.source, CodeCall):
            with self.blamed():
                return self.source.run(own({**environment}))
        return self.source.value({**namespace, **own({**environment})})

    def values(self, raw: Any) -> dict[str, Any]:
        """The value of each name, from what the code returned.  Raises EquationError when they do not match."""
        result = result_of(raw)
        if len(self.keys) == 1:
            if isinstance(result, tuple | dict):
                kind = "tuple" if isinstance(result, tuple) else "dict"
                part = 0 if kind == "tuple" else next(iter(result), "name")
                raise self.fault(f"{self.text} returns a {kind}; pick one part, as in {self.text}[{part!r}]")
            return {self.keys[0]: self.numbers(result)}
        if not isinstance(result, tuple | list) or len(result) != len(self.keys):
            shown = ", ".join(map(latex_of, self.keys))
            raise self.fault(f"{self.text} gives one value for {shown}; write LEFT == ... for each, one a line")
        return dict(zip(self.keys, map(self.numbers, result), strict=True))

    def numbers(self, value: Any) -> Any:
        """One value as numbers.  Raises EquationError, at this target, for anything else."""
        with self.blamed():
            return as_numbers(value, self.text)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """What goes wrong within without a place has its place at this target."""
        try:
            yield
        except EquationError as error:
            raise (error if error.source else self.fault(error.text)) from error.__cause__

    def fault(self, text: str) -> EquationError:
        """A mistake in this target, at its place."""
        return EquationError(text, offset=self.offset, end=self.end, source=self.check, field="check")


def read_targets(
    equation: Equation,
    definitions: Definitions,
    request: Request,
    namespace: Mapping[str, Any],
    used: set[str],
    macros: Macros | None,
) -> list[Target]:
    """The targets of ':check:', one a line.

    Raises EquationError for a left side that the equation does not have, and for a target named twice.
    """
    targets = []
    for offset, line in lines_of(request.check):
        left, right, start = split_line(line, "==")
        place = {
            "offset": offset + line.find(left),
            "end": offset + line.find(left) + len(left) if left else offset + len(line),
            "source": request.check,
            "field": "check",
        }
        if left:
            key = left_key(left, equation, macros, place)
            keys: tuple[str, ...] = (definitions.last.get(key, key),)
        else:
            check_word(right, equation, place)
            keys = tuple(definitions.last.get(key, key) for key in main_keys(equation, place))
        source = read_source(right, request, offset + start, equation.notation, namespace, used)
        targets.append(Target(keys, source, request.check, offset, offset + len(line)))
    seen: set[str] = set()
    for target in targets:
        for key in target.keys:
            if key in seen:
                raise target.fault(f"{latex_of(key)} is compared twice; keep one line")
            seen.add(key)
            check_on_left(key, equation, definitions, target)
    return targets


def check_word(code: str, equation: Equation, place: dict[str, Any]) -> None:
    """Refuse wkv_t = ... beside a function wkv, where w, k and v are declared: TeX makes no name of letters."""
    name = code.partition("(")[0].strip().rpartition(".")[2]
    for statement in equation.statements:
        left = statement.members[0]
        bases = [part.base if isinstance(part, Index) else part for part in getattr(left, "factors", ())]
        if len(bases) > 1 and "".join(base.key for base in bases if isinstance(base, Name)) == name:
            fact = f"'{name}' on the left is the product of its letters"
            raise EquationError(f"{fact}; for one name write \\mathrm{{{name}}}", **place)


def read_source(
    text: str, request: Request, offset: int, notation: Notation, namespace: Mapping[str, Any], used: set[str]
) -> Expression | CodeCall:
    """The code of one line: a function's name alone, or an expression."""
    name = text.strip()
    function = None if name in notation.by_code() else at_path(name, namespace)
    if callable(function):
        try:
            return bind_signature(function, name, notation, used)
        except EquationError as error:
            error.offset, error.end = offset, offset + len(text)
            raise error.within(request.check, "check") from None
    expression = read_expression(text, request.check, "check", offset)
    check_factors(expression, namespace, notation, used)
    return expression


def left_key(left: str, equation: Equation, macros: Macros | None, place: dict[str, Any]) -> str:
    """The key of a target's left side, written with or without its arguments."""
    defined = {statement.definition.key for statement in equation.statements if statement.definition}
    try:
        tokens = put_names(spell(read_tokens(left, macros)), equation.lexicon.variables | equation.lexicon.functions)
        key = plain_key(tokens) or next((key for key in defined if is_spelled(tokens, key)), "")
        if key not in defined and ")" in key:  # N^{(t)}, or an element of it
            key = next((other for other in defined if split_key(other)[2] and is_spelled(tokens, other)), key)
        named = read_left(tokens, equation.lexicon)
        if key not in defined and named is not None and named.arguments is not None:
            key = resolve_left(equation.lexicon, named)[0] or ""
        if key in defined or key + BESIDE in defined:
            return key if key in defined else key + BESIDE
        versions = [other for other in defined if split_key(other)[0] == key]
        if len(versions) == 1 and key not in equation.notation.symbols:
            return versions[0]  # U for U_i, \xi for the \xi_t of \xi_t(i, j) = ..., since there is no other
        node = Parser(tokens, equation.lexicon).whole()
    except EquationError as error:
        raise EquationError(f"'{left}' is no left side of this equation: {error.text}", **place) from None
    for number, statement in enumerate(equation.statements):
        if statement.members[0] == node and statement.definition is None:
            return expression_key(number)
    definition = definition_of(node)
    if definition is None:
        raise EquationError(
            f"'{left}' is on no left side; write one of {', '.join(left_sides(equation)) or 'the left sides'}", **place
        )
    return definition.key


def plain_key(tokens: list[Token]) -> str:
    """The key of tokens that are one symbol; empty when they are more."""
    try:
        return symbol_key(tokens)
    except EquationError:
        return ""


def expression_key(number: int) -> str:
    """The key of a left side that is an expression, such as \\log p(x)."""
    return f"{EXPRESSION}{number}"


def is_expression_key(key: str) -> bool:
    """Does a key stand for the left side of a statement, and for no name?"""
    return key.startswith(EXPRESSION)


def left_sides(equation: Equation) -> list[str]:
    """The names on left sides, as LaTeX."""
    return [latex_of(statement.definition.key) for statement in equation.statements if statement.definition]


def check_on_left(key: str, equation: Equation, definitions: Definitions, target: Target) -> None:
    """Refuse a target that no left side mentions."""
    if definitions.defines(key) or is_expression_key(key):
        return
    if any(key in names_on_left(statement.members[0]) for statement in definitions.statements):
        return
    sides = ", ".join(dict.fromkeys(left_sides(equation)))
    given = "; drop its declaration if the display gives it" if key in equation.notation.symbols else ""
    given += "".join(sizes_as_indices(statement, equation.notation) for statement in equation.statements)
    raise target.fault(f"{latex_of(key)} is on no left side; the left sides are {sides or 'no names'}{given}")


def sizes_as_indices(statement: Statement, notation: Notation) -> str:
    """What to say about y_n = ... x_n where n is a size that only a shape names; empty where none stands so."""
    definition = statement.definition
    letters = split_key(definition.key)[1] if definition else ""
    parts = [part for member in statement.members[1:] for part in walk(member) if isinstance(part, Index)]
    indices = {index.key for part in parts for index in part.indices if isinstance(index, Name)}
    sizes = [key for key, symbol in notation.symbols.items() if symbol.is_implicit and key in letters]
    shared = [latex_of(key) for key in sizes if key in indices]
    are = "are sizes" if len(shared) > 1 else "is a size"
    return f"; {' and '.join(shared)} {are} here, so write another letter for the index" if shared else ""


def names_on_left(node: Node) -> set[str]:
    """The names of a left side that is an expression."""
    return {part.key for part in walk(node) if isinstance(part, Name)}


def main_keys(equation: Equation, place: dict[str, Any]) -> list[str]:
    """The left sides that nothing else in the equation uses: what it is about.

    Raises EquationError when there is none.
    """
    defined: dict[str, None] = {}
    uses = set[str]()
    for statement in equation.statements:
        definition = statement.definition
        if definition is not None:
            defined[definition.key] = None
            inside = set().union(*(mentioned(member) for member in statement.members[1:]))
            uses |= inside - {definition.key}
        else:
            uses |= set().union(*(mentioned(member) for member in statement.members))
    definitions = [statement.definition for statement in equation.statements if statement.definition is not None]
    rights = [member for statement in equation.statements for member in statement.members[1:]]
    bases = bases_used(rights, defined)
    uses |= {definition.key for definition in definitions if definition.family in bases}
    roots = [
        key for key in defined if key not in uses and not (key.endswith("^{2}") and key.removesuffix("^{2}") in uses)
    ]
    expressions = [number for number, statement in enumerate(equation.statements) if statement.definition is None]
    if not roots and (len(expressions) == 1 or expressions[-1:] == [len(equation.statements) - 1]):
        return [expression_key(expressions[-1])]
    if not roots:
        raise EquationError("every left side is used by another; write ':check: LEFT == PYTHON' for one", **place)
    return roots


def bases_used(members: Iterable[Node], defined: Iterable[str]) -> set[str]:
    r"""The bases of functions that are called by a member of no left side, as Swish of \operatorname{Swish}_1(x)."""
    known = set(defined)
    calls = [part for member in members for part in walk(member) if isinstance(part, Call) and part.indices]
    return {part.base for part in calls if part.function not in known}


def mentioned(node: Node) -> set[str]:
    """Names and functions inside a tree."""
    return free_names(node) | {getattr(part, "function", "") for part in walk(node)} - {""}


def code_of(
    targets: Iterable[Target], functions: BoundFunctions, namespace: Mapping[str, Any]
) -> tuple[CodeObject, ...]:
    """The project's functions that the targets run.

    Raises EquationError for a wrapper, and for a target that also stands on the right.
    """
    found: dict[CodeObject, Any] = {}
    for target in targets:
        if isinstance(target.source, CodeCall):
            found[target.source.code] = target.source.function
        else:
            tested = tested_call(target.source)
            for name, function in called_functions(target.source, namespace):
                try:
                    found[describe(function, name)] = function if name == tested else None
                except EquationError as error:
                    raise target.source.fault(error.text) from None
    for key in functions.called:
        bound = functions.functions[key]
        for name, function in bound_functions(bound.expression, bound.is_name, namespace):
            if any(function is other for other in found.values()):
                raise bound.expression.fault(
                    f"{name} stands on both sides, so the check would compare it with itself; bind a part of it, or "
                    f"write its formula"
                )
    return tuple(found)


def tested_call(expression: Expression) -> str:
    """The function that a target is the result of, whole or a part of it; empty for a computation with several."""
    node = ast.parse(expression.text, mode="eval").body
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def bound_functions(expression: Expression, is_name: bool, namespace: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The functions that a binding runs."""
    if is_name:
        value = namespace.get(expression.text)
        return [(expression.text, value)] if value is not None else []
    return called_functions(expression, namespace)
