"""Part a display into its statements: rows, "where" parts and ranges, each a chain of relations.  Knows no
operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from .errors import fault
from .pieces import closes, opens, top_level
from .piecewise import outside, put_cases
from .tokens import Token
from .vocabulary import (
    CONDITIONAL,
    CONNECTIVES,
    EVALUATED_ENVIRONMENTS,
    LAYOUT_ENVIRONMENTS,
    QUANTIFIERS,
    REFUSED,
    RELATIONS,
)

SEPARATORS: Final = frozenset([",", ";", "."])
JOINERS: Final = frozenset(["+", r"\cdot", r"\times", r"\odot", "*", "/", r"\circ", r"\mid", r"\ldots", "_", "^"])
PIECEWISE: Final = frozenset(["otherwise", "else", "unless"])


@dataclass
class Chunk:
    """Tokens between two separators.  before: what parts it from the chunk before: row, space, word, if, comma."""

    before: str
    row: int
    tokens: list[Token] = field(default_factory=list)

    @property
    def is_relation(self) -> bool:
        """Does it hold a relation at its top level?"""
        return any(token.text in RELATIONS for token in top_level(self.tokens))


@dataclass(frozen=True)
class RawStatement:
    """One chain: its members' tokens, the relations between them, what came before it, and its row in the display."""

    members: tuple[tuple[Token, ...], ...]
    relations: tuple[Token, ...]
    before: str
    row: int


def read_statements(tokens: list[Token]) -> list[RawStatement]:
    """Part spelled tokens into statements.

    Raises EquationError for environments that do not match, pieces without a relation, and empty sides.
    """
    chunks = merge(cut_chunks(put_cases(drop_layout(drop_systems(tokens)))))
    if not chunks:
        raise fault("an empty equation; write left = right")
    return [part_relations(chunk) for chunk in chunks]


def drop_systems(tokens: list[Token]) -> list[Token]:
    r"""Drop the brace before several statements: \begin{cases} a = b \\ c = d \end{cases} is a system of equations."""
    kept: list[Token] = []
    place = 0
    while place < len(tokens):
        opens_one = tokens[place].text in (r"\{", r"\begin{cases}", r"\begin{dcases}", r"\begin{array}")
        body, end = system_at(tokens, place) if opens_one and is_start(kept) else ([], place)
        kept += body or tokens[place : place + 1]
        place = end if body else place + 1
    return kept


def is_start(before: Sequence[Token]) -> bool:
    """May a statement begin behind these tokens?"""
    if not before or before[-1].text in SEPARATORS or before[-1].kind == "text":
        return True
    written = next((token for token in reversed(before) if not is_layout(token)), None)
    return written is not before[-1] and (written is None or written.text not in RELATIONS | JOINERS | {"-"})


def is_layout(token: Token) -> bool:
    """Does a token only part rows, cells and equations?"""
    return token.kind in ("newline", "space") or token.text == "&"


def system_at(tokens: Sequence[Token], place: int) -> tuple[list[Token], int]:
    """The rows of the system that begins at a place, and the place behind it; nothing where none does."""
    start = place + (tokens[place].text == r"\{")
    names = (r"\begin{aligned}", r"\begin{array}") if start > place else (tokens[place].text,)
    if start >= len(tokens) or tokens[start].text not in names:
        return [], place
    depth, end = 1, start + 1
    while end < len(tokens) and depth:
        depth += tokens[end].text.startswith(r"\begin{") - tokens[end].text.startswith(r"\end{")
        end += 1
    if depth or (start > place and (end >= len(tokens) or tokens[end].text != r"\right.")):
        return [], place
    body = list(tokens[start + 1 : end - 1])
    is_array = tokens[start].text == r"\begin{array}" and start == place
    if (place or is_array) and not all(is_equation(row) for row in rows_of(body)):
        return [], place
    if tokens[start].text == r"\begin{array}" and body[:1] and body[0].text == "{":
        body = body[[token.text for token in body].index("}") + 1 :]
    return [*body, replace(tokens[end - 1], kind="newline", text="\\\\")], end + (start > place)


def rows_of(body: Sequence[Token]) -> list[list[Token]]:
    """The rows of an environment that have any tokens."""
    rows: list[list[Token]] = [[]]
    for token in body:
        if token.kind == "newline":
            rows.append([])
        else:
            rows[-1].append(token)
    return [row for row in rows if row]


