r"""Read the tokens of one expression into a tree, by recursive descent.

expression = [+-] term {+- term}         term = product {\odot product}
product = run {(\cdot | \times | * | / | \bmod) run}         run = factor {factor}
Juxtaposition binds tighter than a written sign, and every written sign tighter than \odot.  What a reader could read
in two
ways is an error that names a way to write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypedDict

from . import bigoperators, brackets, derived, environments, naming
from .ellipsis import make_family
from .errors import EquationError, fault
from .lexicon import Lexicon
from .nodes import Add, Binding, Call, Constant, Multiply, Negate, Node, Number, Product
from .pieces import words_of
from .piecewise import outside
from .symbols import group
from .tokens import Token
from .vocabulary import REFUSED

MAX_DEPTH: Final = 40
SIGNS: Final = frozenset([r"\cdot", r"\times", "*", "/", r"\div", r"\bmod"])
ELEMENTWISE: Final = frozenset([r"\odot", r"\circ"])
STARTERS: Final = frozenset([
    "(", "[", "{", r"\{", r"\frac", r"\sqrt", r"\sum", r"\prod", r"\lvert", r"\lVert", r"\lfloor", r"\lceil",
    r"\langle", r"\infty", r"\partial", r"\nabla", r"\binom", r"\underbrace", r"\left.", "|", r"\|", r"\Re",
])  # fmt: skip
BARS: Final = frozenset(["|", r"\|"])


class Span(TypedDict):
    """Where a node stands in the author's text."""

    start: int
    end: int


