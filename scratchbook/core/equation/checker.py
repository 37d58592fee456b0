"""Check an equation against code: draw numbers, evaluate both sides for every index, compare, then the gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .asked import with_elements
from .binding import BoundFunctions
from .comparing import Comparer
from .definitions import collect
from .draws import needed
from .equation import Equation, parse_equation, parse_plain
from .errors import EquationError, fault
from .notation import Notation, read_notation
from .options import Request, read_points, read_tolerance
from .prepared import Prepared
from .suggest import suggest
from .symbols import latex_of
from .targets import code_of, read_targets
from .tokens import Macros
from .vacuity import check_vacuity
from .verdict import Disagreement, Verdict, failed


def check(
    equation: Equation,
    request: Request,
    namespace: Mapping[str, Any],
    macros: Macros | None = None,
    *,
    suggests: bool = True,
) -> Verdict:
    """Compare an equation with code, and say what was found.

    namespace: the page's names.   macros: those of the page, for the LaTeX in options.   suggests: look for one-edit
    changes
    after a difference.   Raises nothing; every mistake is a verdict.
    """
    try:
        prepared = prepare(equation, request, namespace, macros)
        return run(prepared, suggests=suggests)
    except EquationError as error:
        return failed(error.within(equation.source, "latex") if error.field == "latex" else error)
    except RecursionError:
        return failed(
            EquationError("the equation nests too deep; name a part and write it apart", source=equation.source)
        )


def prepare(
    equation: Equation, request: Request, namespace: Mapping[str, Any], macros: Macros | None = None
) -> Prepared:
    """Read the request: notation and functions of its own, targets, tolerance, points.

    Raises EquationError, in the text where the mistake is.
    """
    return prepare_read(with_own_notation(equation, request, macros), request, namespace, macros)


def prepare_read(
    equation: Equation, request: Request, namespace: Mapping[str, Any], macros: Macros | None = None
) -> Prepared:
    """Prepare an equation that was read with all of its notation, or a change of one."""
    equation = with_elements(equation, request, macros)
    check_totals(equation, request.first_index)
    definitions = collect(equation)
    functions = BoundFunctions(equation.notation, namespace)
    used = used_keys(equation, functions)
    targets = read_targets(equation, definitions, request, namespace, used, macros)
    for target in targets:
        used |= code_keys(equation, target.source)
    used |= gradient_keys(equation, request)
    signs = [sign for statement in equation.statements for sign in statement.signs]
    prepared = Prepared(
        equation=equation,
        request=request,
        namespace=namespace,
        macros=macros,
        definitions=definitions,
        functions=functions,
        targets=tuple(targets),
        symbols=tuple(needed(equation.notation, used)),
        rtol=read_tolerance(request, next((sign for sign in signs if sign.text == r"\approx"), None)),
        points=tuple(read_points(request)),
        base=request.first_index,
    )
    check_vacuity(prepared)
    return prepared


def check_totals(equation: Equation, base: int) -> None:
    r"""Refuse \alpha_0 = \sum_k \alpha_k of a declared \alpha whose elements count from 0.  Raises EquationError."""
    for statement in equation.statements if base == 0 else ():
        key = statement.definition.key if statement.definition else ""
        if key in equation.lexicon.fresh and key.endswith("_{0}"):
            fact = f"{latex_of(key)} is given here, and an element of a declared array"
            raise fault(f"ambiguous: {fact}; name one of both apart", statement.members[0])


def with_own_notation(equation: Equation, request: Request, macros: Macros | None) -> Equation:
    """The equation read again with the notation that only this request declares."""
    notation = own_notation(equation.notation, request, macros)
    if notation is equation.notation:
        return equation
    if equation.is_plain:
        return parse_plain(equation.source, notation, equation.given)
    return parse_equation(equation.source, notation, macros, equation.given)


def own_notation(notation: Notation, request: Request, macros: Macros | None) -> Notation:
    """A notation with what ':where:' and ':using:' declare on top.  Raises EquationError, in that text."""
    for text, field_name in ((request.where, "where"), (request.using, "using")):
        if text.strip():
            notation = notation.overridden(read_notation(text, macros, field_name))
    return notation


def used_keys(equation: Equation, functions: BoundFunctions) -> set[str]:
    """The keys that the equation mentions, those that its bound functions read included."""
    used = set(equation.names)
    for given in equation.given:
        used |= given.names
    codes = equation.notation.by_code()
    for key, bound in functions.functions.items():
        if key in used or bound.base in used:
            used |= {
                symbol.key
                for code, symbol in codes.items()
                if code.partition("[")[0].partition(".")[0] in bound.expression.names
            }
    return used


def code_keys(equation: Equation, source: Any) -> set[str]:
    """The keys of the symbols that a target's code reads."""
    codes = equation.notation.by_code()
    names = set(getattr(source, "names", ())) | set(getattr(source, "arguments", {}).values())
    return {symbol.key for code, symbol in codes.items() if code.partition("[")[0].partition(".")[0] in names}


def gradient_keys(equation: Equation, request: Request) -> set[str]:
    """The keys that ':grad:' reads."""
    codes = equation.notation.by_code()
    return {symbol.key for code, symbol in codes.items() if code.isidentifier() and code in request.grad}


def run(prepared: Prepared, *, suggests: bool = True) -> Verdict:
    """Run a prepared check.  Raises EquationError for what cannot be evaluated."""
    comparer = Comparer(prepared)
    try:
        comparer.run()
    except Disagreement as disagreement:
        verdict = comparer.evidence.verdict(passed=False, reason=disagreement.reason, mismatch=disagreement.mismatch)
        return replace(verdict, suggestions=tuple(suggest(prepared, comparer))) if suggests else verdict
    code = code_of(prepared.targets, prepared.functions, prepared.namespace)
    return replace(comparer.evidence.verdict(passed=True), code=code)
