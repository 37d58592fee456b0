r"""Names in brackets with an index behind them on a left side, (k_*)_i = k(x_i, x_*), where k itself is a function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .joined import with_members
from .pieces import closing
from .statements import RawStatement
from .symbols import group, key_of, split_key
from .tokens import Token


def with_labels(statements: Sequence[RawStatement], declared: Mapping[str, int]) -> list[RawStatement]:
    r"""The statements with the k_* of (k_*)_i = ... as one name, which is none of k: that may be a function, but no
    array."""
    found = {name for one in statements if one.relations and (name := label_at(one.members[0]))}
    found = {name for name in found if not declared.get(split_key(name)[0])}
    if not found:
        return list(statements)

    def changed(tokens: Sequence[Token]) -> Iterator[Token]:
        inner = tokens[1 : closing(tokens, 0)] if label_at(tokens) in found else ()
        rest = (*inner, *tokens[len(inner) + 2 :]) if inner else tokens
        place = 0
        while place < len(rest):
            key, end = label_of(rest, place)
            yield replace(rest[place], text=key, end=rest[end - 1].end) if key in found else rest[place]
            place = end if key in found else place + 1

    return [with_members(statement, changed) for statement in statements]


def label_at(tokens: Sequence[Token]) -> str:
    """The name with a script that stands in brackets with an index behind them, and is all of this; else nothing."""
    end = closing(tokens, 0) if tokens[0].text in ("(", "[") else 0
    is_element = 0 < end < len(tokens) - 2 and tokens[end + 1].text == "_"
    if not is_element or group(tokens, end + 2)[1] != len(tokens):
        return ""
    key, last = label_of(tokens, 1)
    return key if last == end else ""


def label_of(tokens: Sequence[Token], place: int) -> tuple[str, int]:
    """The key of a name and what stands below it, and the place behind that; nothing for any other."""
    if tokens[place].kind != "name" or place + 2 >= len(tokens) or tokens[place + 1].text != "_":
        return "", place + 1
    script, end = group(tokens, place + 2)
    return key_of(tokens[place].text, script), end