class Parser:
    """A place in a list of tokens, the names that the display knows, and the indices that run here."""

    def __init__(
        self,
        tokens: Sequence[Token],
        lexicon: Lexicon,
        scope: frozenset[str] = frozenset(),
        depth: int = 0,
        *,
        is_plain: bool = False,
        parameters: frozenset[str] = frozenset(),
    ) -> None:
        self.tokens = list(tokens)
        self.lexicon = lexicon
        self.scope = scope
        self.depth = depth
        self.is_plain = is_plain
        self.parameters = parameters  # of the function whose body is read here
        self.place = 0
        self.open_bars: list[str] = []
        self.is_list = False
        self.sums_without_brackets = set[int]()
        self.narrowed = dict[str, tuple[tuple[Binding, ...], Node | None]]()

    # Looking and taking

    @property
    def token(self) -> Token:
        """The token here, or one that says that the text ends."""
        if self.place < len(self.tokens):
            return self.tokens[self.place]
        end = self.tokens[-1].end if self.tokens else 0
        return Token("end", "", max(0, end - 1), end)

    @property
    def text(self) -> str:
        """The text of the token here; empty at the end."""
        return self.token.text

    def follower(self, steps: int = 1) -> Token:
        """A later token."""
        place = self.place + steps
        return self.tokens[place] if place < len(self.tokens) else Token("end", "", 0, 0)

    def take(self) -> Token:
        """The token here; the place moves on."""
        token = self.token
        if token.kind == "end":
            raise fault("the expression ends too early; something is missing here", token)
        self.place += 1
        return token

    def expect(self, text: str, opener: Token) -> Token:
        """Take what closes an opener."""
        if self.text != text:
            if self.token.kind == "end":
                raise fault(f"'{opener.text}' is never closed; add '{text}'", opener)
            raise self.unexpected(f"'{text}'")
        return self.take()

    def unexpected(self, wanted: str = "") -> EquationError:
        """What to say about a token that fits nowhere."""
        token = self.token
        if token.kind == "end":
            return fault("the expression ends too early; something is missing here", token)
        if token.text in REFUSED:
            return fault(f"{token.text} {REFUSED[token.text]}", token)
        if token.text == "_" and self.place and self.tokens[self.place - 1].text in BARS:
            return fault("a bar with a script says where something is taken; write that in brackets, as f(a)", token)
        if token.text in (")", "]", r"\}", "}", r"\rvert", r"\rVert", r"\right."):
            return fault(f"'{token.text}' closes nothing; drop it or add what opens it", token)
        if words_of(token) & {"if", "else", "otherwise"}:
            return outside(token)
        if token.kind == "text":
            return fault(
                f"the words '{token.text}' stand inside an expression; set them apart with \\quad, or declare one "
                f"word as a name",
                token,
            )
        return fault(
            f"unexpected '{token.text}'"
            + (f"; {wanted} should stand here" if wanted else "; a number, a name or a bracket should stand here"),
            token,
        )

    def since(self, start: int) -> Span:
        """The place of a node that began at a character and ends before the token here."""
        return {"start": start, "end": max(start, self.tokens[self.place - 1].end if self.place else start)}

    def inside(self, tokens: Sequence[Token]) -> Parser:
        """A parser for a group of tokens, with the same names."""
        inner = Parser(
            tokens, self.lexicon, self.scope, self.depth + 1, is_plain=self.is_plain, parameters=self.parameters
        )
        inner.narrowed = self.narrowed
        return inner

    def whole(self) -> Node:
        """The expression that all tokens make."""
        node = self.expression()
        if self.token.kind != "end":
            raise self.unexpected("an operator")
        return node

    def argument(self, owner: Token) -> Sequence[Token]:
        r"""The tokens of a command's argument: a group, or one token; of 12 in \frac12 the first digit."""
        if self.token.kind == "end" or self.text in ("}", "&", ")", "]"):
            raise fault(f"{owner.text} lacks an argument; write {owner.text}{{...}}", owner)
        token = self.token
        if token.kind == "number" and len(token.text) > 1:
            first = Token("number", token.text[0], token.start, token.start + 1, token.gap)
            self.tokens[self.place : self.place + 1] = [
                first,
                Token("number", token.text[1:], token.start + 1, token.end),
            ]
        elif token.text in (r"\frac", r"\sqrt", r"\begin", "^", "_"):
            raise fault(f"{owner.text} needs braces around {token.text} here; write {owner.text}{{...}}", token)
        found, self.place = group(self.tokens, self.place)
        if not found:
            raise fault(f"an empty argument of {owner.text}; write {owner.text}{{...}}", owner)
        return found

    @contextmanager
    def running(self, bindings: tuple[Binding, ...], condition: Node | None = None) -> Iterator[None]:
        """While an operator's body is read, its indices run; narrowed are those that the operator gives a range."""
        before = self.scope, self.narrowed
        self.scope = self.scope | {binding.key for binding in bindings}
        is_narrow = condition is not None or any(binding.high or binding.members for binding in bindings)
        self.narrowed = self.narrowed | {binding.key: (bindings, condition) for binding in bindings if is_narrow}
        yield
        self.scope, self.narrowed = before

    @contextmanager
    def bracketed(self, bar: str = "", *, is_list: bool = False) -> Iterator[None]:
        """While the inside of a bracket is read: which bar closes it, and whether a bar parts a list."""
        before = self.open_bars, self.is_list
        self.open_bars, self.is_list = ([*self.open_bars, bar] if bar else []), is_list
        yield
        self.open_bars, self.is_list = before

    # The grammar

    def expression(self) -> Node:
        """[+-] term {+- term}."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise fault(f"the expression nests deeper than {MAX_DEPTH}; name a part and write it apart", self.token)
        start = self.token.start
        signs = [self.take().text if self.text in ("+", "-") else "+"]
        terms = [self.term()]
        while self.text in ("+", "-"):
            sign = self.take()
            if self.text in ("+", "-"):
                raise fault(f"two signs '{sign.text}{self.text}' in a row; put the second into brackets", self.token)
            if self.text == r"\ldots":
                terms = [self.family(terms, "+", signs)]
                signs = signs[:1]
                continue
            signs.append(sign.text)
            terms.append(self.term())
        self.depth -= 1
        if len(terms) == 1:
            return terms[0] if signs[0] == "+" else Negate(terms[0], **self.since(start))
        return Add(tuple(terms), tuple(signs), **self.since(start))

    def term(self) -> Node:
        r"""product {\odot product}."""
        start = self.token.start
        node = self.product()
        while self.text in ELEMENTWISE:
            self.take()
            node = Multiply(node, r"\odot", self.product(), **self.since(start))
        return node

    def product(self) -> Node:
        """run {sign run}; a slash takes one factor only."""
        start = self.token.start
        node = self.run()
        while self.text in SIGNS:
            sign = self.take()
            if self.text in ("-", "+"):
                raise fault(f"'{sign.text}{self.text}' in a row; put what follows into brackets", self.token)
            if self.text in ("_", "^"):
                said = f"'{sign.text}' with a script is no operation known here; write the sum that it stands for"
                raise fault(said, sign)
            if self.text == r"\ldots":
                node = self.family([node], "", ["+"])
            elif sign.text in ("/", r"\div"):
                node = Multiply(node, "/", self.divisor(), **self.since(start))
            else:
                node = Multiply(node, sign.text, self.run(), **self.since(start))
        return node

    def divisor(self) -> Node:
        """The one factor after a slash."""
        right = self.factor()
        if self.starts_factor():
            raise fault("ambiguous: a factor follows 'a/b'; write \\frac{a}{b} or brackets", self.token)
        if isinstance(right, Call) and right.is_bare and self.text in SIGNS:
            raise fault("ambiguous after a slash; write \\frac{a}{b} or brackets", self.token)
        return right

    def run(self) -> Node:
        """Factors side by side."""
        start = self.token.start
        factors = [self.factor()]
        while self.starts_factor() or self.text == r"\ldots":
            if self.text == r"\ldots":
                if not self.starts_factor(1):
                    break
                factors = [self.family(factors, "", ["+"])]
                continue
            self.check_number(factors[-1])
            brackets.check_element(self, factors[-1])
            factors.append(self.factor())
        if len(factors) == 1:
            return factors[0]
        for factor in factors:
            if id(factor) in self.sums_without_brackets:
                raise fault("a sum under a brace meets a factor; put the sum into brackets", factor)
        return Product(tuple(factors), **self.since(start))

    def check_number(self, before: Node) -> None:
        r"""Refuse a number after a factor, and a fraction of numbers after a number (2\frac12)."""
        if self.token.kind == "number":
            raise fault(f"ambiguous: the number {self.text} follows a factor; put it first or write \\cdot", self.token)
        if isinstance(before, Number) and self.text == r"\frac":
            body = self.tokens[self.place + 1 : self.place + 7]
            if (
                all(token.kind == "number" or token.text in ("{", "}") for token in body[:2] + body[2:3])
                and self.follower(1).kind != "end"
            ):
                raise fault(
                    "ambiguous: a number before a fraction of numbers reads as a mixed number; write \\cdot", self.token
                )

    def starts_factor(self, steps: int = 0) -> bool:
        """Does a factor begin here?"""
        token = self.follower(steps) if steps else self.token
        if token.text in BARS:
            return self.opens_bar(token)
        return token.kind in ("name", "number", "ones") or token.text in STARTERS or token.text.startswith(r"\begin{")

    def opens_bar(self, token: Token) -> bool:
        """Does a bar after a factor open a magnitude?  Not when one is open, nor when it parts a list, as in D(p |
        q)."""
        if token.text in self.open_bars:
            return False
        return not self.is_list or self.bars_ahead(token.text) % 2 == 0

    def bars_ahead(self, bar: str) -> int:
        """How many such bars stand here and further on in this bracket."""
        count = depth = 0
        for token in self.tokens[self.place :]:
            depth += (token.text in ("(", "[", "{", r"\{")) - (token.text in (")", "]", "}", r"\}"))
            if depth < 0 or (depth == 0 and token.text in (",", ";")):
                break
            count += depth == 0 and token.text == bar
        return count

    def factor(self) -> Node:
        """A primary with its scripts."""
        while self.text == "{":
            named = naming.read_braced(self)
            if named is not None:
                return named
            self.splice()
        token = self.token
        if token.kind == "name":
            return naming.read_name(self)
        if token.kind == "ones":
            return bigoperators.read_ones(self)
        if token.kind == "number":
            return brackets.read_postfix(self, self.number(), token.start)
        for texts, rule in PRIMARIES:
            if token.text in texts:
                return rule(self)
        if token.text.startswith(r"\begin{"):
            return environments.read_environment(self)
        raise self.unexpected()

    def splice(self) -> None:
        """Take away braces that no reader sees: {a + b}c shows a + bc."""
        _, end = group(self.tokens, self.place)
        if end - self.place == 2:
            del self.tokens[self.place : end]
            if self.text in ("_", "^"):
                raise fault("a script without a base; put its base into the braces before it", self.token)
        else:
            del self.tokens[end - 1], self.tokens[self.place]

    def number(self) -> Number:
        """A number as it stands."""
        token = self.take()
        after, sign = self.token, self.follower()
        if (
            after.text == "e"
            and not after.gap
            and (sign.kind == "number" or sign.text == "-")
            and sign.start == after.end
        ):
            raise fault(
                f"'{token.text}e{sign.text}' shows a product with e; write {token.text} \\cdot 10^{{...}}", token
            )
        if len(token.text) > 400:
            raise fault("a number of over 400 digits", token)
        value = float(token.text) if "." in token.text else int(token.text)
        return Number(value, start=token.start, end=token.end)

    def infinity(self) -> Node:
        r"""\infty."""
        token = self.take()
        return brackets.read_postfix(self, Constant("infinity", start=token.start, end=token.end), token.start)

    def family(self, before: list[Node], operator: str, signs: list[str]) -> Node:
        """The terms or factors that dots stand for, from those before them and the one after."""
        dots = self.take()
        if operator == "+":
            if self.text not in ("+", "-") or set(signs) != {"+"} or self.take().text != "+":
                raise fault("dots in a sum need '+' on both sides, and a last term", dots)
            last = self.term()
        else:
            if self.text in SIGNS:
                self.take()
            last = self.factor()
        return make_family(before, last, operator, dots)


Primary = Callable[[Parser], Node]
PRIMARIES: Final[tuple[tuple[tuple[str, ...], Primary], ...]] = (
    (("(", "[", r"\{"), brackets.read_bracket),
    ((r"\frac",), brackets.read_fraction),
    ((r"\sqrt",), brackets.read_root),
    (("|", r"\lvert"), brackets.read_magnitude),
    ((r"\|", r"\lVert"), brackets.read_norm),
    ((r"\lfloor", r"\lceil"), brackets.read_rounding),
    ((r"\langle",), brackets.read_inner),
    ((r"\sum", r"\prod"), bigoperators.read_big),
    ((r"\infty",), Parser.infinity),
    ((r"\underbrace",), brackets.read_underbrace),
    ((r"\binom",), brackets.read_binomial),
    ((r"\partial", r"\nabla"), derived.read_gradient),
    ((r"\left.",), environments.read_left_brace),
)
