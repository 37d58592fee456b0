"""Read environments that have a value: cases and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from .brackets import read_postfix
from .conditions import REST, read_condition
from .errors import fault
from .nodes import Case, Cases, Matrix, Node
from .pieces import words_of
from .tokens import Token
from .vocabulary import LAYOUT_ENVIRONMENTS

if TYPE_CHECKING:
    from .parser import Parser

DOTS: Final = frozenset([r"\ldots", r"\vdots", r"\ddots"])


def read_environment(parser: Parser) -> Node:
    r"""\begin{cases} and the matrices."""
    token = parser.take()
    name = token.text[len(r"\begin{") : -1]
    body = take_body(parser, token)
    if name in ("cases", "dcases", "rcases"):
        return read_cases(parser, body, token)
    if name == "array":
        raise fault("an array needs its bracket: \\left\\{ for cases, or use pmatrix", token)
    node = read_matrix(parser, body, token, is_determinant=name in ("vmatrix", "Vmatrix"))
    return read_postfix(parser, node, token.start)


def take_body(parser: Parser, token: Token) -> list[Token]:
    """The tokens up to the matching end."""
    depth, start = 1, parser.place
    while depth:
        part = parser.take()
        depth += part.text.startswith(r"\begin{")
        depth -= part.text.startswith(r"\end{")
    return parser.tokens[start : parser.place - 1]


def rows_of(body: Sequence[Token]) -> list[list[list[Token]]]:
    """Rows of cells, each a list of tokens."""
    rows: list[list[list[Token]]] = [[[]]]
    depth = 0
    for token in body:
        depth += token.text.startswith(r"\begin{") - token.text.startswith(r"\end{")
        if depth == 0 and token.kind == "newline":
            rows.append([[]])
        elif depth == 0 and token.text == "&":
            rows[-1].append([])
        else:
            rows[-1][-1].append(token)
    return [row for row in rows if any(row)]


def read_cases(parser: Parser, body: Sequence[Token], token: Token) -> Node:
    """Rows of a value and its condition."""
    rows = []
    for row in rows_of(body):
        cells = row[1:] if len(row) > 2 and not trimmed(row[0]) else row  # &x, & i > 0
        value, condition = cells[0], [part for cell in cells[1:] for part in cell]
        if len(cells) == 1:
            value, condition = split_row(cells[0])
        value = trimmed(value)
        if not value:
            raise fault("a case without a value; write value & \\text{if } condition", token)
        node = parser.inside(value).whole()
        is_else = any(words_of(part) & REST for part in condition)
        rows.append(Case(node, read_condition(parser, condition), is_else, start=node.start, end=node.end))
    if not rows:
        raise fault("cases without a row; write value & \\text{if } condition", token)
    if any(row.condition is None for row in rows[:-1]):
        raise fault("only the last case may lack a condition; write \\text{if } ... in the others", token)
    return Cases(tuple(rows), **parser.since(token.start))


def split_row(tokens: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """Part a row without '&' at its first comma, word or wide space."""
    depth = 0
    for number, token in enumerate(tokens):
        depth += (token.text in ("{", "(", "[", r"\{")) - (token.text in ("}", ")", "]", r"\}"))
        if depth == 0 and (token.kind in ("text", "space") or (token.text == "," and number)):
            return list(tokens[:number]), list(tokens[number:])
    return list(tokens), []


def trimmed(tokens: Sequence[Token]) -> list[Token]:
    """Tokens without the punctuation and spaces at their end."""
    kept = [token for token in tokens if token.kind != "space"]
    while kept and (kept[-1].text in (",", ";", ".") or kept[-1].kind == "text"):
        kept.pop()
    return kept


def read_matrix(parser: Parser, body: Sequence[Token], token: Token, *, is_determinant: bool) -> Node:
    """Rows of equal length."""
    rows = []
    for cells in rows_of(body):
        dots = next((part for cell in cells for part in cell if part.text in DOTS and len(trimmed(cell)) == 1), None)
        if dots is not None:
            raise fault(
                "dots in a matrix stand for elements that are not written; write a list [x_1, \\ldots, x_n], or give "
                "each element by its indices: a_{ij} = ...",
                dots,
            )
        if any(not trimmed(cell) for cell in cells):
            raise fault("an empty cell in a matrix; write 0", token)
        rows.append(tuple(parser.inside(trimmed(cell)).whole() for cell in cells))
    if not rows:
        raise fault("an empty matrix; write its elements", token)
    if len({len(row) for row in rows}) > 1:
        raise fault(
            f"matrix rows of different lengths: {', '.join(str(len(row)) for row in rows)}; complete the short ones",
            token,
        )
    return Matrix(tuple(rows), is_determinant, **parser.since(token.start))


def read_left_brace(parser: Parser) -> Node:
    r"""\left. opens nothing that has a value."""
    raise fault("\\left. with a bar at its right end has no value here; write the value put in", parser.token)


def read_braced_cases(parser: Parser) -> Node | None:
    r"""\left\{ \begin{array}{ll} ... \end{array} \right. is a cases environment, and so are other rows there."""
    name = parser.follower().text.removeprefix(r"\begin{").removesuffix("}")
    if parser.text != r"\{" or name not in {"array", "matrix", *LAYOUT_ENVIRONMENTS}:
        return None
    opener = parser.take()
    token = parser.take()
    body = take_body(parser, token)
    if parser.text != r"\right.":
        raise fault("cases behind a brace end with \\right.", opener)
    parser.take()
    return read_cases(parser, body, token)
