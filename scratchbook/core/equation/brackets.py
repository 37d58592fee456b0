"""Read what encloses: brackets, lists, fractions, roots, magnitudes and norms, and the scripts behind them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from .ellipsis import make_family
from .errors import fault
from .nodes import (
    Add,
    Call,
    Fraction,
    Index,
    Indicator,
    Join,
    Magnitude,
    Multiply,
    Name,
    Negate,
    Node,
    Norm,
    Number,
    Power,
    Root,
    Transpose,
    walk,
)
from .pieces import is_bracketed, unwrapped
from .symbols import Scripts, flat, group, key_of, latex_of, read_scripts
from .tokens import Token
from .vocabulary import RELATIONS

if TYPE_CHECKING:
    from .parser import Parser

CLOSER: Final = {
    "(": ")",
    "[": "]",
    r"\{": r"\}",
    r"\lfloor": r"\rfloor",
    r"\lceil": r"\rceil",
    r"\langle": r"\rangle",
    r"\lvert": r"\rvert",
    r"\lVert": r"\rVert",
}
INDEX_SIGNS: Final = frozenset("+-,:")
LIST_SIGNS: Final = frozenset([",", ";", "|", r"\|", r"\mid"])


def read_bracket(parser: Parser) -> Node:
    """(a), [a], a list [a, b], [condition], or cases behind a large brace."""
    from .environments import read_braced_cases

    cases = read_braced_cases(parser)
    if cases is not None:
        return cases
    opener = parser.take()
    with parser.bracketed(is_list=opener.text != r"\{"):
        items, signs = read_items(parser)
        if parser.text in RELATIONS and len(items) == 1:
            return read_iverson(parser, opener, items[0])
    parser.expect(CLOSER[opener.text], opener)
    node = items[0] if len(items) == 1 and ";" not in signs else join(items, signs, opener)
    return read_postfix(parser, node, opener.start)


def check_element(parser: Parser, before: Node) -> None:
    """Refuse brackets with nothing but indices behind an array, or one number: x[2] and x(2) are elements, or twice
    x."""
    if parser.text not in ("[", "(") or not isinstance(before, Name) or before.key in parser.lexicon.numbers:
        return
    sign, closer = parser.text, CLOSER[parser.text]
    inside = list(itertools.takewhile(lambda token: token.text != closer, parser.tokens[parser.place + 1 :]))
    known = parser.lexicon.integers | parser.lexicon.indices | parser.scope if sign == "[" else frozenset[str]()
    signs = INDEX_SIGNS if sign == "[" else frozenset[str]()
    if all(token.kind == "number" or token.text in known or token.text in signs for token in inside):
        name = latex_of(before.key)
        fact = f"ambiguous: '{sign}' behind {name} begins the index of its element, or a factor"
        raise fault(f"{fact}; write {name}_{{...}} or {name} \\cdot (...)", parser.token)


def read_items(parser: Parser) -> tuple[list[Node], list[str]]:
    """Expressions with commas or other list signs between them; dots stand for a family."""
    items, signs = [parser.expression()], list[str]()
    before: list[Node] = []  # what a bar parts from the rest, as x_t of p(x_t | x_1, ..., x_{t-1})
    while parser.text in LIST_SIGNS:
        signs.append(parser.take().text)
        if signs[-1] != "," and parser.text != r"\ldots":
            before, items = [*before, *items], []
        if parser.text == r"\ldots":
            dots = parser.take()
            if parser.text not in LIST_SIGNS:
                raise fault("dots in a list need a last part: x_1, \\ldots, x_n", dots)
            parser.take()
            items = [make_family(items, parser.expression(), ",", dots)]
            continue
        items.append(parser.expression())
    return [*before, *items], signs


def join(items: list[Node], signs: list[str], opener: Token) -> Node:
    """A list in brackets: its parts side by side; with semicolons one above the other."""
    if opener.text == r"\{":
        raise fault("a set has no value here; write a list [a, b] or the function of it: \\max\\{a, b\\}", opener)
    if len(set(signs)) > 1:
        raise fault(
            "different signs between the parts of one list; use commas (side by side) or semicolons (one above the "
            "other)",
            opener,
        )
    return Join(tuple(items), signs[0] == ";", start=opener.start, end=items[-1].end + 1)


def read_iverson(parser: Parser, opener: Token, first: Node) -> Node:
    """[i = j] is 1 where it holds."""
    from .conditions import finish_condition

    if opener.text != "[":
        raise parser.unexpected()
    condition = finish_condition(parser, first)
    parser.expect("]", opener)
    return read_postfix(parser, Indicator(condition, **parser.since(opener.start)), opener.start)


def read_postfix(parser: Parser, node: Node, start: int, *, is_call: bool = False) -> Node:
    """The scripts behind a bracket, a number or a call: an index, a power, a transpose, the positive part; and a
    factorial."""
    if parser.text in ("_", "^", "'"):
        scripts, parser.place = read_scripts(parser.tokens, parser.place)
        if scripts.primes == 1 and scripts == Scripts(primes=1) and is_array(parser, node):
            return Transpose(node, **parser.since(start))
        if scripts.primes:
            raise fault("a prime belongs to a name; declare that name, or write \\top or the derivative", node)
        if flat(scripts.below) == "+" or flat(scripts.above) == "+":
            node = Call("relu", (node,), "relu", **parser.since(start))
            above = () if flat(scripts.above) == "+" else scripts.above
            return raised(parser, node, above, start) if above else node
        if scripts.below:
            if isinstance(node, Number):
                raise fault("a number has no index", node)
            node = Index(node, read_indices(parser, scripts.below), **parser.since(start))
        if scripts.above:
            node = raised(parser, node, scripts.above, start)
    if parser.text == "!":
        parser.take()
        node = Call("factorial", (node,), "factorial", **parser.since(start))
    return node


def is_array(parser: Parser, node: Node) -> bool:
    """Is it a bracket with a vector or a matrix in it, so that a prime behind it is the transpose of statistics?"""
    return not isinstance(node, Call | Number | Index) and any(
        isinstance(part, Name) and part.key in parser.lexicon.arrays for part in walk(node)
    )


def raised(parser: Parser, node: Node, above: Sequence[Token], start: int) -> Node:
    """A node with its superscript."""
    text = flat(above)
    place = parser.since(start)
    if text in (r"\top", r"-\top") or (text in ("T", "-T") and "T" not in parser.lexicon.variables):
        base = Power(node, Negate(Number(1)), **place) if text.startswith("-") else node
        return Transpose(base, **place)
    if text in ("*", r"\dagger", "H", "+", "-"):
        raise fault(f"the superscript {text} is part of a name; declare that name with it", above[0])
    if above[0].text in (r"\odot", r"\circ") and len(above) > 1:
        return Power(node, parser.inside(above[1:]).whole(), is_elementwise=True, **place)
    if is_bracketed(above) and isinstance(node, Index | Call):
        return Index(node, read_indices(parser, unwrapped(above)), **place)
    return Power(node, parser.inside(above).whole(), **place)


def read_indices(parser: Parser, tokens: Sequence[Token]) -> tuple[Node, ...]:
    from .subscripts import read_index_list

    return read_index_list(parser, tokens)


def read_fraction(parser: Parser) -> Node:
    r"""\frac{a}{b}, or the derivative that one shows."""
    from .derived import read_derivative

    derivative = read_derivative(parser)
    if derivative is not None:
        return derivative
    token = parser.take()
    upper = parser.inside(parser.argument(token)).whole()
    lower = parser.inside(parser.argument(token)).whole()
    return read_postfix(parser, Fraction(upper, lower, **parser.since(token.start)), token.start)


def read_root(parser: Parser) -> Node:
    r"""\sqrt{a} and \sqrt[n]{a}."""
    token = parser.take()
    degree = None
    if parser.text == "[":
        opener, start = parser.take(), parser.place
        while parser.text != "]":
            if parser.token.kind == "end":
                raise fault("'[' is never closed; add ']'", opener)
            parser.take()
        degree = parser.inside(parser.tokens[start : parser.place]).whole()
        parser.take()
    if parser.token.kind == "number" and len(parser.text) > 1:
        raise fault(f"TeX puts only the first digit under the root; write \\sqrt{{{parser.text}}}", parser.token)
    if parser.text == "(":
        if not parser.is_plain:
            raise fault("TeX puts only the bracket under the root; write \\sqrt{...}", parser.token)
        return read_postfix(parser, Root(read_bracket(parser), None, **parser.since(token.start)), token.start)
    body = parser.inside(parser.argument(token)).whole()
    return read_postfix(parser, Root(body, degree, **parser.since(token.start)), token.start)


def read_magnitude(parser: Parser) -> Node:
    """|a|; of a set how many members it has."""
    from .conditions import is_set

    opener = parser.take()
    closer = CLOSER.get(opener.text, opener.text)
    named = read_barred_name(parser, opener, closer)
    if named is not None:
        return named
    with parser.bracketed(closer):
        body = parser.expression()
    parser.expect(closer, opener)
    if isinstance(body, Name) and body.key.startswith(r"\mathcal") and not parser.lexicon.knows(body.key):
        shown = f"|{latex_of(body.key)}|"
        raise fault(f"{shown} is not declared; declare the size of this set: '{shown}: dim'", body)
    is_listed = isinstance(body, Name) and body.key in parser.lexicon.listed
    if is_set(parser, body) or is_listed:
        name = "length" if is_listed else "size"
        return read_postfix(parser, Call(name, (body,), name, **parser.since(opener.start)), opener.start)
    return read_postfix(parser, Magnitude(body, **parser.since(opener.start)), opener.start)


def read_barred_name(parser: Parser, opener: Token, closer: str) -> Node | None:
    r"""|\mathcal{V}| and |y_w| where the notation declares that very name."""
    if parser.token.kind != "name" or not any(key.startswith("|") for key in parser.lexicon.variables):
        return None
    scripts, end = read_scripts(parser.tokens, parser.place + 1)
    key = f"|{key_of(parser.text, scripts.below, scripts.above, scripts.primes)}|"
    if end == len(parser.tokens) or parser.tokens[end].text != closer or key not in parser.lexicon.variables:
        return None
    parser.place = end + 1
    return read_postfix(parser, Name(key, **parser.since(opener.start)), opener.start)


def read_norm(parser: Parser) -> Node:
    r"""\|a\|_p; its superscript is a power."""
    opener = parser.take()
    closer = CLOSER.get(opener.text, opener.text)
    with parser.bracketed(closer):
        body = parser.expression()
    parser.expect(closer, opener)
    start = opener.start
    if parser.text not in ("_", "^"):
        return Norm(body, "", **parser.since(start))
    scripts, parser.place = read_scripts(parser.tokens, parser.place)
    order = flat(scripts.below)
    if order not in ("", "1", "2", "F", r"\infty", "0") and not (scripts.below and scripts.below[0].kind == "number"):
        if order in ("*", r"\mathrm{F}", "op"):
            raise fault(f"the norm of kind {order} is not known here; write its formula", scripts.below[0])
        advice = "use 1, 2, F or \\infty, and of each column \\lVert A_{:,j} \\rVert"
        raise fault(f"the norm of kind '{order}' is not known; {advice}", scripts.below[0])
    node: Node = Norm(body, order, **parser.since(start))
    return raised(parser, node, scripts.above, start) if scripts.above else node


def read_rounding(parser: Parser) -> Node:
    r"""\lfloor a \rfloor, \lceil a \rceil, and \lfloor a \rceil, the nearest whole number."""
    opener = parser.take()
    with parser.bracketed():
        body = parser.expression()
    is_nearest = opener.text == r"\lfloor" and parser.text == r"\rceil"
    parser.expect(r"\rceil" if is_nearest else CLOSER[opener.text], opener)
    name = "round" if is_nearest else "floor" if opener.text == r"\lfloor" else "ceil"
    return read_postfix(parser, Call(name, (body,), name, **parser.since(opener.start)), opener.start)


def read_inner(parser: Parser) -> Node:
    r"""\langle a, b \rangle is the inner product."""
    opener = parser.take()
    with parser.bracketed(is_list=True):
        items, _ = read_items(parser)
    parser.expect(r"\rangle", opener)
    if len(items) != 2:
        raise fault("\\langle a, b \\rangle takes two vectors; for a mean write \\mathbb{E}", opener)
    has_script = parser.text == "_" and parser.place + 1 < len(parser.tokens)
    if has_script and flat(group(parser.tokens, parser.place + 1)[0]) == "F":
        _, parser.place = group(parser.tokens, parser.place + 1)
        return Call("inner", tuple(items), "inner", **parser.since(opener.start))
    return read_postfix(parser, Call("inner", tuple(items), "inner", **parser.since(opener.start)), opener.start)


def read_underbrace(parser: Parser) -> Node:
    """A part over or under a brace: its inside, which may not be a sum beside a factor."""
    token = parser.take()
    tokens = parser.argument(token)
    node = parser.inside(tokens).whole()
    if isinstance(node, Add | Negate | Multiply):
        node = replace(node, **parser.since(token.start))
        parser.sums_without_brackets.add(id(node))
    return node


def read_binomial(parser: Parser) -> Node:
    r"""\binom{n}{k}."""
    token = parser.take()
    upper = parser.inside(parser.argument(token)).whole()
    lower = parser.inside(parser.argument(token)).whole()
    return read_postfix(parser, Call("binomial", (upper, lower), "binomial", **parser.since(token.start)), token.start)
