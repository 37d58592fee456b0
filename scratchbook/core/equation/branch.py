"""Check one equation in a fork of its page: from plain data to a verdict as plain data.  Knows no Sphinx.

The payload is what `scratchbook.ext.equations` leaves: the equation, the book's and the chapter's notation, macros, the
formulas of the page, whose definitions an equation may use, and the author's options.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scratchbook.core.errors import Mistake, Place

from .checker import check, own_notation, prepare
from .codecalls import environment_of
from .codemutants import score_code
from .comparison import compare, number_at
from .equation import Equation, parse_equation, parse_plain
from .errors import EquationError
from .inputs import inputs_of, read_inputs
from .notation import Function, Notation, read_notation
from .options import BUILTINS, Request, read_expression
from .score import Fate, score
from .symbols import latex_of
from .tokens import Macros
from .verdict import Verdict, failed
from .worked import evaluate, work


@dataclass(frozen=True)
class Job:
    """One equation to check, read from its payload."""

    label: str
    latex: str
    place: Place
    is_formula: bool
    is_plain: bool
    notation: Notation
    notations: tuple[dict[str, Any], ...]
    macros: Macros
    given: tuple[Equation, ...]
    options: dict[str, str]

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"equation {self.label}" if self.label else "this formula" if self.is_formula else "this equation"

    def parse(self, notation: Notation, given: Sequence[Equation]) -> Equation:
        """Read the equation.  Raises EquationError."""
        if self.is_plain:
            return parse_plain(self.latex, notation, given)
        return parse_equation(self.latex, notation, self.macros, given)


def run_check(namespace: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Check the equation against the page's names; return a part "verdict", or mistakes."""
    try:
        job = read_job(payload)
    except NotationFault as fault:
        return {"parts": [], "mistakes": [fault.mistake.to_json()]}
    if job.options.get("check-with"):
        return result(job, check_with(job, namespace))
    if job.is_formula and (state := defined_name(job)):
        return {"parts": [{"kind": "verdict", "data": {"state": "defined", "name": state}}], "mistakes": []}
    return result(job, check_equation(job, namespace))


