r"""What dots stand for: x_1, \ldots, x_n is x at every index from 1 to n."""

from __future__ import annotations

from typing import Final

from .errors import fault
from .nodes import Family, Name, Node, Number, children, put, substitute
from .symbols import latex_of
from .tokens import Token

KEY: Final = "…"


def make_family(before: list[Node], last: Node, operator: str, dots: Token) -> Node:
    """The family whose first members are given, and whose last one is.

    Raises EquationError when the members do not differ in exactly one number.
    """
    first = before[0]
    found = differences(first, last, ())
    if not found:
        raise fault("the parts beside the dots are equal; write what changes, as in x_1, \\ldots, x_n", dots)
    primed = next((one for _, one, _ in found if isinstance(one, Name) and one.key.endswith("'")), None)
    if primed is not None:  # what is declared with a prime differs in its index
        name = latex_of(primed.key)
        shown = latex_of(primed.key.rstrip("'"))
        raise fault(f"{name} is not declared; declare it, or for the transpose write {shown}^\\top", primed)
    low, high = found[0][1], found[0][2]
    if not isinstance(low, Number) or any((one, other) != (low, high) for _, one, other in found):
        raise fault(
            "the parts beside the dots must differ in one index that starts at a number, as in x_1, \\ldots, x_n, with "
            "commas in a list",
            dots,
        )
    template = first
    for path, _, _ in found:
        template = put(template, path, Name(KEY))
    for number, given in enumerate(before[1:], start=1):
        expected = substitute(template, KEY, Number(low.value + number))
        if given != expected:
            raise fault("the parts before the dots do not follow one index; write them as x_1, x_2, \\ldots, x_n", dots)
    return Family(template, KEY, low, high, operator, start=first.start, end=last.end)


def differences(first: Node, last: Node, path: tuple[object, ...]) -> list[tuple[tuple[object, ...], Node, Node]]:
    """Where two trees differ: paths with both parts."""
    if first == last:
        return []
    ones, others = list(children(first)), list(children(last))
    if (
        type(first) is not type(last)
        or isinstance(first, Number)
        or [step for step, _ in ones] != [step for step, _ in others]
    ):
        return [(path, first, last)]
    found = []
    for (step, one), (_, other) in zip(ones, others, strict=True):
        found += differences(one, other, path + step)
    return found or [(path, first, last)]
