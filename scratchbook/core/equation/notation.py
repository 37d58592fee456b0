r"""Read the notation: what each symbol is, its shape, its name in the code, and what it means to the reader.

One entry a line; the kind is for the checker, the words after ' -- ' for the reader:

    x, \bar{z}: vector(d) -- a row, and the gradient that arrives at it
    g as gain: vector(d) -- the learned gain
    g_1 as weights['gain_1']: vector(d)
    \operatorname{Attn} = attention(_, W_q, W_k, W_v, W_o) -- causal self-attention
    override x: matrix(n, d)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from .errors import EquationError, fault
from .kinds import KINDS, Kind, read_kind, sizes_named, split_top
from .symbols import code_name, key_of_code, read_symbol
from .tokens import Macros

HEAD: Final = re.compile(r"(override\s+)?(.*)$", re.DOTALL)


@dataclass(frozen=True)
class Text:
    """What an author wrote in one place.  field: "notation", or the option "where" or "using" of one equation."""

    source: str = ""
    field: str = "notation"

    def fault(self, said: str, row: int, part: str = "") -> EquationError:
        """A mistake in one line, or in a part of it behind the name."""
        line = self.source.split("\n")[row]
        found = line.find(part, line.find(":") + 1) if part else -1
        column = max(found, 0)
        start = sum(len(other) + 1 for other in self.source.split("\n")[:row]) + column
        end = start + (len(part) if found >= 0 else len(line))
        return EquationError(said, offset=start, end=end, source=self.source, field=self.field)


NO_TEXT: Final = Text()


@dataclass(frozen=True)
class Symbol:
    r"""One declared symbol.

    key: its one spelling.   latex: as the author wrote it.   code: its name in Python, or a path such as
    weights['gain_1'].
    row: 0-based line of the notation's text.   is_implicit: a size that only a shape names.
    text: that text, for messages that come later, from whatever notations were joined.
    """

    key: str
    latex: str
    kind: Kind
    code: str
    meaning: str = ""
    row: int = 0
    is_override: bool = False
    is_implicit: bool = False
    text: Text = field(default=NO_TEXT, compare=False, repr=False)

    def fault(self, said: str, part: str = "") -> EquationError:
        """A mistake that this declaration makes, shown at a part of its kind, else at its whole line."""
        return self.text.fault(said, self.row, part)


@dataclass(frozen=True)
class Function:
    """A function's symbol and the Python that computes it: a name, or a call with _ for the argument (_, _ or _1,
    _2 for several)."""

    key: str
    latex: str
    code: str
    meaning: str = ""
    row: int = 0
    is_override: bool = False


@dataclass(frozen=True)
class Notation:
    """Every symbol and function that an equation may use."""

    symbols: dict[str, Symbol] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    text: Text = field(default=NO_TEXT, compare=False)

    def overridden(self, other: Notation) -> Notation:
        """This notation with a chapter's own on top; what changes a name must say so.

        Raises EquationError for a silent change, and for an override of nothing.
        """
        entries: list[Symbol | Function] = [*other.symbols.values(), *other.functions.values()]
        for entry in entries:
            older = self.symbols.get(entry.key) or self.functions.get(entry.key)
            other.check_change(entry, older)
        kept = {key: symbol for key, symbol in self.symbols.items() if key not in other.functions}
        functions = {key: item for key, item in self.functions.items() if key not in other.symbols}
        news = {key: item for key, item in other.symbols.items() if not (item.is_implicit and key in kept)}
        merged = Notation(kept | news, functions | other.functions, other.text)
        return with_sizes(merged)

    def check_change(self, entry: Symbol | Function, older: Symbol | Function | None) -> None:
        """Refuse a change that does not say so."""
        if isinstance(entry, Symbol) and entry.is_implicit:
            return
        fresh = older is None or (isinstance(older, Symbol) and older.is_implicit)
        if entry.is_override and fresh:
            said = f"override of {entry.latex}, which is not declared before; drop 'override'"
            raise self.text.fault(said, entry.row)
        if not fresh and not entry.is_override and not same_entry(entry, older):
            was = older.kind if isinstance(older, Symbol) else f"the function {older.code}" if older else ""
            raise self.text.fault(
                f"{entry.latex} is declared as {was} before; write 'override {entry.latex}: ...' to change it",
                entry.row,
            )

    def by_code(self) -> dict[str, Symbol]:
        """The symbols by their Python names and paths; one with a path also by the name that its letters give."""
        codes = {symbol.code: symbol for symbol in self.symbols.values()}
        for symbol in self.symbols.values():
            if not symbol.code.isidentifier():
                codes.setdefault(code_name(symbol.key), symbol)
        return codes


def same_entry(entry: Symbol | Function, older: Symbol | Function | None) -> bool:
    """Do two declarations say the same to the checker?"""
    if isinstance(entry, Symbol) and isinstance(older, Symbol):
        return (entry.kind, entry.code) == (older.kind, older.code)
    return isinstance(entry, Function) and isinstance(older, Function) and entry.code == older.code


def read_notation(text: str, macros: Macros | None = None, field_name: str = "notation") -> Notation:
    """Read the entries of a notation, one a line.

    field_name: where the author wrote it.
    Raises EquationError, at the entry's line, for a name or kind that cannot be read, a name declared twice, and two
    symbols with
    one Python name.
    """
    symbols: dict[str, Symbol] = {}
    functions: dict[str, Function] = {}
    whole = Text(text, field_name)
    notation = Notation(symbols, functions, whole)
    for row, line in enumerate(text.split("\n")):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            entries = list(read_line(line, row, macros))
        except EquationError as error:
            raise whole.fault(error.text, row) from None
        for entry in entries:
            if entry.key in symbols or entry.key in functions:
                raise whole.fault(f"{entry.latex} is declared twice; keep one line", row)
            if isinstance(entry, Symbol):
                symbols[entry.key] = replace(entry, text=whole)
            else:
                functions[entry.key] = entry
    return with_sizes(notation)


def with_sizes(notation: Notation) -> Notation:
    """The notation with the sizes that only its shapes name, after a look for two symbols of one Python name."""
    symbols = {key: item for key, item in notation.symbols.items() if not item.is_implicit}
    codes = {symbol.code for symbol in symbols.values()}
    for symbol in list(symbols.values()):
        for name in sizes_named(symbol.kind):
            key = dict(symbol.kind.keys).get(name) or key_of_code(name)
            if name not in codes and key not in symbols and key not in notation.functions:
                symbols[key] = Symbol(key, key, Kind("dim"), name, row=symbol.row, is_implicit=True, text=symbol.text)
                codes.add(name)
    seen: dict[str, Symbol] = {}
    for symbol in symbols.values():
        twin = seen.setdefault(symbol.code, symbol)
        if twin is not symbol:
            fact = f"{symbol.latex} and {twin.latex} are both {symbol.code} in Python"
            raise symbol.fault(f"{fact}; write '{symbol.latex} as other_name: ...'")
    return replace(notation, symbols=symbols)


def read_line(line: str, row: int, macros: Macros | None) -> Iterator[Symbol | Function]:
    """Yield the entries of one line."""
    body, meaning = split_meaning(line)
    match = HEAD.match(body.strip())
    assert match is not None
    is_override, body = match[1] is not None, match[2]
    place, sign = first_sign(body)
    if sign == "=":
        latex = body[:place].strip()
        code = body[place + 1 :].strip()
        if not code:
            raise fault(f"{latex} has no code; write '{latex} = function_name'")
        yield Function(read_symbol(latex, macros), latex, code, meaning, row, is_override)
        return
    if sign != ":":
        raise fault(f"'{line.strip()}' has no kind; write 'name: kind', with a kind of {', '.join(sorted(KINDS))}")
    kind = read_kind(body[place + 1 :].strip(), macros)
    names = split_top(body[:place], ",")
    check_aliases(names)
    for name in names:
        latex, _, alias = (part.strip() for part in name.partition(" as "))
        key = read_symbol(latex, macros, is_value=True)
        yield Symbol(key, latex, kind, read_alias(alias) if alias else code_name(key), meaning, row, is_override)


def check_aliases(names: list[str]) -> None:
    """Refuse 'x, y as a, b', which could give one symbol its name in the code or each of them."""
    aliased = [place for place, name in enumerate(names) if " as " in name]
    are_codes = aliased and all(name.isidentifier() for name in names[aliased[0] + 1 :])
    if len(aliased) == 1 and are_codes and 0 < aliased[0] == len(names) - 1 - aliased[0]:
        own, _, first = names[aliased[0]].partition(" as ")
        symbols, codes = [*names[: aliased[0]], own], [first, *names[aliased[0] + 1 :]]
        pairs = ", ".join(f"{symbol.strip()} as {code.strip()}" for symbol, code in zip(symbols, codes, strict=True))
        first = ", ".join([names[aliased[0]], *names[: aliased[0]], *names[aliased[0] + 1 :]])
        raise fault(
            f"ambiguous: does '{', '.join(names)}' name each symbol, or only the one before 'as'? write '{pairs}', or "
            f"a line for each, or '{first}'"
        )


def split_meaning(line: str) -> tuple[str, str]:
    """Part the words for the reader from the entry."""
    for dash in (" -- ", " — ", " – "):
        body, found, meaning = line.partition(dash)
        if found:
            return body, meaning.strip()
    return line, ""


def first_sign(text: str) -> tuple[int, str]:
    """The first ':' or '=' outside brackets, and its place."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "{([") - (character in "})]")
        if depth == 0 and character in ":=":
            return place, character
    return -1, ""


def read_alias(text: str) -> str:
    """Check a symbol's name in the code: a Python name, or a path into a dict or an object."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise fault(f"'{text}' is not a Python name; write for example gain or weights['gain_1']") from None
    part: ast.expr = node
    while isinstance(part, ast.Attribute | ast.Subscript):
        if isinstance(part, ast.Subscript) and not isinstance(part.slice, ast.Constant):
            raise fault(f"the path {text} must name its parts by constants, as in weights['gain_1']")
        part = part.value
    if not isinstance(part, ast.Name):
        raise fault(f"'{text}' is not a Python name; write for example gain or weights['gain_1']")
    return ast.unparse(node)