def run_mutants(namespace: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Check every mutant of the equation and of the code that it is checked against; return a part "data"."""
    job = read_job(payload)
    if job.options.get("check-with") or (job.is_formula and defined_name(job)):
        return {"parts": [], "mistakes": []}
    equation, request = read_equation(job)
    fates = [["equation", *fate_row(fate)] for fate in score(equation, request, namespace, job.macros).fates]
    for function in functions_of(check(equation, request, namespace, job.macros), namespace):
        found = score_code(equation, request, namespace, function, job.macros)
        fates += [[function.__name__, *fate_row(fate)] for fate in found.fates]
    data = {"label": job.label or job.latex, "fates": fates}
    return {"parts": [{"kind": "data", "data": data}], "mistakes": []}


def run_worked(namespace: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Put numbers into an equation, step by step; return a part "data" with lines of LaTeX.

    payload: that of a check, and "values": lines such as x = [1.0, 2.0] or x = expression of the page; "index": the
    elements that are wanted, such as i=1; "digits": of each number.  Empty where the book has no such equation.
    """
    if not payload:
        return {"parts": [], "mistakes": []}
    try:
        job = read_job(payload)
        equation, request = read_equation(job)
        environment = {**BUILTINS, **namespace}
        values = read_inputs(payload["values"], lambda text: read_expression(text, text, "where").value(environment))
        only = read_index(payload["index"])
        steps = work(equation, values, namespace, base=request.first_index, digits=payload["digits"], only=only)
        agree_with_code(equation, request, namespace, job.macros, values)
    except NotationFault as fault:
        return {"parts": [], "mistakes": [fault.mistake.to_json()]}
    except EquationError as error:
        text = f"equation {payload['label']} cannot be worked: {error.text}"
        return {"parts": [], "mistakes": [Mistake("equation", text, None, error.caret).to_json()]}
    lines = [{"left": step.left, "sides": list(step.sides), "is_worked": step.value is not None} for step in steps]
    return {"parts": [{"kind": "data", "data": {"steps": lines}}], "mistakes": []}


def agree_with_code(
    equation: Equation, request: Request, namespace: Mapping[str, Any], macros: Macros, values: Mapping[str, Any]
) -> None:
    """Hold what an equation gives at the author's numbers against its code, where they are all that the code takes.

    Raises EquationError where they differ: the draws of a check may all lie where both agree.
    """
    try:
        prepared = prepare(equation, request, namespace, macros)
    except EquationError:
        return  # the check of the equation says it
    environment = environment_of(prepared.notation, inputs_of(prepared.equation, values))
    computed = evaluate(prepared.equation, values, namespace, base=request.first_index)
    # A symbol without a number here is not the page's thing of that name.
    known = {*environment, *(({*namespace} | {*BUILTINS}) - {*prepared.notation.by_code()})}
    for target in prepared.targets:
        if not target.reads <= known:
            continue
        for key, code in target.values(target.run(environment, namespace)).items():
            result = compare(code, computed[key], prepared.rtol) if key in computed else None
            if result is not None and result.reason:
                one, other = number_at(computed[key], result.place), number_at(code, result.place)
                raise target.fault(f"these numbers give {one} by the equation, and {other} by {target.text}")


def read_index(text: str) -> dict[str, int]:
    """Read which elements are wanted, such as i=1 j=2.  Raises EquationError."""
    found = {}
    for pair in text.replace(",", " ").split():
        name, sign, number = pair.partition("=")
        if not sign or not number.isdecimal():
            start = text.find(pair)
            said = f"'{pair}' is no element; write ':index: i=1'"
            raise EquationError(said, offset=start, end=start + len(pair), source=text, field="index")
        found[name] = int(number)
    return found


def fate_row(fate: Fate) -> list[str]:
    """Return what became of one mutant as plain data."""
    return [fate.operator, fate.old, fate.new, fate.fate]


def functions_of(verdict: Verdict, namespace: dict[str, Any]) -> Iterator[Any]:
    """Yield the page's functions that a check ran, each with its backward pass."""
    for code in verdict.code:
        for name in dict.fromkeys([code.name, f"{code.name.removesuffix('_backward')}_backward"]):
            function = namespace.get(name)
            if callable(function) and hasattr(function, "__code__"):
                yield function


def read_job(payload: dict[str, Any]) -> Job:
    """Read a payload.  Raises NotationFault."""
    notation, macros = merged_notation(payload), dict(payload["macros"])
    given = given_equations(payload, notation, macros)
    place = Place(payload["path"], payload["line"])
    return Job(
        payload["label"], payload["latex"], place, payload["is_formula"], payload["is_plain"],
        notation, tuple(payload["notations"]), macros, given, payload["request"],
    )  # fmt: skip


def check_equation(job: Job, namespace: dict[str, Any]) -> Verdict:
    """Check with the options of {math}, or with what the notation binds the left side of a formula to."""
    try:
        equation, request = read_equation(job)
    except EquationError as error:
        return failed(error)
    return check(equation, request, namespace, job.macros)


def read_equation(job: Job) -> tuple[Equation, Request]:
    """Read the LaTeX with the definitions that it needs, and the options.  Raises EquationError."""
    job, bound = bind_formula(job)
    known = {name.replace("-", "_"): text for name, text in job.options.items()}
    request = Request(label=job.label or job.latex, **{**known, **bound})
    notation = own_notation(job.notation, request, job.macros)
    equation = job.parse(notation, job.given)
    needed = needed_definitions(equation)
    if needed != job.given:
        equation = job.parse(notation, needed)
    return equation, request


def bind_formula(job: Job) -> tuple[Job, dict[str, str]]:
    """For a formula whose left name the notation binds to code, ask for that comparison."""
    if not job.is_formula:
        return job, {}
    entry = next((item for item in job.notation.functions.values() if begins_with(job, item)), None)
    if entry is None:
        return job, {}
    others = {key: item for key, item in job.notation.functions.items() if item is not entry}
    return replace(job, notation=replace(job.notation, functions=others)), {"check": f"{entry.latex} == {entry.code}"}


def begins_with(job: Job, entry: Function) -> bool:
    """Whether a formula's left side is that name and nothing else."""
    left = job.latex.partition("=")[0].partition(r"\approx")[0]
    return "_" not in entry.code.split("(")[-1] and "".join(left.split()) == "".join(entry.latex.split())


def defined_name(job: Job) -> str:
    """Return the name that a formula defines for other equations; "" when it is to be checked itself."""
    try:
        equation = job.parse(job.notation, job.given)
    except EquationError:
        return ""
    definition = equation.statements[0].definition
    if definition is None or definition.key in job.notation.symbols or definition.key in job.notation.functions:
        return ""
    return latex_of(definition.key) if any(c.isalpha() for c in definition.key) else ""


def given_equations(payload: dict[str, Any], notation: Notation, macros: Macros) -> tuple[Equation, ...]:
    """Read the other formulas of the page that define names; one that cannot be read has its own message.

    Of two that define one name the nearest above the equation counts, else the first below it.
    """
    here = payload["position"]
    others = [item for item in payload["formulas"] if (item[0], item[2]) != (payload["latex"], here)]
    others.sort(key=lambda item: (item[2] > here, abs(here - item[2])))
    found: dict[str, Equation] = {}
    for latex, _, _ in others:
        try:
            equation = parse_equation(latex, notation, macros)
        except EquationError:
            continue
        definition = equation.statements[0].definition
        if definition and definition.key not in notation.symbols and definition.key not in notation.functions:
            found.setdefault(definition.key, equation)
    return tuple(found.values())


def needed_definitions(equation: Equation) -> tuple[Equation, ...]:
    """Return the given equations that this one needs, those that they need included."""
    names, needed = set(equation.names), set[int]()
    is_growing = True
    while is_growing:
        is_growing = False
        for number, other in enumerate(equation.given):
            definition = other.statements[0].definition
            if number not in needed and definition and definition.key in names:
                needed.add(number)
                names |= other.names
                is_growing = True
    return tuple(other for number, other in enumerate(equation.given) if number in needed)


def check_with(job: Job, namespace: dict[str, Any]) -> Verdict:
    """Let a function of the project check the equation: it gets it read, and the page's names."""
    path = job.options["check-with"].strip()
    module, _, name = path.rpartition(".")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        text = f"the check '{path}' cannot be found: {error}; name it as package.module.function"
        return Verdict(False, text, field="check-with")
    try:
        equation = job.parse(job.notation, job.given)
    except EquationError as error:
        return failed(error)
    try:
        reason = function(equation, namespace)
    except Exception as error:  # a function of the project may raise anything; the author must see what
        return Verdict(False, f"the check '{path}' raised {type(error).__name__}: {error}", field="check-with")
    return Verdict(passed=not reason, reason=str(reason or ""), field="check-with")


class NotationFault(Exception):
    """A line of a notation that cannot be read beside another."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(mistake.text)
        self.mistake = mistake


def merged_notation(payload: dict[str, Any]) -> Notation:
    """Read the book's notation and the chapter's on top.  Raises NotationFault."""
    macros: Macros = dict(payload["macros"])
    merged = Notation()
    for text in payload["notations"]:
        try:
            merged = merged.overridden(read_notation(text["text"], macros))
        except EquationError as error:
            raise NotationFault(notation_mistake(payload["notations"], failed(error))) from None
    return merged


def notation_mistake(notations: Iterable[Mapping[str, Any]], verdict: Verdict) -> Mistake:
    """Return a mistake in one of several notations, at its line: one message, however many equations meet it."""
    places = (Place(text["path"], text["line"] + verdict.row) for text in notations if text["text"] == verdict.source)
    return Mistake("notation", verdict.text, next(places, None), "\n".join(details(verdict)))


def result(job: Job, verdict: Verdict) -> dict[str, Any]:
    """Return the outcome of a check as plain data."""
    if not verdict.passed:
        return {"parts": [], "mistakes": [mistake_of(job, verdict).to_json()]}
    data = {
        "state": "checked",
        "draws": verdict.draws,
        "compared": verdict.compared,
        "gradients": list(verdict.gradients),
        "code": [{"name": code.name, "path": code.file, "line": code.line} for code in verdict.code],
    }
    return {"parts": [{"kind": "verdict", "data": data}], "mistakes": []}


def mistake_of(job: Job, verdict: Verdict) -> Mistake:
    """Return the message of a failed check, at the line of TeX or of a notation when the mistake is in it."""
    if verdict.field == "notation":
        return notation_mistake(job.notations, verdict)
    place = Place(job.place.path, job.place.line + verdict.row) if verdict.field == "latex" else None
    return Mistake("equation", f"{job.name}: {verdict.text}", place, "\n".join(details(verdict)))


def details(verdict: Verdict) -> Iterator[str]:
    """Yield what helps to see it: the line with a caret, the numbers of the draw where sides differ."""
    if verdict.caret:
        yield from (f"    {line}" for line in verdict.caret.splitlines())
    if verdict.mismatch:
        yield f"    {verdict.mismatch}"
        numbers = ", ".join(f"{name} = {value}" for name, value in verdict.mismatch.values.items())
        yield f"    with {numbers}" if numbers else ""
