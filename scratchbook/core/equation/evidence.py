"""What a check has compared so far: pairs of values, the elements that were reached, and whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from .algebra import Identity, Ones, Value
from .comparison import Result, compare, number_at, plain, shown_values
from .equation import Statement
from .errors import EquationError, fault
from .evaluator import Bound
from .nodes import Constant, Node, Transpose, walk
from .options import RTOL
from .prepared import Prepared
from .reductions import holds
from .sides import Side
from .symbols import latex_of
from .targets import is_expression_key, sizes_as_indices
from .verdict import Disagreement, Mismatch, NothingThere, Tally, Verdict

SMALL_RTOL: Final = 1e-8
TIED_RTOL: Final = 1e-6
ORDER: Final = frozenset(["<", ">", r"\le", r"\ge", r"\ne"])


@dataclass(frozen=True)
class Pair:
    """Two values that a relation joins.

    key: the target on the left, "" for none.   statement, member: where the right one stands.   bound: the indices.
    """

    key: str
    left: Value
    right: Value
    relation: str
    statement: Statement
    member: Node
    bound: Bound


@dataclass
class Evidence:
    """What one check has found.

    finite: finite comparisons of each target.   nonzero: whether it ever was other than 0.
    covered: which elements of each target were reached.
    slopes: for each input whether its gradient ever was large enough to compare.
    heeded: for each left side with a target in it whether it ever had another value of another target.
    """

    prepared: Prepared
    tally: Tally = field(default_factory=Tally)
    finite: dict[str, int] = field(default_factory=dict)
    nonzero: dict[str, bool] = field(default_factory=dict)
    covered: dict[str, Any] = field(default_factory=dict)
    slopes: dict[str, bool] = field(default_factory=dict)
    heeded: dict[int, tuple[bool, Node, set[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = (part for root in self.prepared.equation.roots() for part in walk(root))
        self.allows_infinity = any(isinstance(part, Constant) and part.name == "infinity" for part in parts)

    def copy(self) -> Evidence:
        """The same so far, which what is found from here on does not change."""
        return replace(
            self,
            tally=replace(self.tally, gradients=[*self.tally.gradients], rows=[*self.tally.rows]),
            finite={**self.finite},
            nonzero={**self.nonzero},
            covered={key: mask.copy() for key, mask in self.covered.items()},
            slopes={**self.slopes},
            heeded={**self.heeded},
        )

    def cover(self, key: str, code: Value, place: tuple[int, ...]) -> None:
        """Note that an element of a target was reached."""
        mask = self.covered.get(key)
        if mask is None or np.shape(mask) != np.shape(code):
            mask = self.covered[key] = np.zeros(np.shape(code), dtype=bool)
        mask[place] = True

    def heed(self, left: Node, within: set[str], one: Value, other: Value) -> None:
        """Note whether a left side has another value where the code gives another."""
        found = not np.array_equal(plain(one, other), plain(other, one))
        self.heeded[id(left)] = (found or self.heeded.get(id(left), (False,))[0], left, within)

    def compare(self, pair: Pair, side: Side) -> None:
        """Compare two values by their relation, and count.  Raises Disagreement."""
        if side.is_arranged:
            self.compare_arranged(pair, side)
            return
        if pair.relation in ORDER:
            if not np.all(holds(plain(pair.left), pair.relation, plain(pair.right))):
                self.disagree(Result(0, 0.0, f"'{pair.relation}' does not hold"), pair, side)
            finite = int(np.sum(np.isfinite(plain(pair.left)) & np.isfinite(plain(pair.right))))
            self.tally.note(finite, 0.0)
            if pair.key:
                self.finite[pair.key] = self.finite.get(pair.key, 0) + finite
            return
        result = compare(pair.left, pair.right, self.allowed(pair), allows_infinity=self.allows_infinity)
        if result.reason:
            self.disagree(result, pair, side)
        self.tally.note(result.finite, result.difference)
        if pair.key:
            self.finite[pair.key] = self.finite.get(pair.key, 0) + result.finite
            self.nonzero[pair.key] = self.nonzero.get(pair.key, False) or bool(np.any(plain(pair.left, pair.right)))

    def compare_arranged(self, pair: Pair, side: Side) -> None:
        """Compare two values where numbers are small or equal, as far as the equation has a value there.

        Less exact, since a difference of equal numbers is nothing but rounding.   Raises Disagreement.
        """
        left, right = plain(pair.left, pair.right), plain(pair.right, pair.left)
        is_number = not isinstance(left, Identity | Ones) and not isinstance(right, Identity | Ones)
        if pair.relation in {*ORDER, r"\approx"} or not is_number or np.shape(left) != np.shape(right):
            return
        is_told = bool(pair.key) and not side.is_far  # of numbers so large code may overflow
        known = np.isfinite(np.real(right)) & (np.isfinite(np.real(left)) | is_told)
        one, other = np.where(known, np.real(left), 0.0), np.where(known, np.real(right), 0.0)
        allowed = SMALL_RTOL if side.is_small else TIED_RTOL
        result = compare(one, other, allowed)
        if result.reason and (side.is_small or result.difference > TIED_RTOL):
            self.disagree(result, pair, side)

    def allowed(self, pair: Pair) -> float:
        """Return the relative difference that two values may have: what stands beside an approximation stays exact."""
        return self.prepared.rtol if r"\approx" in pair.statement.relations else min(self.prepared.rtol, RTOL)

    def disagree(self, result: Result, pair: Pair, side: Side) -> None:
        """Stop with what differs and where."""
        base = self.prepared.base
        indices = {latex_of(name): value for name, value in pair.bound.items() if isinstance(value, int)}
        indices |= {f"element {axis + 1}": number + base for axis, number in enumerate(result.place)}
        of = latex_of(pair.key) if pair.key and not is_expression_key(pair.key) else pair.statement.text
        one, other = number_at(pair.left, result.place), number_at(pair.right, result.place)
        values = shown_values(side.cases[0], self.prepared.notation)
        mismatch = Mismatch(
            side.number, of, indices, one, other, result.difference, values, pair.member.start, pair.member.end
        )
        kind = NothingThere if result.is_nothing else Disagreement
        raise kind(mismatch, self.reason(result, pair) + self.hint(result, side, pair))

    def hint(self, result: Result, side: Side, pair: Pair) -> str:
        """What else could explain a difference: several rows given to code for one, or a mask meant as zeros and
        ones."""
        if side.is_small:
            return ", where all numbers are small, as an epsilon may be that only one of both has"
        if side.is_far:
            return ", where numbers are so far from 1 that a bound decides"
        if side.is_arranged:
            return ", where numbers are equal or 0; give both the same value there"
        if side.rows and result.reason == "differ":
            call = self.prepared.targets[0].text
            return f", given {side.rows} rows; one row agrees, so if the code takes one only, write the call: '{call}'"
        sizes = sizes_as_indices(pair.statement, self.prepared.notation)
        if result.reason.startswith("shapes differ") and sizes:
            return sizes
        parts = [part for root in self.prepared.equation.roots() for part in walk(root)]
        if result.reason.startswith("shapes differ") and any(isinstance(part, Transpose) for part in parts):
            return "; x y^\\top is the outer product of two vectors, x^\\top y or x \\cdot y the inner one"
        masks = [symbol.latex for symbol in self.prepared.symbols if symbol.kind.name == "mask"]
        if masks and not np.isfinite(result.difference):
            return f"; a mask such as {masks[0]} holds 0 and -inf, so declare one of 0 and 1 as binary"
        return ""

    def reason(self, result: Result, pair: Pair) -> str:
        """One line about what differs from what."""
        target = next((target for target in self.prepared.targets if pair.key in target.keys), None)
        differs = result.reason == "differ"
        size = f" by {result.difference:.2g} (allowed {self.allowed(pair):g})" if differs else f": {result.reason}"
        if target:
            return f"differs from {target.text}{size}"
        return f"the two sides {'differ' if differs else 'disagree'}{size}"

    def finish(self) -> None:
        """Refuse a check that compared nothing, not every element, or a gradient of nothing but zeros."""
        for target in self.prepared.targets:
            for key in target.keys:
                name = target.text if is_expression_key(key) else latex_of(key)
                mask = self.covered.get(key)
                if mask is not None and not np.all(mask):
                    fact = f"only {int(np.sum(mask))} of {np.size(mask)} elements of {name} are defined"
                    advice = "add the others; where it is 0 elsewhere that is a case, 0 & \\text{otherwise}"
                    raise fault(f"{fact}; {advice}", self.left_of(key))
                if self.finite.get(key, 0) == 0:
                    raise fault(f"nothing finite of {name} was compared", self.left_of(key))
                if not self.nonzero.get(key, True):
                    fact = f"{name} is 0 at each of {self.prepared.draws} draws, so comparing it proves little"
                    text = f"{fact}; narrow the kinds, as to positive or int(a..b), or name points with ':at:'"
                    raise fault(text, self.left_of(key))
        for is_heeded, left, within in self.heeded.values():
            if not is_heeded:
                fact = f"this side has one value, whatever {', '.join(map(latex_of, sorted(within)))} is"
                raise fault(f"{fact}, so comparing it proves nothing", left)
        if self.tally.compared == 0:
            first = self.prepared.definitions.statements[0].members[0]
            raise fault("nothing finite was compared; bind a left side with ':check:'", first)
        for key, counts in self.slopes.items():
            if not counts:
                fact = f"the gradient of {latex_of(key)} is nothing but zeros or rounding at every draw"
                text = f"{fact}, so comparing it proves nothing; name the other gradients with ':grad:'"
                raise self.prepared.targets[0].fault(text)

    def left_of(self, key: str) -> Node | None:
        """The left side that a target stands on."""
        clauses = self.prepared.definitions.clauses.get(key)
        return clauses[0].statement.members[0] if clauses else None

    def verdict(self, *, passed: bool, reason: str = "", mismatch: Mismatch | None = None) -> Verdict:
        """What was found, as plain data."""
        prepared = self.prepared
        error = EquationError(
            reason,
            offset=mismatch.start if mismatch else None,
            end=mismatch.end if mismatch else None,
            source=prepared.equation.source,
        )
        return Verdict(
            passed, reason, "latex", error.offset, error.row if mismatch else 0, error.column if mismatch else 0,
            error.caret if mismatch else "",
            prepared.draws, self.tally.compared, tuple(self.tally.rows), tuple(self.tally.gradients),
            self.tally.largest, prepared.rtol,
            (), prepared.call, tuple(latex_of(key) for target in prepared.targets for key in target.keys), mismatch,
        )  # fmt: skip
