r"""Read what stands beside cases and under operators: conditions and sets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from .errors import fault
from .nodes import Add, Call, Compare, Index, Join, Logic, Name, Node, Number, Parity
from .pieces import split_at, split_commas, unwrapped, words_of
from .tokens import Token
from .vocabulary import CONDITIONAL, QUANTIFIERS, REFUSED, RELATIONS

if TYPE_CHECKING:
    from .parser import Parser

ORDER: Final = frozenset(["=", "<", ">", r"\le", r"\ge", r"\ne", ":="])
REST: Final = frozenset(["otherwise", "else", "elsewhere", "other"])
# All words that a condition may have: any other, such as "not" and "unless", would turn or widen it.
WORDS: Final = frozenset(
    ["if", "when", "whenever", "for", "where", "with", "while", "is", "are", "and", "or", "even", "odd"]
)
BESIDE_REST: Final = frozenset(["in", "all", "any", "cases"])


def read_condition(parser: Parser, tokens: Sequence[Token]) -> Node | None:
    """The condition of a case; None for 'otherwise'.  Raises EquationError for words that say more."""
    check_words(tokens)
    kept = [token for token in tokens if not is_filler(token)]
    while kept and kept[-1].text in (",", ".", ";"):
        kept.pop()
    while kept and kept[0].text in (",", ";"):
        kept.pop(0)
    if not kept or all(token.kind == "text" for token in kept):
        texts = [token for token in tokens if token.kind == "text"]
        if texts and not any(words_of(token) & REST for token in texts):
            raise fault(f"nothing follows '{texts[0].text.strip()}'; write a condition there, or 'otherwise'", texts[0])
        return None
    return read_logic(parser, unwrapped(kept))


def check_words(tokens: Sequence[Token]) -> None:
    """Refuse a word that a condition cannot have, since passing it over would change what is said."""
    for token in tokens:
        words = words_of(token)
        is_for = "for" in words and not words & CONDITIONAL
        beside = REST | BESIDE_REST if words & REST else QUANTIFIERS if is_for else frozenset[str]()
        unknown = sorted(words - WORDS - {""} - beside)
        if unknown:
            raise fault(f"the word '{unknown[0]}' in a condition is not read; write the condition in signs", token)


def is_filler(token: Token) -> bool:
    """A word that changes nothing: if, for, where; "else if", whose else the case keeps."""
    words = words_of(token)
    is_rest = bool(words & {"otherwise", "else"}) and "if" not in words
    return token.kind == "space" or (token.kind == "text" and not words & {"and", "or", "even", "odd"} and not is_rest)


def read_logic(parser: Parser, tokens: Sequence[Token]) -> Node:
    """Comparisons joined by 'or', then by 'and' or commas."""
    tokens = unwrapped(tokens)
    for word, signs in (("or", (r"\vee", "or")), ("and", (r"\wedge", "and", ","))):
        pieces = split_at(tokens, signs)
        if len(pieces) > 1:
            if any(not piece for piece in pieces):
                raise fault(f"nothing stands beside '{word}'; write a condition there", tokens[0])
            return Logic(
                word, tuple(read_logic(parser, piece) for piece in pieces), start=tokens[0].start, end=tokens[-1].end
            )
    words = " ".join(token.text.lower() for token in tokens if token.kind == "text").split()
    if "even" in words or "odd" in words:
        body = parser.inside([token for token in tokens if token.kind != "text"]).whole()
        return Parity(body, "even" in words, start=tokens[0].start, end=tokens[-1].end)
    inner = parser.inside(tokens)
    node = finish_condition(inner, inner.expression())
    if inner.token.kind != "end":
        raise inner.unexpected("a relation")
    return node


def finish_condition(parser: Parser, first: Node) -> Node:
    """The rest of a chain such as 1 \\le j < i, or of i \\in S."""
    members, relations = [first], list[str]()
    while parser.text in RELATIONS:
        sign = parser.take()
        if sign.text == r"\in":
            if relations:
                raise fault("'\\in' within a chain; write two conditions", sign)
            return member_of(parser, first, sign)
        if sign.text not in ORDER:
            raise fault(f"'{sign.text}' is no condition; use =, \\ne, <, \\le, > or \\ge", sign)
        relations.append("=" if sign.text == ":=" else sign.text)
        members.append(parser.expression())
    if not relations:
        at = parser.token
        if at.text in REFUSED:
            raise fault(f"{at.text} {REFUSED[at.text]}", at)
        raise fault("a condition needs a relation such as < or =", first)
    return Compare(tuple(members), tuple(relations), start=first.start, end=members[-1].end)


def member_of(parser: Parser, first: Node, sign: Token) -> Node:
    """i \\in {0, 1} as a choice of equalities, i \\in [n] as a range."""
    rest = parser.tokens[parser.place :]
    parser.place = len(parser.tokens)
    low, high, members = read_set(parser, rest, sign)
    place = {"start": first.start, "end": members.end if members else sign.end}
    if members is None:
        assert low is not None
        assert high is not None
        return Compare((low, first, high), (r"\le", r"\le"), **place)
    if isinstance(members, Join):
        return Logic("or", tuple(Compare((first, item), ("=",)) for item in members.parts), **place)
    return Compare((first, members), (r"\in",), **place)


def step_of(one: Node, other: Node) -> int | None:
    """The step from 1 to 2, from n to n + 1, or from n - 1 to n - 2; None for anything else."""
    (first, begin), (second, end) = offset_of(one), offset_of(other)
    return int(end - begin) if first == second else None


def offset_of(node: Node) -> tuple[Node | None, float]:
    """The n and -1 of n - 1; of a number, None and the number."""
    if isinstance(node, Number):
        return None, node.value
    if isinstance(node, Add) and len(node.terms) == 2 and node.signs[0] == "+":
        first, last = node.terms
        if isinstance(last, Number) and not isinstance(first, Number):
            return first, last.value if node.signs[1] == "+" else -last.value
    return node, 0


def read_set(parser: Parser, tokens: Sequence[Token], at: Token) -> tuple[Node | None, Node | None, Node | None]:
    r"""A set of integers: (low, high, None) of [n], \{1, \ldots, n\} and 1:n, or (None, None, members)."""
    if not tokens or [token.text for token in tokens] in ([r"\{", r"\}"], ["[", "]"]):
        raise fault("a set is missing; write \\{1, \\ldots, n\\}", at)
    is_braced = tokens[0].text in (r"\{", "[") and tokens[-1].text in (r"\}", "]")
    inside = tokens[1:-1] if is_braced else tokens
    pieces = split_commas(inside)
    dots = [number for number, piece in enumerate(pieces) if piece[0].text == r"\ldots"]
    if dots:
        if dots[0] != len(pieces) - 2 or dots[0] == 0:
            raise fault("a range with dots needs a first and a last value: 1, \\ldots, n", tokens[0])
        first, last = [parser.inside(piece).whole() for piece in pieces[: dots[0]]], parser.inside(pieces[-1]).whole()
        steps = [step_of(one, other) for one, other in pairwise(first)]
        if {*steps} == {-1} and (isinstance(last, Number) or not isinstance(first[0], Number)):
            return last, first[0], None  # T, T-1, \ldots, 1: the same numbers, and what they define says its order
        for step, other in zip(steps, first[1:], strict=True):
            if step != 1:
                said = "a range with dots runs in steps of one: 1, 2, \\ldots, n; for another step multiply the index"
                raise fault(said, other)
        return first[0], last, None
    if is_braced and tokens[0].text == "[":
        if len(pieces) > 2:
            raise fault("an interval has two ends; write \\{1, \\ldots, n\\}", tokens[0])
        last = parser.inside(pieces[-1]).whole()
        return (parser.inside(pieces[0]).whole() if len(pieces) == 2 else Number(1)), last, None
    if is_braced:
        return (
            None,
            None,
            Join(tuple(parser.inside(piece).whole() for piece in pieces), start=tokens[0].start, end=tokens[-1].end),
        )
    node = parser.inside(tokens).whole()
    if is_set(parser, node):
        return None, None, Call("members", (node,), "members", start=node.start, end=node.end)
    if not isinstance(node, Name):
        raise fault("a set must be \\{1, \\ldots, n\\}, [n] or a declared name, as in 'S: set(n)'", tokens[0])
    return None, None, node


def is_set(parser: Parser, node: Node) -> bool:
    """Is it a declared set, or the set that an index picks, as the neighbours N_i are?"""
    base = node.base if isinstance(node, Index) else node
    return isinstance(base, Name) and base.key in parser.lexicon.sets
