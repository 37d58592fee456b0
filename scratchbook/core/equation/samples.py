r"""The values of a function at the elements of an array, as f(x_i) = ... gives them: an array over i, and no function.

The letters below the arguments run: f(x_i, y_j) is element i, j of what the code gives, f_k(x_i) element k, i.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .errors import fault
from .known import known_function
from .lexicon import Lexicon
from .nodes import Call, Index, Name, Node, free_names, with_parts
from .symbols import latex_of

if TYPE_CHECKING:
    from .equation import Statement


@dataclass(frozen=True)
class Samples:
    """A function's name, and a call that says at which elements it is given.  letters: what runs there, in order."""

    key: str
    call: Call
    letters: tuple[str, ...]

    def is_of(self, call: Call) -> bool:
        """Is a call one of this function?"""
        return self.key == (call.base if self.call.indices else call.function)

    def element(self, call: Call) -> Index:
        """The element that a call such as f(x_j) picks.  Raises EquationError for one at anything else, as f(2)."""
        found: dict[str, Node] = {}
        mine, given = (*self.call.indices, *self.call.arguments), (*call.indices, *call.arguments)
        for one, other in zip(mine, given, strict=False):
            if isinstance(one, Name):
                found.setdefault(one.key, other)
            elif isinstance(one, Index) and isinstance(other, Index):
                for part, index in zip(one.indices, other.indices, strict=False):
                    if isinstance(part, Name):
                        found.setdefault(part.key, index)
        found = {key: node for key, node in found.items() if key in self.letters}
        if len(found) < len(self.letters) or tuple(put_in(one, found) for one in mine) != given:
            name = latex_of(self.key)
            said = f"{name} is given at the elements of an array only"
            raise fault(f"{said}; for any argument write {name}(z) = ... with z alone", call)
        start, end = call.start, call.end
        indices = tuple(found[letter] for letter in self.letters)
        return Index(Name(self.key, start=start, end=end), indices, start=start, end=end)


def put_in(node: Node, found: Mapping[str, Node]) -> Node:
    """The tree with nodes in the place of letters, all at once."""
    if isinstance(node, Name):
        return found.get(node.key, node)
    return with_parts(node, lambda child: put_in(child, found))


def read_samples(statements: Sequence[Statement], lexicon: Lexicon, bound: Iterable[str]) -> list[Samples]:
    """The functions that a display gives at elements only.  bound: those that are code."""
    calls = [call_of(statement.members[0]) for statement in statements if statement.definition is not None]
    lefts = [call for call in calls if call is not None and not known_function(call.base)]
    general = {call.function for call in lefts if all(isinstance(part, Name) for part in call.arguments)}
    found: dict[str, Samples] = {}
    for call in lefts:
        is_family = bool(call.indices) and all(runs(part, lexicon) for part in call.indices)
        key = call.base if is_family else call.function
        letters = letters_of(call, lexicon)
        if letters and not key.endswith("'") and not {key, call.function} & {*general, *bound}:
            before = [part.key for part in call.indices if is_family and isinstance(part, Name)]
            own = call if is_family else replace(call, indices=())
            found.setdefault(key, Samples(key, own, tuple(dict.fromkeys([*before, *letters]))))
    return list(found.values())


def call_of(left: Node) -> Call | None:
    """The function on a left side, f(x) or f(x)_i."""
    while isinstance(left, Index):
        left = left.base
    return left if isinstance(left, Call) else None


def runs(node: Node, lexicon: Lexicon) -> bool:
    """Is it a letter that runs?"""
    return isinstance(node, Name) and node.key in lexicon.indices


def letters_of(call: Call, lexicon: Lexicon) -> list[str]:
    r"""The letters that run alone below the arguments, in order; none where an argument is neither a name nor its
    element.  Beside x_t an argument may read what those give, as the history x_{<t} does."""
    letters: list[str] = []
    beside: list[Node] = []
    for argument in call.arguments:
        if isinstance(argument, Index) and isinstance(argument.base, Name):
            letters += [part.key for part in argument.indices if isinstance(part, Name) and runs(part, lexicon)]
            beside += [part for part in argument.indices if not isinstance(part, Name)]
        elif not isinstance(argument, Name):
            beside.append(argument)
    if not letters and any(part in call.arguments for part in beside):
        return []
    for part in beside:
        if (free_names(part) & lexicon.indices) - set(letters):
            name = latex_of(call.function)
            raise fault(f"{name} is given at an index that is stepped; give it at a letter alone", part)
    return letters


def with_samples(statement: Statement, samples: Sequence[Samples]) -> Statement:
    """The statement with every call of such a function as its element."""
    return replace(statement, members=tuple(at_elements(member, samples) for member in statement.members))


def at_elements(node: Node, samples: Sequence[Samples]) -> Node:
    """The tree with every call of such a function as its element.  Raises EquationError for a call at anything else."""
    node = with_parts(node, lambda child: at_elements(child, samples))
    own = next((one for one in samples if isinstance(node, Call) and one.is_of(node)), None)
    if own is None or not isinstance(node, Call):
        return node
    return own.element(node if own.call.indices else replace(node, indices=()))