def is_equation(row: Sequence[Token]) -> bool:
    """Has a row its relation in the first cell or before the second, where a case has its value?"""
    cells = [number for number, token in enumerate(row) if token.text == "&"]
    first = row[: cells[0] + 2] if cells else row
    return any(token.text in RELATIONS for token in top_level(first))


def drop_layout(tokens: list[Token]) -> list[Token]:
    """Check that environments match, and drop those that only lay rows out; behind a brace their rows are cases."""
    stack: list[tuple[Token, bool]] = []
    kept: list[Token] = []
    for token in tokens:
        kind, _, name = token.text.partition("{")
        name = name.removesuffix("}")
        stays = token.text != "$"
        if kind == r"\begin":
            if name not in LAYOUT_ENVIRONMENTS and name not in EVALUATED_ENVIRONMENTS:
                raise fault(f"unknown environment '{name}'; use aligned, cases or pmatrix", token)
            stays = name in EVALUATED_ENVIRONMENTS or bool(kept and kept[-1].text == r"\{")
            stack.append((token, stays))
        elif kind == r"\end":
            opener, stays = stack.pop() if stack else (token, True)
            if opener.text[len(r"\begin") :] != token.text[len(r"\end") :]:
                raise fault(
                    f"{token.text} does not match the environment that is open; each \\begin needs its \\end", token
                )
        if stays:
            kept.append(token)
    if stack:
        opener = stack[-1][0]
        name = opener.text.removeprefix(r"\begin")
        raise fault(f"{opener.text} is never closed; add \\end{name}", opener)
    return kept


def cut_chunks(tokens: list[Token]) -> list[Chunk]:
    """Cut at rows, wide spaces, words and commas of the top level."""
    chunks = [Chunk("row", 0)]
    depth = environments = row = columns = 0
    for number, token in enumerate(tokens):
        depth = max(0, depth - closes(token))
        environments -= token.text.startswith(r"\end{")
        if depth or environments:
            if environments or (token.kind not in ("newline", "space") and token.text != "&"):
                chunks[-1].tokens.append(token)
        elif token.kind == "newline":
            row, columns = row + 1, 0
            chunks.append(Chunk("row", row))
        elif token.kind == "space":
            chunks.append(Chunk("space", row))
        elif token.kind == "text":
            separate_text(token, tokens, number, chunks)
        elif token.text in SEPARATORS:
            chunks.append(Chunk("comma", row))
        elif token.text != "&":
            chunks[-1].tokens.append(token)
        elif (columns := columns + 1) % 2 == 0:  # a &= b & c &= d
            chunks.append(Chunk("space", row))
        depth += opens(token)
        environments += token.text.startswith(r"\begin{")
    return [chunk for chunk in fold_empty(chunks) if chunk.tokens]


def separate_text(token: Token, tokens: list[Token], number: int, chunks: list[Chunk]) -> None:
    """A connective begins a chunk; another text is a comment where a cell begins or ends, and else a name."""
    words = [word.strip(".,;:()").lower() for word in token.text.split()]
    row = chunks[-1].row
    if any(word in PIECEWISE for word in words):
        raise outside(token)
    if {*words} & QUANTIFIERS and {*words} <= QUANTIFIERS | {"for", ""}:
        chunks.append(Chunk("word", row, [replace(token, kind="symbol", text=r"\forall")]))
        return
    if all(word in CONNECTIVES or not word for word in words):
        chunks.append(Chunk("if" if any(word in CONDITIONAL for word in words) else "word", row))
        return
    before = tokens[number - 1] if number else None
    after = tokens[number + 1] if number + 1 < len(tokens) else None
    borders = [before is None or before.kind in ("newline", "space", "text") or before.text in SEPARATORS | {"&"}]
    borders.append(after is None or after.kind in ("newline", "space", "text") or after.text in SEPARATORS | {"&"})
    if not any(borders):
        raise fault(
            f"'{token.text}' stands inside an expression; declare it as a name of one word, or set it apart with "
            f"\\quad",
            token,
        )
    chunks.append(Chunk("word", row))


def fold_empty(chunks: list[Chunk]) -> list[Chunk]:
    """Let a chunk know the strongest of the separators that stand before it."""
    strength = {"comma": 0, "space": 1, "word": 2, "row": 3, "if": 4}
    for chunk, following in pairwise(chunks):
        if not chunk.tokens and strength[chunk.before] > strength[following.before]:
            following.before = chunk.before
    return chunks


