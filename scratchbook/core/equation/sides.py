"""The code's side of a check: what it returns at each draw, for one row and for several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from . import ties
from .codecalls import environment_of
from .comparison import plain
from .defined import whole
from .draws import Draw, draw, seed_of
from .errors import EquationError
from .evaluator import Budget
from .prepared import Prepared, row_keys
from .ranges import Span

# The draw in which all numbers are small, so that an epsilon shows.
SMALL: Final = -1
# Draws whose numbers are so many times as large, where no other reaches a bound such as 2^b of a clip.
FAR: Final = {-101: 30.0, -102: 1e3, -103: 3e4, -104: 1e-12, -105: 1e12}
ROWS: Final = 3
ROW_DRAWS: Final = 2
# Where there are branches, smaller and larger numbers from some draw on, so that each part of min(1, a/|x|) decides.
STRETCHED: Final = 5
STRETCHES: Final = (1.0, 0.1, 0.3, 2.0)


@dataclass
class Side:
    """The code's side of one draw.

    number: of the draw.   rows: 0 for a single one.   cases: the drawn values, once for each row.
    environment: the values as the code takes them.   raw: what each target returned.   values: by target key.
    gradients: who gave them, and each by the key of its input; None until they are asked for.
    """

    number: int
    rows: int
    cases: list[dict[str, Any]]
    environment: dict[str, Any]
    spans: dict[str, Span]
    raw: list[Any] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    gradients: tuple[str, dict[str, Any]] | None = None

    @property
    def is_arranged(self) -> bool:
        """Is it one that chance does not make: of small numbers, or of some that are equal?"""
        return self.number < 0

    @property
    def is_small(self) -> bool:
        """Are its numbers small?"""
        return self.number == SMALL

    @property
    def is_far(self) -> bool:
        """Are its numbers far larger than others, or smaller?"""
        return self.number in FAR

    def of_case(self, case: int) -> dict[str, Any]:
        """The targets of one row."""
        return {key: value[case] for key, value in self.values.items()} if self.rows else self.values


class Sides:
    """Every side that was asked for so far, kept, since mutants of the equation meet the same ones.

    scale: of the drawn matrices, see `slopes.settle`.   is_small: sizes are small, since larger ones took too long.
    """

    def __init__(self, prepared: Prepared, scale: float = 1.0, *, is_small: bool = False) -> None:
        self.prepared = prepared
        self.scale = scale
        self.is_small = is_small
        self.row_keys = row_keys(prepared)
        self.found: dict[tuple[int, int], Side | None] = {}

    def for_check(self, prepared: Prepared) -> Sides:
        """These sides, or fresh ones for a mutant whose left side asks for rows of another argument."""
        return self if row_keys(prepared) == self.row_keys else Sides(prepared, self.scale, is_small=self.is_small)

    def of(self, number: int) -> list[Side]:
        """The sides of one draw: a single row, then several where the code takes them."""
        asked = (0, ROWS) if self.row_keys and number < ROW_DRAWS else (0,)
        return [side for rows in asked if (side := self.side(number, rows)) is not None]

    def arranged(self) -> list[Side]:
        """The sides of the draws that chance does not make, where the code takes those; their numbers are negative.

        First one of small numbers, then those with equal ones.
        """
        count = 0 if self.prepared.points else 1 + self.ties
        return [side for number in range(count) if (side := self.side(-1 - number, 0)) is not None]

    def far(self) -> Iterator[Side]:
        """Yield the sides of the draws of numbers that are ever further from 1, where the code takes those."""
        yield from (side for number in FAR if (side := self.side(number, 0)) is not None)

    @property
    def ties(self) -> int:
        """How many draws have equal numbers: none where the author names the points, or where nothing decides."""
        prepared = self.prepared
        if prepared.points or not ties.is_decided(prepared.equation.roots()):
            return 0
        return ties.ARRAY_TIES if any(symbol.kind.shape for symbol in prepared.symbols) else ties.SCALAR_TIES

    def check_repeats(self) -> None:
        """Run the code of every draw once more.  Raises EquationError where it gives other numbers than before."""
        for (_, rows), side in self.found.items():
            if side is None or rows:
                continue
            for target in self.prepared.targets:
                for key, value in target.values(target.run(side.environment, self.prepared.namespace)).items():
                    if not is_same(value, side.values[key]):
                        fact = f"{target.text} gives other numbers when it runs again with the same arguments"
                        raise target.fault(f"{fact}; let what it draws or remembers be an argument")

    def side(self, number: int, rows: int) -> Side | None:
        """One side of a draw; None when the code does not take several rows."""
        if (number, rows) not in self.found:
            self.found[number, rows] = self.run_code(number, rows)
        return self.found[number, rows]

    def run_code(self, number: int, rows: int) -> Side | None:
        """Draw the values and run the code.  Raises EquationError for whatever the code raises."""
        drawn = self.drawn("", number)
        cases = [drawn.values]
        values = dict(drawn.values)
        if rows:
            extra = [self.drawn(f"/{row}", number, self.whole_numbers(drawn)) for row in range(1, rows)]
            cases += [drawn.values | {key: other.values[key] for key in self.row_keys} for other in extra]
            values |= {key: np.stack([case[key] for case in cases]) for key in self.row_keys}
        side = Side(number, rows, cases, environment_of(self.prepared.notation, values), drawn.spans)
        side.environment |= self.defined_values(drawn) if not rows else {}
        try:
            for target in self.prepared.targets:
                side.raw.append(target.run(side.environment, self.prepared.namespace))
                side.values |= target.values(side.raw[-1])
        except EquationError as error:
            if rows or number < 0:
                return None
            raise replace(error, text=error.text + self.counting()) from error
        if number < 0 and self.has_overflown(side):
            return None
        return None if rows and not self.has_rows(side) else side

    def has_overflown(self, side: Side) -> bool:
        """Is what the code gives no number because its numbers grew too large on the way, as in e^x / (1 + e^x)?"""
        if not any(np.any(np.isnan(value)) for value in side.values.values()):
            return False
        try:
            with np.errstate(over="raise"):
                for target in self.prepared.targets:
                    target.run(side.environment, self.prepared.namespace)
        except EquationError:
            return True
        return False

    def counting(self) -> str:
        """What to say beside an error of code that may count from 0."""
        ids = next((symbol for symbol in self.prepared.symbols if symbol.kind.name == "ints"), None)
        if ids is None or self.prepared.base == 0:
            return ""
        fact = f"{ids.latex} holds whole numbers from 1, as indices do"
        return f"; {fact}, so if the code counts from 0, write ':base: 0', or {ids.code} - 1 in the call"

    def drawn(self, suffix: str, number: int, given: Mapping[str, float] | None = None) -> Draw:
        """The numbers of a draw; the rows after the first have a label of their own.

        given: what stays, by its code.
        """
        prepared = self.prepared
        if number in FAR:
            label = f"{prepared.request.label}/far"
            return draw(list(prepared.symbols), label, -number, prepared.base, scale=self.scale, stretch=FAR[number])
        if number < 0:
            drawn = draw(list(prepared.symbols), prepared.request.label, -number, prepared.base, scale=self.scale)
            if number == SMALL:
                return ties.smaller(drawn, prepared.symbols)
            chance = seed_of(f"{prepared.request.label}/ties", -number)
            return ties.with_ties(drawn, prepared.symbols, ties.bends_of(prepared.equation.roots()), chance)
        label = prepared.request.label + suffix
        point, scale = {**prepared.point(number), **(given or {})}, self.scale
        stretch = STRETCHES[number % len(STRETCHES)] if prepared.has_branches and number >= STRETCHED else 1.0
        return draw(
            list(prepared.symbols), label, number, prepared.base, point, scale, is_small=self.is_small, stretch=stretch
        )

    def whole_numbers(self, drawn: Draw) -> dict[str, float]:
        """The sizes and whole numbers of a draw, which all its rows share."""
        whole = [symbol for symbol in self.prepared.symbols if symbol.kind.name in ("dim", "int")]
        return {symbol.code: drawn.values[symbol.key] for symbol in whole if symbol.key in drawn.values}

    def defined_values(self, drawn: Draw) -> dict[str, Any]:
        """The values of names that the equation defines and the code reads as well."""
        prepared = self.prepared
        wanted = set().union(*(getattr(target.source, "names", set()) for target in prepared.targets))
        own = {key for target in prepared.targets for key in target.keys}
        found: dict[str, Any] = {}
        for symbol in prepared.symbols:
            if symbol.code in wanted and symbol.key not in own and prepared.definitions.defines(symbol.key):
                evaluator = prepared.evaluator(drawn.values, drawn.spans, {}, Budget())
                found[symbol.code] = plain(whole(evaluator, symbol.key))
        return found

    def has_rows(self, side: Side) -> bool:
        """Did the code give one result a row?"""
        single = self.side(side.number, 0)
        assert single is not None
        return all(np.shape(value) == (side.rows, *np.shape(single.values[key])) for key, value in side.values.items())


def is_same(one: Any, other: Any) -> bool:
    """Are two results of one code equal, but for the rounding of another order?"""
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other, rtol=1e-12, atol=1e-14, equal_nan=True))
