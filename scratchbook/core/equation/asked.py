r"""Elements that a check compares and no left side has: h_T of a recurrence, the last state that code returns."""

from __future__ import annotations

from dataclasses import replace

from .equation import Equation, Statement
from .errors import EquationError
from .joined import put_names
from .nodes import Index, Name, Node, free_names
from .options import Request, lines_of, split_line
from .parser import Parser
from .spelling import spell
from .symbols import symbol_key
from .targets import main_keys
from .tokens import Macros, read_tokens


def with_elements(equation: Equation, request: Request, macros: Macros | None) -> Equation:
    """The equation with a statement more, h_T as an element of h, for each such element that ':check:' compares."""
    found: list[Statement] = []
    for _, line in lines_of(request.check):
        left = split_line(line, "==")[0]
        elements = [element_of(left, equation, macros)] if left else general_elements(equation)
        for key, node in (element for element in elements if element is not None):
            last = equation.statements[-1]
            members = (Name(key), node)
            found.append(replace(last, members=members, relations=("=",), row=last.row + 1, text=left, signs=()))
    return replace(equation, statements=(*equation.statements, *found)) if found else equation


def element_of(left: str, equation: Equation, macros: Macros | None) -> tuple[str, Node] | None:
    """The key and the tree of a left side such as h_T: an element, at numbers, of what the display defines."""
    try:
        tokens = put_names(spell(read_tokens(left, macros)), equation.lexicon.variables | equation.lexicon.functions)
        node = Parser(tokens, equation.lexicon).whole()
        key = symbol_key(tokens)
    except EquationError:
        return None
    definitions = [statement.definition for statement in equation.statements]
    if not isinstance(node, Index) or not isinstance(node.base, Name) or key in {d.key for d in definitions if d}:
        return None
    runs = {name for index in node.indices for name in free_names(index)} & equation.lexicon.indices
    is_left = node in [statement.members[0] for statement in equation.statements]
    is_defined = any(found is not None and found.key == node.base.key and found.patterns for found in definitions)
    return (key, node) if is_defined and not runs and not is_left else None


def general_elements(equation: Equation) -> list[tuple[str, Node] | None]:
    r"""The elements at t that a check without a left side is about, where \alpha_t = ... is given for every index."""
    try:
        keys = main_keys(equation, {})
    except EquationError:
        return []
    lexicon = equation.lexicon
    general = {key: letter for key, letter in lexicon.general.items() if key not in lexicon.families}
    return [(f"{key}_{{{general[key]}}}", Index(Name(key), (Name(general[key]),))) for key in keys if key in general]