def merge(chunks: list[Chunk]) -> list[Chunk]:
    """Join chunks that belong to one statement: continued rows, lists with dots, and several names before one
    relation."""
    merged: list[Chunk] = []
    is_for_all = False
    for number, chunk in enumerate(chunks):
        last = merged[-1] if merged else None
        first, final = chunk.tokens[0], last.tokens[-1] if last else None
        starts_all = first.text == r"\forall"
        chunk.tokens = chunk.tokens[starts_all:]
        is_for_all = starts_all or (is_for_all and len(chunk.tokens) == 1 and chunk.before in ("comma", "word"))
        is_for_all &= not chunk.is_relation
        if is_for_all or not chunk.tokens:
            continue  # for all i, j says nothing that the sides do not
        if last is None:
            merged.append(chunk)
        elif is_continued(chunk, last, final) or is_listed(chunks, number):
            comma = [] if chunk.before in ("row", "space") else [Token("symbol", ",", first.start, first.start)]
            last.tokens += (
                [*comma, *chunk.tokens]
                if r"\ldots" in (first.text, final and final.text) or not last.is_relation or is_listed(chunks, number)
                else chunk.tokens
            )
        else:
            merged.append(chunk)
    for chunk in merged:
        strip_parentheses(chunk)
        if not chunk.is_relation and len(merged) > 1:
            refused = next((token for token in top_level(chunk.tokens) if token.text in REFUSED), None)
            if refused is not None:
                raise fault(f"{refused.text} {REFUSED[refused.text]}", refused)
            raise fault(
                "this part has no relation; continue the equation before it, or write left = right", chunk.tokens[0]
            )
    return merged


def is_listed(chunks: Sequence[Chunk], number: int) -> bool:
    r"""Is a chunk the 2 of t = 1, 2, \ldots, T, or the T-2 of t = T-1, T-2, \ldots, 1?"""
    for place, chunk in enumerate(chunks[number:]):
        if chunk.before != "comma" or chunk.is_relation:
            return False
        if [token.text for token in chunk.tokens] == [r"\ldots"]:
            return place > 0
    return False


def is_continued(chunk: Chunk, last: Chunk, final: Token | None) -> bool:
    """Does a chunk carry on the statement before it?"""
    first = chunk.tokens[0]
    if len(last.tokens) > 1 and last.tokens[-2].text in ("_", "^"):
        final = None  # the + of [x]_+ joins nothing
    if (
        first.text in RELATIONS
        or first.text in JOINERS
        or (final is not None and (final.text in JOINERS | {"-"} or final.text in RELATIONS))
    ):
        return True
    if chunk.before == "row" and not chunk.is_relation and last.is_relation:
        return True
    if first.text == "-" and not chunk.is_relation:
        return True
    return chunk.before == "comma" and not last.is_relation


def strip_parentheses(chunk: Chunk) -> None:
    """(i = 1, ..., n) after an equation is the range that it holds."""
    tokens = chunk.tokens
    if (
        chunk.before != "row"
        and tokens[0].text in ("(", "[")
        and tokens[-1].text in (")", "]")
        and not chunk.is_relation
    ):
        inside = tokens[1:-1]
        if any(token.text in RELATIONS for token in top_level(inside)):
            chunk.tokens = [token for token in inside if token.text != r"\forall" and token.kind != "text"]


def part_relations(chunk: Chunk) -> RawStatement:
    """Part a chunk at the relations of its top level."""
    members: list[list[Token]] = [[]]
    relations: list[Token] = []
    depth = 0
    for before, token in pairwise([None, *chunk.tokens]):
        assert token is not None
        depth = max(0, depth - closes(token))
        is_script = before is not None and before.text in ("_", "^")
        if depth == 0 and token.text in REFUSED and token.text != r"\forall" and not is_script:
            raise fault(f"{token.text} {REFUSED[token.text]}", token)
        if depth == 0 and token.text in RELATIONS:
            if not members[-1]:
                raise fault(f"nothing stands before '{token.text}'; write left {token.text} right", token)
            relations.append(token)
            members.append([])
        else:
            members[-1].append(token)
        depth += opens(token)
    if not members[-1]:
        raise fault(
            f"nothing stands after '{relations[-1].text}'; write left {relations[-1].text} right", relations[-1]
        )
    return RawStatement(tuple(map(tuple, members)), tuple(relations), chunk.before, chunk.row)
