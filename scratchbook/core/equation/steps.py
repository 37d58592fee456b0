r"""Letters that count steps of declared names, as the t of \theta_{t+1} = \theta_t - \eta g_t beside \theta and g.

Such a letter runs nowhere.  It counts where a left side gives a declared name one step off the one that is read, where
it stands at a declared number, and where an array has an index more than it has axes.  The step that is read is the
declared name; the one that a left side gives is a name of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from .errors import EquationError, fault
from .joined import with_members
from .leftsides import read_left
from .letters import bound_letters, script_tokens
from .lexicon import Lexicon, words_of
from .names import parameters_of
from .notation import Notation
from .pieces import closing, join_commas, unwrapped
from .sites import Piece, Use, uses_in, with_uses
from .statements import RawStatement
from .symbols import key_of, latex_of, split_key
from .tokens import Token

REAL: Final = frozenset(["scalar", "positive", "unit"])
GIVING: Final = frozenset(["=", ":=", r"\leftarrow", r"\approx"])
ABOVE: Final = -1
INSIDE: Final = -2


@dataclass(frozen=True)
class Step:
    """The t and -1 of x_{t-1}.

    slot: which index it is, or ABOVE or INSIDE.   piece: its tokens.   tail: what stands behind it above.
    has_more: has every axis an index beside it?   is_power: may it be a power too?
    """

    use: Use
    letter: str
    offset: int
    slot: int
    piece: Piece
    tail: Piece = ()
    has_more: bool = False
    is_power: bool = False

    @property
    def is_number(self) -> bool:
        """Does it stand at a declared number, which has no elements?"""
        return self.use.symbol.kind.name in REAL and not self.use.symbol.kind.shape

    @property
    def name(self) -> str:
        """The key of the name of which this step is a part."""
        use, is_above = self.use, self.slot == ABOVE
        below = join_commas([*use.label, *([] if is_above else [self.piece])])
        above = use.above[: len(use.above) - len(self.tail)] if is_above else use.raised
        return key_of(use.base.text, below, above, use.primes)


def without_steps(
    statements: Sequence[RawStatement], notation: Notation, counted: Collection[str]
) -> list[RawStatement]:
    """The statements with the declared name for each step that is read, and a name of its own for one that is given.

    counted: letters that count steps for certain.
    Raises EquationError for a name that is given at one step and read at several others.
    """
    lexicon = Lexicon(words=words_of(notation.symbols))
    bound = bound_letters(statements, lexicon)
    uses = [use for one in statements for member in one.members for use in uses_in(member, notation, lexicon)]
    changed = list(statements)
    steps = sorted((step for use in uses for step in steps_of(use)), key=lambda step: not step.offset)
    for letter in dict.fromkeys(step.letter for step in steps):  # of two letters too many the one of t + 1 counts
        if letter not in bound and is_free(letter, statements, notation):
            changed = put_steps(changed, letter, notation, lexicon, is_counted=letter in counted)
    return changed


def is_free(letter: str, statements: Sequence[RawStatement], notation: Notation) -> bool:
    """Is a letter nothing, or a whole number, and does no statement say where it runs?"""
    symbol = notation.symbols.get(letter)
    is_alone = any([token.text for token in member] == [letter] for one in statements for member in one.members)
    return not is_alone and letter not in notation.functions and (symbol is None or symbol.kind.name == "int")


def put_steps(
    statements: Sequence[RawStatement], text: str, notation: Notation, lexicon: Lexicon, *, is_counted: bool
) -> list[RawStatement]:
    """The statements without the steps that a letter counts.  is_counted: does it count others already?"""
    letter = Letter(text, is_counted)
    for statement in statements:
        is_giving = bool(statement.relations) and statement.relations[0].text in GIVING
        left = read_left(statement.members[0], lexicon) if is_giving else None
        parameters = parameters_of(left) if left is not None and left.arguments is not None else set()
        if left is not None:
            scripts = (*left.scripts.below, *left.scripts.above, *left.after)
            letter.is_index |= any(token.text == text for token in scripts)
        for number, member in enumerate(statement.members):
            for use in uses_in(member, notation, lexicon):
                is_given = number == 0 and is_giving and use.start == 0
                if is_given or use.symbol.key not in parameters or list(steps_of(use)):
                    letter.note(use, is_given=is_given)
    moved, dropped = letter.moved(notation), letter.dropped(notation)

    def changed(use: Use) -> list[Token] | None:
        step = next((step for step in steps_of(use) if step.letter == text), None)
        own = moved.get(use.symbol.key)
        if step is None or use.symbol.key not in dropped:
            return None
        return named(step) if own and own.offset == step.offset else plain(step)

    return [
        with_members(one, lambda member: with_uses(tuple(member), notation, lexicon, changed)) for one in statements
    ]


@dataclass
class Letter:
    """What one letter does in a display.

    given: the names that left sides give, with their steps.   read: the other uses of each name, None for one without
    the letter.   is_index: does a left side have it as an index?   is_counted: does it count what is known, in x_{t|t}?
    """

    text: str
    is_counted: bool
    given: dict[str, Step | None] = field(default_factory=dict)
    read: dict[str, list[Step | None]] = field(default_factory=dict)
    is_index: bool = False

    def note(self, use: Use, *, is_given: bool) -> None:
        """Add one use."""
        step = next((step for step in steps_of(use) if step.letter == self.text), None)
        if is_given:
            self.given[use.symbol.key] = step
        else:
            self.read.setdefault(use.symbol.key, []).append(step)

    def moved(self, notation: Notation) -> dict[str, Step]:
        """The names that a left side gives one step off the one that is read, or that is declared.

        Raises EquationError for one that is read at several others.
        """
        found = dict[str, Step]()
        for key, step in self.given.items():
            own = self.read.get(key, [])
            if step is not None and not any(own) and self.has_sibling(step, notation):
                found[key] = step
            offsets = {other.offset for other in own if other} - {step.offset if step else 0}
            if step is None or None in own or not offsets or any(other.slot != step.slot for other in own if other):
                continue
            if len(offsets) > 1:
                raise several([other for other in own if other], step.name)
            if abs(step.offset - offsets.pop()) == 1 and (not step.is_power or step.letter not in key):
                found[key] = step
        return found

    def has_sibling(self, step: Step, notation: Notation) -> bool:
        """Is the name that is given declared at another step?"""
        keys = [key for key in notation.symbols if not key.startswith(r"\frac") and key != step.name]
        others = [split_key(key) for key in keys if split_key(key)[0] == step.use.base.text]
        return any(
            token.text == self.text for _, below, above, _ in others for token in script_tokens(below or above or "0")
        )

    def dropped(self, notation: Notation) -> set[str]:
        """The names that are read at a step and are the declared ones."""
        moved = self.moved(notation)
        offsets = {0, *(step.offset for key in moved for step in (moved[key], *self.read.get(key, ())) if step)}
        has_powers = any(step.is_power for step in moved.values())
        alone = dict[str, Step]()
        for key, own in self.read.items():
            steps = [step for step in own if step]
            if key in self.given or len(steps) < len(own) or len({step.offset for step in steps} - offsets):
                continue
            if len({step.offset for step in steps}) == 1 and (has_powers or not any(step.is_power for step in steps)):
                alone[key] = steps[0]
        more = {key for key, step in alone.items() if step.has_more}
        numbers = {key for key, step in alone.items() if step.is_number and not step.is_power}
        arrays = {key for key, step in alone.items() if not step.is_number} - more
        if arrays and not moved and not self.is_counted and (self.is_index or self.text in notation.symbols):
            numbers, arrays = set() if self.is_index else numbers, set()  # it is an index of these
        return {*moved, *numbers, *more, *arrays} if moved or numbers or more or self.is_counted else set()


def several(steps: Sequence[Step], given: str) -> EquationError:
    """What to say about a declared name that is read at several steps besides the one that is given."""
    name = latex_of(steps[0].use.symbol.key)
    others = " and ".join(sorted({latex_of(step.name) for step in steps} - {latex_of(given)}))
    return fault(
        f"{name} is declared, and {others} are read; declare {others} in the place of {name}", steps[0].use.base
    )


def steps_of(use: Use) -> Iterator[Step]:
    """Yield each way to see a step in a use."""
    axes, arguments = len(use.symbol.kind.shape), use.arguments
    end = closing(use.above, 0) + 1 if use.above and use.above[0].text == "(" else len(use.above)
    slots = [(slot, piece) for slot, piece in enumerate(use.rest)]
    slots += [(ABOVE, tuple(unwrapped(use.above[:end])))] if use.above else []
    slots += [(INSIDE, arguments[0])] if len(arguments) == 1 else []
    for slot, piece in slots:
        count = len(use.rest) - (slot >= 0) + len(arguments) - (slot == INSIDE)
        found = step_of(piece)
        if found is not None and count <= axes:
            is_power = slot == ABOVE and use.above[0].text != "("
            tail = use.above[end:] if slot == ABOVE else ()
            yield Step(use, *found, slot, piece, tail, 0 < axes == count, is_power)


def step_of(piece: Piece) -> tuple[str, int] | None:
    """The t and -1 of t-1; None for anything else."""
    if not piece or piece[0].kind != "name" or len(piece) not in (1, 3):
        return None
    if len(piece) == 1:
        return piece[0].text, 0
    is_step = piece[1].text in ("+", "-") and piece[2].text.isdigit()
    return (piece[0].text, int(piece[1].text + piece[2].text)) if is_step else None


def plain(step: Step) -> list[Token]:
    """The tokens of a use without the step."""
    use = step.use
    primes = [mark("'", use.base)] * use.primes
    head = [
        use.base,
        *primes,
        *script("_", [*use.label, *rest_of(step)], use.base),
        *script("^", [use.raised], use.base),
    ]
    return head + behind(step)


def named(step: Step) -> list[Token]:
    """The tokens of a use with the step as a part of its name."""
    base = replace(step.use.base, text=step.name)
    return [base, *script("_", rest_of(step), base), *behind(step)]


def rest_of(step: Step) -> list[Piece]:
    """The indices below a use but the step."""
    return [piece for slot, piece in enumerate(step.use.rest) if slot != step.slot]


def behind(step: Step) -> list[Token]:
    """What stands above and behind a use but the step."""
    above = step.tail if step.slot == ABOVE else step.use.above
    return [*script("^", [above], step.use.base), *(() if step.slot == INSIDE else step.use.inside)]


def script(sign: str, pieces: Sequence[Piece], at: Token) -> list[Token]:
    """Pieces as one script; nothing for none."""
    inside = join_commas([piece for piece in pieces if piece])
    return [mark(sign, at), mark("{", at), *inside, mark("}", at)] if inside else []


def mark(text: str, at: Token) -> Token:
    """A sign where another token stands."""
    return replace(at, kind="symbol", text=text)
