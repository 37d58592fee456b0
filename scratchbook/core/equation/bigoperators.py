r"""Read operators that run over indices: \sum, \prod, \max, \mathbb{E}, softmax_j, and the ones and indicators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from .conditions import read_condition, read_set
from .errors import fault
from .nodes import (
    Add,
    Binding,
    Call,
    Compare,
    Constant,
    Fraction,
    Index,
    Indicator,
    Join,
    Logic,
    Multiply,
    Name,
    Negate,
    Node,
    Product,
    Reduce,
    free_names,
    walk,
)
from .pieces import closing, split_at, split_commas, unwrapped
from .subscripts import read_sizes, side_by_side
from .symbols import Scripts, key_of, read_scripts
from .tokens import Token
from .vocabulary import RELATIONS

if TYPE_CHECKING:
    from .parser import Parser

SAME_OPERATOR: Final = {r"\sum": "sum", r"\prod": "prod"}
# Operators whose body is the bracket that follows, and not a whole term.
BRACKET_BODY: Final = frozenset(["mean", "softmax", "logsumexp", "var", "std", "log_softmax"])
# Functions of a whole vector that an index makes an element of.
ELEMENT: Final = frozenset(["softmax", "log_softmax"])
# What makes an expression of the left side of a relation, and no list of letters.
INNER: Final = frozenset(["+", "-", "*", "/", r"\cdot", "(", "[", "|", r"\lvert", r"\frac", r"\lfloor", r"\lceil"])
# Operators that some authors write like functions, with their brackets being all that they take.
EXTREME: Final = frozenset(["max", "min", "argmax", "argmin"])


def read_big(parser: Parser) -> Node:
    r"""\sum and \prod with what they run over, and their body: one term."""
    token = parser.take()
    scripts, parser.place = read_scripts(parser.tokens, parser.place)
    if not scripts.below:
        raise fault(f"{token.text} names no index; write {token.text}_{{i}} or {token.text}_{{i=1}}^{{n}}", token)
    return finish(parser, SAME_OPERATOR[token.text], scripts, token.start)


def read_named(parser: Parser, base: str, scripts: Scripts, start: int) -> Node:
    r"""\max_i, \arg\max_i, \mathbb{E}_i, softmax_j and their like."""
    return finish(parser, SAME_OPERATOR.get(base, base), scripts, start)


def finish(parser: Parser, operator: str, scripts: Scripts, start: int) -> Node:
    """The operator's indices and body."""
    if scripts.above and operator not in ("sum", "prod", "max", "min", "argmax", "argmin", "mean"):
        raise fault(f"a superscript at {operator}; put the power behind its brackets", scripts.above[0])
    reader = BindingReader(parser, scripts, operator)
    bindings, condition, weights = reader.read()
    bracket_end = end_of_bracket(parser)
    keys = frozenset(binding.key for binding in bindings)
    outer = parser.narrowed.get(bindings[0].key) if operator in ELEMENT and len(bindings) == 1 else None
    with parser.running(bindings, condition):
        body = read_body(parser, operator)
    if (operator in EXTREME and bracket_end < parser.place) or operator == "prod":
        check_scope(parser, operator, body, keys)
    place = parser.since(start)
    if outer is not None and bindings == (Binding(bindings[0].key),):
        node: Node = share_of(operator, body, Reduce("sum", *outer, Call("exp", (body,), "exp"), **place))
    elif operator in ELEMENT:
        node = Call(operator, (Reduce("elements", bindings, condition, body, **place),), operator, **place)
        node = Index(node, tuple(Name(binding.key) for binding in bindings), **place)
    elif operator in BRACKET_BODY and operator != "mean":
        node = Call(operator, (Reduce("list", bindings, condition, body, **place),), operator, **place)
    else:
        node = Reduce(operator, bindings, condition, body, weights, **place)
    if operator in BRACKET_BODY:
        from .brackets import read_postfix

        return read_postfix(parser, node, start)
    return node


def share_of(operator: str, body: Node, total: Node) -> Node:
    r"""\operatorname{softmax}_j(x_j) in the body of \sum_{j \le i}: a share of what that sum runs over."""
    start, end = total.start, total.end
    if operator == "log_softmax":
        return Add((body, Call("log", (total,), "log", start=start, end=end)), ("+", "-"), start=start, end=end)
    return Fraction(Call("exp", (body,), "exp", start=start, end=end), total, start=start, end=end)


