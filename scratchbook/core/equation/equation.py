r"""Read a display into an equation: its statements, the ranges of its indices, and what each statement defines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from .bound import with_bound
from .conditioned import without_bars
from .conditions import read_logic, read_set
from .errors import EquationError, fault
from .general import for_every
from .joined import join_names, join_points
from .known import known_function
from .labelled import with_labels
from .leftsides import read_left, resolve_left
from .letters import is_range
from .lexicon import Lexicon
from .listed import with_listed
from .members import with_sets
from .names import make_lexicon, parameters_of
from .nodes import Binding, Call, Compare, Derivative, Index, Name, Node, free_names, walk
from .notation import Notation
from .parser import Parser
from .pieces import split_at, top_level
from .plain import plain_tokens
from .rewritten import plainly
from .samples import Samples, read_samples, with_samples
from .setnames import with_names_of_sets
from .shown import with_shown
from .spelling import spell
from .statements import RawStatement, read_statements
from .steps import without_steps
from .stretches import part_stretches
from .symbols import group, latex_of
from .tokens import Macros, Token, read_tokens
from .vocabulary import RELATIONS

EQUALITIES: Final = frozenset(["=", ":=", r"\leftarrow", r"\approx"])
ORDER: Final = frozenset(["<", ">", r"\le", r"\ge", r"\ne"])


@dataclass(frozen=True)
class Definition:
    """What a left side names.

    key: the name.   parameters: the arguments of a function, or None.   patterns: its indices, such as 2i+1.
    members: the indices that pick a function of a family.   family: the base of that, Swish of Swish_{\\beta}.
    """

    key: str
    parameters: tuple[Node, ...] | None
    patterns: tuple[Node, ...]
    members: tuple[Node, ...] = ()
    family: str = ""


@dataclass(frozen=True)
class Statement:
    """One chain of relations.

    row: 0-based row of the display.   text: the author's LaTeX of it.   signs: the relations, where they stand.
    """

    members: tuple[Node, ...]
    relations: tuple[str, ...]
    row: int = 0
    text: str = field(default="", compare=False)
    signs: tuple[Token, ...] = field(default=(), compare=False)

    @property
    def definition(self) -> Definition | None:
        """What the left side names, when it is one name."""
        return definition_of(self.members[0]) if self.relations[:1] and self.relations[0] in EQUALITIES else None


@dataclass(frozen=True)
class Shape:
    r"""x \in \mathbb{R}^{d}: a statement about a symbol's shape."""

    name: Name
    sizes: tuple[Node, ...]


@dataclass(frozen=True)
class Equation:
    """A display as read.

    ranges: where indices run, from "i = 1, ..., n" and the like.   conditions: what the indices must meet.
    given: equations whose definitions this one uses.   samples: functions given at the elements of an array only.
    """

    source: str
    statements: tuple[Statement, ...]
    ranges: tuple[Binding, ...] = ()
    conditions: tuple[Node, ...] = ()
    shapes: tuple[Shape, ...] = ()
    notation: Notation = field(default_factory=Notation, compare=False)
    lexicon: Lexicon = field(default_factory=Lexicon, compare=False)
    given: tuple[Equation, ...] = field(default=(), compare=False)
    samples: tuple[Samples, ...] = field(default=(), compare=False)
    is_plain: bool = False

    @property
    def names(self) -> set[str]:
        """The keys of everything that it mentions: symbols, functions and indices."""
        found = set[str]()
        for node in self.roots():
            for part in walk(node):
                if isinstance(part, Name):
                    found.add(part.key)
                elif isinstance(part, Call):
                    found |= {part.function, part.base}
        return found | {binding.key for binding in self.ranges} | {shape.name.key for shape in self.shapes}

    def roots(self) -> list[Node]:
        """Every tree of the equation."""
        trees = [member for statement in self.statements for member in statement.members]
        trees += [*self.conditions, *(size for shape in self.shapes for size in shape.sizes)]
        return trees + [
            side for binding in self.ranges for side in (binding.low, binding.high, binding.members) if side
        ]

    def row(self, number: int) -> str:
        """The LaTeX of one row of the display, 1-based, without its alignment marks."""
        texts = [statement.text for statement in self.statements if statement.row == number - 1]
        if not texts:
            rows = max(statement.row for statement in self.statements) + 1
            raise EquationError(f"no row {number}; the equation has {rows}", source=self.source)
        return r", \quad ".join(texts)


