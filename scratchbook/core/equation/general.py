r"""What a display gives at a declared number and reads elsewhere, \alpha_t = ... beside \alpha_s: for every index."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import fault
from .lexicon import Lexicon
from .nodes import Call, Index, Name, Node, renamed, walk
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
    if base in lexicon.families:
        return list(members)
    return [renamed(member, {letter: letter + BESIDE}) for member in members]  # the index t, for the number t


def given_at(left: Node) -> tuple[str, tuple[Node, ...]]:
    """The base and the index of a left side that is an element or a function of a family; empty for any other."""
    if isinstance(left, Call):
        return left.base, left.indices
    if isinstance(left, Index) and isinstance(left.base, Name):
        return left.base.key, left.indices
    return "", ()
