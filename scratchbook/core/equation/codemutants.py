"""Change a function's code in one place, in every way that a slip could, and see whether an equation's check
notices."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .checker import prepare
from .comparing import Comparer
from .equation import Equation
from .options import Request
from .score import Fate, Score, why_not
from .tokens import Macros

OPERATORS: Final[dict[type[ast.operator], tuple[type[ast.operator], ...]]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add, ast.Div), ast.Div: (ast.Mult,),
    ast.MatMult: (ast.Mult,), ast.Pow: (ast.Mult,),
}  # fmt: skip
COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
METHODS: Final = {
    "exp": "log", "log": "exp", "sin": "cos", "cos": "sin", "mean": "sum", "sum": "mean", "max": "min", "min": "max",
    "maximum": "minimum",
    "minimum": "maximum", "tanh": "sin", "sqrt": "square", "tril": "triu", "triu": "tril", "var": "std",
    "argmax": "argmin",
}  # fmt: skip


@dataclass(frozen=True)
class CodeMutant:
    """A function's source with one change.  line: within the function, 1-based.   old, new: the changed part."""

    operator: str
    line: int
    old: str
    new: str
    source: str


def mutate_code(source: str) -> list[CodeMutant]:
    """Every change of one function's source; its signature and docstring stay."""
    tree = ast.parse(textwrap.dedent(source))
    count = len(list(changes(tree)))
    found = []
    for number in range(count):
        changed = copy.deepcopy(tree)
        operator, node, change = list(changes(changed))[number]
        old = ast.unparse(node)
        change()
        found.append(CodeMutant(operator, getattr(node, "lineno", 0), old, ast.unparse(node), ast.unparse(changed)))
    return [mutant for mutant in found if mutant.old != mutant.new]


def changes(tree: ast.Module) -> Iterator[tuple[str, ast.AST, Callable[[], None]]]:
    """Every change as an action on the tree: its name, the node, and what to do."""
    function = tree.body[0]
    body = getattr(function, "body", tree.body)
    skipped = {
        id(statement)
        for statement in body
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    }
    for statement in body:
        if id(statement) in skipped:
            continue
        for node in ast.walk(statement):
            yield from changes_of(node)


def changes_of(node: ast.AST) -> Iterator[tuple[str, ast.AST, Callable[[], None]]]:
    """The changes of one node."""
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), ()):
            yield "operator", node, setter(node, "op", operator())
        if isinstance(node.op, ast.Sub | ast.Div | ast.MatMult):
            yield "swap-operands", node, swapper(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "swap-sign", node, setter(node, "op", ast.UAdd())
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield "constant", node, setter(node, "value", node.value + 1)
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield "condition", node, setter(node, "ops", [COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.Attribute) and node.attr in METHODS:
        yield "function", node, setter(node, "attr", METHODS[node.attr])
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield "transpose", node, setter(node, "attr", "real")
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        yield "swap-args", node, setter(node, "args", [node.args[1], node.args[0], *node.args[2:]])


def setter(node: ast.AST, name: str, value: Any) -> Callable[[], None]:
    """An action that sets a field of a node."""
    return lambda: setattr(node, name, value)


def swapper(node: ast.BinOp) -> Callable[[], None]:
    """An action that swaps two operands."""

    def swap() -> None:
        node.left, node.right = node.right, node.left

    return swap


def score_code(
    equation: Equation,
    request: Request,
    namespace: Mapping[str, Any],
    function: Callable[..., Any],
    macros: Macros | None = None,
) -> Score:
    """Check an equation against every mutant of one function that its check runs, or of its backward."""
    fates = []
    for mutant in mutate_code(inspect.getsource(inspect.unwrap(function))):
        changed = dict(namespace) | {function.__name__: build(mutant.source, function)}
        with np.errstate(all="ignore"):
            reason = run(equation, request, changed, macros)
        fates.append(
            Fate(
                mutant.operator,
                mutant.old,
                mutant.new,
                reason[0] if reason else "survived",
                reason[1] if reason else "",
            )
        )
    return Score(f"{request.label} {function.__name__}", tuple(fates))


def run(
    equation: Equation, request: Request, namespace: Mapping[str, Any], macros: Macros | None
) -> tuple[str, str] | None:
    """Why the check of a mutant does not pass; None when it does."""
    from .errors import EquationError

    try:
        return why_not(Comparer(prepare(equation, request, namespace, macros)))
    except EquationError as error:
        return "error", error.text


def build(source: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The changed function, with the globals of the true one; its module is none, so that it passes for a page's
    own."""
    plain = inspect.unwrap(function)
    environment = dict(plain.__globals__) | {"__name__": "mutant"}
    exec(compile(source, plain.__code__.co_filename, "exec"), environment)
    built: Callable[..., Any] = environment[plain.__name__]
    return built
