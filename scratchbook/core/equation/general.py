r"""What a display gives at a declared number and reads elsewhere, \alpha_t = ... beside \alpha_s: for every index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .errors import fault
from .lexicon import Lexicon
from .nodes import Call, Index, Name, Node, children, put, walk
from .symbols import BESIDE, latex_of, split_key


def for_every(members: Sequence[Node], lexicon: Lexicon) -> list[Node]:
    r"""The members of \alpha_t = ... with an index that runs for the declared t, where \alpha is read elsewhere too.

    Raises EquationError for a part that is declared at that t alone.
    """
    base, indices = given_at(members[0])
    letter = lexicon.general.get(base)
    if letter is None or indices != (Name(letter),):
        return list(members)
    for part in (part for member in members[1:] for part in walk(member)):
        if isinstance(part, Name) and not part.key.startswith(r"\frac") and letter in split_key(part.key)[1:3]:
            alone, array = latex_of(part.key), latex_of(split_key(part.key)[0])
            fact = f"{latex_of(base)} is read at other indices than {letter}, and {alone} is declared at that one only"
            raise fault(f"{fact}; declare {array} as an array", part)
    return list(members) if base in lexicon.families else [put_letter(member, letter) for member in members]


def given_at(left: Node) -> tuple[str, tuple[Node, ...]]:
    """The base and the index of a left side that is an element or a function of a family; empty for any other."""
    if isinstance(left, Call):
        return left.base, left.indices
    if isinstance(left, Index) and isinstance(left.base, Name):
        return left.base.key, left.indices
    return "", ()


def put_letter(node: Node, letter: str) -> Node:
    """The tree with the index t, which runs, in the place of the number t."""
    if isinstance(node, Name):
        return replace(node, key=letter + BESIDE) if node.key == letter else node
    for path, child in list(children(node)):
        changed = put_letter(child, letter)
        if changed is not child:
            node = put(node, path, changed)
    return node