def definition_of(left: Node) -> Definition | None:
    """What a left side names: x, x_i, x^{(l)}_i, f(x) or f(x)_i."""
    patterns: tuple[Node, ...] = ()
    while isinstance(left, Index):
        patterns = left.indices + patterns
        left = left.base
    if isinstance(left, Name):
        return Definition(left.key, None, patterns)
    if isinstance(left, Call) and is_definable(left):
        return Definition(left.function, left.arguments, patterns, left.indices, left.base if left.indices else "")
    if isinstance(left, Derivative) and isinstance(left.of, Call) and is_definable(left.of) and not patterns:
        return Definition(f"{left.of.function}'", left.of.arguments, (), left.of.indices)
    return None


def check_patterns(left: Node, lexicon: Lexicon) -> None:
    r"""Refuse w_{y_i} = ..., which says nothing of which i belongs to an element."""
    while isinstance(left, Index):
        base, within = left.base, [part for part in left.indices if isinstance(part, Index)]
        for part in within if isinstance(base, Name) else ():
            if isinstance(base, Name) and isinstance(part.base, Name) and free_names(part) & lexicon.indices:
                name = latex_of(base.key)
                fact = f"{name} is given at an element of {latex_of(part.base.key)}, which no letter runs over"
                raise fault(f"{fact}; give it an index of its own, as in {name}_i = ...", part)
        left = base


def is_definable(left: Call) -> bool:
    """Is it f(x, y), rather than \\log x or \\exp(2x)?"""
    keys = [argument.key for argument in left.arguments if isinstance(argument, Name)]
    if len(set(keys)) < len(keys) or left.is_bare or left.function == "inner":
        return False
    return len(keys) == len(left.arguments) or known_function(left.base) in ("", "gaussian")


def parse_equation(
    latex: str, notation: Notation, macros: Macros | None = None, given: Sequence[Equation] = ()
) -> Equation:
    """Read LaTeX as the page shows it.

    given: equations whose definitions may be used.
    Raises EquationError, with its place in the text, for everything that cannot be read in one way.
    """
    try:
        return read(spell(read_tokens(latex, macros)), latex, notation, given, is_plain=False)
    except EquationError as error:
        raise error.within(latex, "latex") from None
    except RecursionError:
        raise EquationError("the equation nests too deep; name a part and write it apart", source=latex) from None


def parse_plain(text: str, notation: Notation, given: Sequence[Equation] = ()) -> Equation:
    """Read a formula in plain text, such as H = X + Attention(LN(X)) W₁, where words are names as in code."""
    try:
        return read(plain_tokens(text, notation), text, notation, given, is_plain=True)
    except EquationError as error:
        raise error.within(text, "latex") from None
    except RecursionError:
        raise EquationError("the formula nests too deep; name a part and write it apart", source=text) from None


def read(
    tokens: list[Token], source: str, notation: Notation, given: Sequence[Equation], *, is_plain: bool
) -> Equation:
    """Read spelled tokens into an equation."""
    axes = {key: len(symbol.kind.shape) for key, symbol in notation.symbols.items()}
    raw = with_names_of_sets(with_bound(read_statements(tokens), notation), notation)
    raw = with_listed(with_sets(raw, notation), notation)
    raw = with_shown(raw, notation)
    declared = axes | dict.fromkeys(notation.functions, 0)
    raw, counted = without_bars(join_names(with_labels(raw, declared), declared), notation)
    raw = plainly(join_points(without_steps(raw, notation, counted), declared), notation)
    lexicon = make_lexicon(notation, raw, *given_names(given))
    reader = Reader(lexicon, source, is_plain=is_plain)
    for statement in raw:
        if is_range(statement):
            check_range(statement, raw, notation)
        reader.statement(statement)
    samples = [own for equation in given for own in equation.samples]
    samples += read_samples(reader.statements, lexicon, notation.functions)
    reader.statements = [with_samples(statement, samples) for statement in reader.statements]
    reader.statements = [with_elements(statement, reader.statements, lexicon) for statement in reader.statements]
    if not reader.statements:
        raise fault("nothing here says that two sides are equal; write left = right", raw[0].members[0][0])
    return Equation(
        source,
        tuple(reader.statements),
        tuple(reader.ranges),
        tuple(reader.conditions),
        tuple(reader.shapes),
        notation,
        lexicon,
        tuple(given),
        tuple(samples),
        is_plain,
    )