def read_body(parser: Parser, operator: str) -> Node:
    """One term, with its sign; for some operators one bracket."""
    if operator in BRACKET_BODY:
        if parser.text not in ("(", "[", r"\{"):
            raise fault(f"{operator} with an index needs brackets around its body", parser.token)
        from .brackets import CLOSER

        opener = parser.take()
        with parser.bracketed():
            body = parser.expression()
        parser.expect(CLOSER[opener.text], opener)
        return body
    if parser.text == "-":
        sign = parser.take()
        body = parser.term()
        return Negate(body, start=sign.start, end=body.end)
    return parser.term()


def end_of_bracket(parser: Parser) -> int:
    """The place behind the bracket that stands here and its scripts; the last place when none does."""
    if parser.text not in ("(", "[", r"\{"):
        return len(parser.tokens)
    return read_scripts(parser.tokens, closing(parser.tokens, parser.place) + 1)[1]


def check_scope(parser: Parser, operator: str, body: Node, keys: frozenset[str]) -> None:
    r"""Refuse \max_i(x_i) z and \prod_i x_i z, where what reads the index may be all that the operator takes.

    What follows belongs to the operator when it needs an index that runs nowhere else.
    """
    if not isinstance(body, Product | Multiply):
        return
    parts = body.factors if isinstance(body, Product) else (body.left, body.right)
    outside = parser.scope | parser.lexicon.variables
    reading = [bool((free_names(part) & keys) - outside) for part in parts]
    rest = parts[1:] if operator in EXTREME else parts[len(parts) - reading[::-1].index(True) :] if any(reading) else ()
    if not rest or (operator in EXTREME and any(reading[1:])):
        return
    raise fault(
        f"ambiguous: does {operator} take the bracket or the whole product? put brackets around one: "
        f"(\\{operator}_i x_i) z or \\{operator}_i (x_i z)",
        rest[0],
    )


def within(node: Node) -> list[str]:
    """The names inside an expression such as i + j, in order."""
    return [part.key for part in walk(node) if isinstance(part, Name)]


def parted_at_dots(script: Sequence[Token]) -> tuple[Token, ...]:
    r"""The i = 1, \ldots, n of i = 1 \ldots n, which is no product."""
    found = list[Token]()
    for token in script:
        pair = {token.text, found[-1].text} if found else {","}
        is_parting = r"\ldots" in pair and "," not in pair
        found += [replace(token, kind="symbol", text=","), token] if is_parting else [token]
    return tuple(found)


