r"""Equations in ordinary LaTeX, read, evaluated and held against code.  NumPy only: text and numbers in, data out.

The way of an equation, a room a module:

    tokens, spelling, vocabulary   LaTeX and the page's macros to names, numbers and signs
    statements                     rows, "where" parts and ranges to chains of relations
    notation, symbols              what each symbol is: kind, shape, name in the code, meaning
    lexicon, known                 what each name in a display is: names decide, ambiguity fails
    parser, naming, brackets, bigoperators, environments, conditions, ellipsis, plain    one expression to a tree
    nodes, equation, definitions   trees, statements, and what each left side defines
    algebra, primitives, evaluator, ranges, reductions, calls, differentiation           trees to numbers
    options, targets, binding, draws, comparison, comparing, vacuity, gradient, slopes, checker, verdict    the check
    mutator, ranks, suggest, score, codemutants    changes that a slip could make: did-you-mean, and the proof that checks can fail
    render, worked, explain        trees to LaTeX again: with numbers put in, or with every bracket shown

What the Sphinx side calls: `read_notation`, `Notation.overridden`, `parse_equation`, `parse_plain`, `check` with a `Request`,
`work` and `evaluate`, `explain`; what `make mutate` calls: `mutate`, `score`, `score_code`.
"""

from .checker import check, prepare
from .codemutants import mutate_code, score_code
from .equation import Equation, Statement, parse_equation, parse_plain
from .errors import EquationError
from .explain import explain
from .mutator import Mutant, mutate
from .notation import Function, Kind, Notation, Symbol, read_notation
from .options import Request
from .score import Fate, Score, score
from .symbols import code_name, latex_of, read_symbol
from .verdict import CodeObject, Mismatch, Suggestion, Verdict
from .worked import Step, evaluate, read_values, work

__all__ = [
    "CodeObject",
    "Equation",
    "EquationError",
    "Fate",
    "Function",
    "Kind",
    "Mismatch",
    "Mutant",
    "Notation",
    "Request",
    "Score",
    "Statement",
    "Step",
    "Suggestion",
    "Symbol",
    "Verdict",
    "check",
    "code_name",
    "evaluate",
    "explain",
    "latex_of",
    "mutate",
    "mutate_code",
    "parse_equation",
    "parse_plain",
    "prepare",
    "read_notation",
    "read_symbol",
    "read_values",
    "score",
    "score_code",
    "work",
]