def check_range(statement: RawStatement, statements: Sequence[RawStatement], notation: Notation) -> None:
    r"""Refuse i = 1, \ldots, n about a letter that stands nowhere else, or that is declared and does not run."""
    others = [other for other in statements if other is not statement]
    texts = {token.text for other in others for member in other.members for token in member}
    for token in statement.members[0]:
        if token.kind != "name":
            continue
        symbol = notation.symbols.get(token.text)
        if symbol is not None and symbol.kind.name not in ("int", "index"):
            raise fault(f"{symbol.latex} is declared as {symbol.kind.name} and does not run; name the index", token)
        if any([part.text for part in other.members[0]] == [token.text] for other in others if not is_range(other)):
            raise fault(f"{token.text} has a value here and does not run; name the index", token)
        if others and token.text not in texts:
            raise fault(f"{token.text} runs here and stands nowhere else; name the index", token)


def with_elements(statement: Statement, statements: Sequence[Statement], lexicon: Lexicon) -> Statement:
    """The statement with p_i(T) on its left as element i of p(T), unless p_1(T), p_i(x) and the like are functions
    here."""
    left = statement.members[0]
    if not isinstance(left, Call) or not left.indices or known_function(left.base):
        return statement
    others = [member for other in statements for member in other.members if member is not left]
    is_function = any(isinstance(part, Call) and part.base == left.base for member in others for part in walk(member))
    if is_function or not all(isinstance(part, Name) and part.key in lexicon.indices for part in left.indices):
        return statement
    whole = replace(left, function=left.base, indices=())
    element = Index(whole, left.indices, start=left.start, end=left.end)
    return replace(statement, members=(element, *statement.members[1:]))


def given_names(given: Iterable[Equation]) -> tuple[set[str], set[str]]:
    """The variables and functions that earlier equations define."""
    variables, functions = set[str](), set[str]()
    for equation in given:
        for statement in equation.statements:
            definition = statement.definition
            if definition and definition.key in {own.key for own in equation.samples}:
                functions.add(definition.key)
            elif definition and definition.parameters is None:
                variables.add(definition.key)
            elif definition:
                functions.add(definition.key)
    return variables, functions