class BindingReader:
    """The pieces of an operator's subscript, and what its superscript says about their end."""

    def __init__(self, parser: Parser, scripts: Scripts, operator: str) -> None:
        self.parser = parser
        self.operator = operator
        self.below = parted_at_dots(scripts.below)
        self.above = scripts.above
        self.bindings: list[Binding] = []
        self.conditions: list[Node] = []
        self.weights: Node | None = None

    def read(self) -> tuple[tuple[Binding, ...], Node | None, Node | None]:
        """The bindings, the condition that members must meet, and the weights of an expectation."""
        pieces = [piece for piece in split_at(unwrapped(self.below), (",", ":", r"\mid", ";", "newline")) if piece]
        place = 0
        while place < len(pieces):
            if place + 2 < len(pieces) and pieces[place + 1][0].text == r"\ldots":
                self.dotted(pieces[place], pieces[place + 2])
                place += 3
            elif all(token.kind == "number" for token in pieces[place]) and self.bindings:
                self.listed(pieces[place])
                place += 1
            else:
                self.piece(pieces[place])
                place += 1
        self.set_ends()
        if not self.bindings:
            raise fault("no index runs here; name one that nothing else binds", self.below[0])
        condition = None
        if self.conditions:
            condition = self.conditions[0] if len(self.conditions) == 1 else Logic("and", tuple(self.conditions))
        return tuple(self.bindings), condition, self.weights

    def dotted(self, first: Sequence[Token], last: Sequence[Token]) -> None:
        r"""i = 1, \ldots, n."""
        sides = split_at(first, ("=", r"\in"))
        if len(sides) != 2 or not sides[0] or not sides[1]:
            raise fault("a range with dots begins with i = 1", first[0])
        inner = self.parser.inside
        self.bindings.append(Binding(self.key(sides[0]), inner(sides[1]).whole(), inner(last).whole()))

    def listed(self, tokens: Sequence[Token]) -> None:
        """The 2 of i = 1, 2: a further value of the index before it."""
        last = self.bindings[-1]
        given = last.members.parts if isinstance(last.members, Join) else (last.low,) if last.low else ()
        if not given or last.high is not None:
            raise fault(
                "a number under an operator that no index takes; write i = 1, 2 or i = 1, \\ldots, n", tokens[0]
            )
        parts = (*given, self.parser.inside(tokens).whole())
        self.bindings[-1] = Binding(last.key, None, None, Join(parts, start=parts[0].start, end=parts[-1].end))

    def piece(self, tokens: Sequence[Token]) -> None:
        """One piece: an index, its start, its set, its distribution, or a condition."""
        place = next(
            (number for number, token in enumerate(tokens) if token.text in RELATIONS or token.text == r"\sim"), None
        )
        if place is None:
            self.bindings += [Binding(key) for key in self.keys(tokens)]
            return
        sign, left, right = tokens[place], tokens[:place], tokens[place + 1 :]
        if not left or not right:
            raise fault("half a relation under an operator; write i = 1, i \\in S or j \\le i", sign)
        is_single = not any(token.text in RELATIONS for token in right)
        if sign.text in ("=", ":=", r"\in", r"\sim") and is_single and self.begins(left, sign):
            keys = self.keys(left)
            if len(keys) > 1 and sign.text == r"\in" and right[0].kind == "name" and left[0].text == "(":
                raise fault("pairs of a set have no values here; write what holds for them: (i, j): M_{ij} = 1", sign)
            for key in keys:
                self.bind(key, sign, right)
            return
        self.condition(tokens)

    def begins(self, left: Sequence[Token], sign: Token) -> bool:
        """Does a relation say where its left side runs?  y_i = k, i + j = k, and (i, j): j = i + 1 are conditions."""
        if len(left) > 1 and left[0].text in self.parser.lexicon.arrays and left[1].text == "_":
            return False
        if sign.text in (r"\in", r"\sim"):
            return True
        if any(token.kind == "number" or token.text in INNER for token in unwrapped(left)):
            return bool(self.above) and not self.bindings  # \sum_{i + 1 = 2}^n, which nobody reads
        bound = [binding.key for binding in self.bindings if binding.low is None and binding.members is None]
        runs = left[0].text in bound or (left[0].text in self.parser.scope and not self.bindings)
        return bool(self.above) or len(unwrapped(left)) > 1 or not runs

    def bind(self, key: str, sign: Token, right: Sequence[Token]) -> None:
        """i = 1, i \\in S or i \\sim p."""
        if sign.text == r"\sim":
            self.bindings.append(Binding(key))
            self.weights = self.parser.inside(right).whole()
        elif sign.text == r"\in":
            low, high, members = read_set(self.parser, right, sign)
            self.bindings.append(Binding(key, low, high, members))
        else:
            low = self.parser.inside(right).whole()
            self.bindings = [
                Binding(b.key, low) if b.low is None and b.members is None and self.above else b for b in self.bindings
            ]
            self.bindings.append(Binding(key, low))

    def condition(self, tokens: Sequence[Token]) -> None:
        """j \\le i: a condition; what nothing binds yet begins to run."""
        taken = self.parser.scope | self.parser.lexicon.variables | {binding.key for binding in self.bindings}
        inner = self.parser.inside(tokens)
        inner.scope = self.parser.scope | {binding.key for binding in self.bindings}
        node = read_condition(inner, tokens)
        assert node is not None
        parts = [
            part
            for compare in (node.parts if isinstance(node, Logic) else (node,))
            if isinstance(compare, Compare)
            for part in compare.members
        ]
        fresh = [part.key for part in parts if isinstance(part, Name) and part.key not in taken]
        if not fresh and not self.bindings:
            fresh = [key for part in parts for key in within(part) if key not in taken]
        if not fresh and not self.bindings:
            fresh = [part.key for part in parts if isinstance(part, Name)][:1]
        self.bindings += [Binding(key) for key in dict.fromkeys(fresh)]
        self.conditions.append(node)

    def keys(self, tokens: Sequence[Token]) -> list[str]:
        """The index names on the left of a relation."""
        tokens = unwrapped(tokens)
        return [
            self.key(atom)
            for piece in split_at(tokens, (",",))
            for atom in (side_by_side(self.parser, piece) or [piece])
        ]

    def key(self, tokens: Sequence[Token]) -> str:
        """The one name that runs."""
        if not tokens or tokens[0].kind != "name":
            raise fault("an index must be a letter; write i = 1 or j \\le i", tokens[0] if tokens else None)
        base, place = self.parser.lexicon.word_at(tokens, 0)
        scripts, place = read_scripts(tokens, place)
        if place != len(tokens):
            raise fault("an index must be one letter; part several with commas", tokens[0])
        return key_of(base, scripts.below, scripts.above, scripts.primes)

    def set_ends(self) -> None:
        r"""Give the superscript to the indices that have a start, or where none has to all that have no end.

        One end serves all; of \sum_{i,j=1}^{m,n} each has its own.
        """
        if not self.above:
            return
        waiting = [b.key for b in self.bindings if b.low is not None and b.high is None]
        if not waiting and self.operator in ("sum", "prod"):
            waiting = [b.key for b in self.bindings if b.high is None and b.members is None]
        if not waiting:
            raise fault("an end without a start; write i = 1 below", self.above[0])
        pieces = split_at(self.above, (",",))
        if len(pieces) not in (1, len(waiting)):
            said = f"{len(pieces)} ends for {len(waiting)} indices; write one for all, or one for each"
            raise fault(said, self.above[0])
        highs = [self.parser.inside(piece).whole() for piece in pieces] * (len(waiting) if len(pieces) == 1 else 1)
        ends = dict(zip(waiting, highs, strict=True))
        self.bindings = [Binding(b.key, b.low, ends[b.key]) if b.key in ends else b for b in self.bindings]


def read_ones(parser: Parser) -> Node:
    r"""\mathbb{1}[condition], \mathbf{1}_{x > 0}, or the vector of ones, with or without its size."""
    from .brackets import raised

    token = parser.take()
    if token.text == "0":
        _, parser.place = read_scripts(parser.tokens, parser.place)
        return Constant("zero", **parser.since(token.start))
    if parser.text in ("[", r"\{", "("):
        return read_indicator(parser, token.start)
    scripts, parser.place = read_scripts(parser.tokens, parser.place)
    below = scripts.below
    if below and below[0].text in ("[", r"\{", "(") and below[-1].text in ("]", r"\}", ")"):
        below = below[1:-1]
    node: Node
    if any(part.text in RELATIONS for part in below):
        node = Indicator(required(read_condition(parser, below), token), **parser.since(token.start))
    elif below:
        node = Call("ones", read_sizes(parser, below), "ones", **parser.since(token.start))
    else:
        node = Constant("ones", **parser.since(token.start))
    return raised(parser, node, scripts.above, token.start) if scripts.above else node


def read_indicator(parser: Parser, at: int) -> Node:
    """The brackets of an indicator, with its condition.  at: where it begins in the text."""
    from .brackets import CLOSER

    opener = parser.take()
    start = parser.place
    depth = 1
    while depth:
        part = parser.take()
        depth += (part.text in CLOSER) - (part.text in CLOSER.values())
    condition = read_condition(parser, parser.tokens[start : parser.place - 1])
    return Indicator(required(condition, opener), **parser.since(at))


def read_pair(parser: Parser) -> tuple[Node, ...]:
    r"""The c_i and c_j of \delta(c_i, c_j), of which one is an element of declared whole numbers; nothing for any other
    arguments, since of real numbers it may be Dirac's delta, and of two places an impulse."""
    end = closing(parser.tokens, parser.place)
    pair = tuple(parser.inside(piece).whole() for piece in split_commas(parser.tokens[parser.place + 1 : end]))
    numbers = parser.lexicon.integers | parser.lexicon.indices | parser.scope
    bases = [one.base for one in pair if isinstance(one, Index)]
    others = [one for one in pair if not isinstance(one, Index)]
    if len(pair) != 2 or not bases or not all(isinstance(one, Name) and one.key in numbers for one in others):
        return ()
    if not all(isinstance(base, Name) and base.key in parser.lexicon.counted for base in bases):
        return ()
    parser.place = end + 1
    return pair


def required(condition: Node | None, at: Token) -> Node:
    """A condition that may not be missing."""
    if condition is None:
        raise fault("the indicator lacks its condition; write \\mathbb{1}[i = j]", at)
    return condition