class Reader:
    """Turns raw statements into trees, one after another."""

    def __init__(self, lexicon: Lexicon, source: str, *, is_plain: bool) -> None:
        self.lexicon = lexicon
        self.source = source
        self.is_plain = is_plain
        self.statements: list[Statement] = []
        self.ranges: list[Binding] = []
        self.conditions: list[Node] = []
        self.shapes: list[Shape] = []

    def parser(
        self, tokens: Sequence[Token], scope: frozenset[str] = frozenset(), parameters: frozenset[str] = frozenset()
    ) -> Parser:
        """A parser with the names of this display."""
        return Parser(tokens, self.lexicon, scope, is_plain=self.is_plain, parameters=parameters)

    def statement(self, raw: RawStatement) -> None:
        """Read one statement into its list."""
        relations = [token.text for token in raw.relations]
        if not relations:
            first = raw.members[0][0]
            raise fault("an equation without '='; write left = right", first)
        if r"\in" in relations:
            self.membership(raw)
        elif is_range(raw):
            self.range(raw)
        elif self.is_condition(raw):
            self.condition(raw)
        else:
            self.equation(raw)

    def equation(self, raw: RawStatement) -> None:
        """A chain of relations between expressions; its left indices run in all the others."""
        members = [self.left(raw)]
        check_patterns(members[0], self.lexicon)
        scope = frozenset(free_names(members[0]) & self.lexicon.indices)
        left = read_left(raw.members[0], self.lexicon)
        parameters = frozenset(parameters_of(left) if left is not None else ())
        members += [self.parser(tokens, scope, parameters).whole() for tokens in raw.members[1:]]
        members, bindings = part_stretches(for_every(members, self.lexicon), self.lexicon, len(self.statements))
        self.ranges += bindings
        start, end = raw.members[0][0].start, raw.members[-1][-1].end
        relations = tuple(token.text for token in raw.relations)
        text = self.source[start:end]
        self.statements.append(Statement(tuple(members), relations, raw.row, text, raw.relations))

    def left(self, raw: RawStatement) -> Node:
        r"""The left side; of an event such as \Pr(X = k), of P(x_1, \ldots, x_n) and of V(D, G) with functions D and
        G no more than its name."""
        tokens = raw.members[0]
        named = read_left(tokens, self.lexicon)
        if named and named.arguments and is_said_only(named.arguments, self.lexicon):
            key = resolve_left(self.lexicon, named)[0]
            return Name(key or named.base, start=tokens[0].start, end=tokens[-1].end)
        return self.parser(tokens).whole()

    def range(self, raw: RawStatement) -> None:
        r"""i = 1, \ldots, n."""
        low, high, _ = read_set(self.parser(()), raw.members[1], raw.relations[0])
        for token in raw.members[0]:
            if token.kind == "name":
                self.ranges.append(Binding(token.text, low, high, start=token.start, end=token.end))

    def membership(self, raw: RawStatement) -> None:
        r"""i \in [n] is a range; x \in \mathbb{R}^d a statement about shapes."""
        if len(raw.relations) > 1:
            raise fault("'\\in' within a chain; write it apart", raw.relations[0])
        right = raw.members[1]
        names = [self.parser(piece).whole() for piece in pieces_of(raw.members[0])]
        if right[0].text in (r"\mathbb{R}", r"\R"):
            sizes = self.sizes(right[1:])
            for name in names:
                if not isinstance(name, Name):
                    raise fault("a shape belongs to one name: x \\in \\mathbb{R}^{d}", raw.relations[0])
                self.shapes.append(Shape(name, sizes))
            return
        if not all(isinstance(name, Name) and name.key in self.lexicon.indices for name in names):
            raise fault(
                "a membership has no value to compare; declare the kind of the name in the notation", raw.relations[0]
            )
        low, high, members = read_set(self.parser(()), right, raw.relations[0])
        self.ranges += [Binding(name.key, low, high, members) for name in names if isinstance(name, Name)]

    def sizes(self, tokens: Sequence[Token]) -> tuple[Node, ...]:
        r"""The sizes in \mathbb{R}^{d \times h}."""
        if not tokens:
            return ()
        if tokens[0].text != "^":
            raise fault("a set of numbers is written \\mathbb{R}^{d}", tokens[0])
        script, _ = group(tokens, 1)
        pieces: list[list[Token]] = [[]]
        for token in script:
            if token.text == r"\times":
                pieces.append([])
            else:
                pieces[-1].append(token)
        return tuple(self.parser(piece).whole() for piece in pieces)

    def is_condition(self, raw: RawStatement) -> bool:
        r"""Does it only limit indices, as 0 \le i < d/2 and i \ne j do?"""
        if raw.relations[0].text not in ORDER and raw.before != "if":
            return False
        members = [self.parser(tokens).whole() for tokens in raw.members]
        return any(isinstance(member, Name) and member.key in self.lexicon.indices for member in members)

    def condition(self, raw: RawStatement) -> None:
        """A chain that limits indices."""
        tokens = [
            token
            for member, sign in zip(raw.members, [*raw.relations, None], strict=True)
            for token in [*member, *([sign] if sign else [])]
        ]
        node = read_logic(self.parser(()), tokens)
        assert isinstance(node, Compare)  # its members were read as expressions, which hold no "and"
        self.conditions.append(node)


def is_said_only(arguments: Sequence[Token], lexicon: Lexicon) -> bool:
    r"""Do arguments on the left say what it is about, rather than name parameters, or elements as x_t and what came
    before it, x_{<t} or x_1, \ldots, x_{t-1}, do?"""
    texts = [token.text for token in arguments]
    has_function = any(text in lexicon.functions and "(" not in texts for text in texts)
    of = split_at(arguments, ("|", r"\mid"))[0]
    has_dots = r"\ldots" in texts and not any(token.text in lexicon.indices for token in of)
    return has_function or has_dots or any(token.text in RELATIONS for token in top_level(arguments))


def pieces_of(tokens: Sequence[Token]) -> list[list[Token]]:
    """Names in a list."""
    pieces: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == ",":
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if piece]
