r"""Arrays that are declared with the letters of their indices, W_i^Q, a_{ij}, f(x_i) and w_i(t): where such a letter
runs, it is an index."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, groupby
from typing import Final

from .bracketed import script_below
from .described import mark
from .joined import with_members
from .letters import bound_letters, is_range
from .lexicon import Lexicon, words_of
from .names import is_label
from .notation import Notation
from .pieces import Change, closing, join_commas, letters_in, split_at, with_found
from .sites import uses_in
from .spelling import spell
from .statements import RawStatement
from .steps import step_of, steps_of
from .symbols import CHANGE, LOGARITHMS, at_point, flat, key_of, read_scripts
from .tokens import Token, read_tokens

BARS: Final = (",", "|", r"\mid")
MAGNITUDE: Final = ("|", r"\lvert", r"\rvert")
LOGARITHM: Final = r"\log{"
# Keys whose parts are kept: those of some displays.
MOST_KEPT: Final = 1_000
Tokens = tuple[Token, ...]


@dataclass(frozen=True)
class Part:
    """What stands at one place of a name.  where: below, above, or in brackets: _, ^ or (.   of: the x of x_i there, x<
    for x_{<i}.   text: i."""

    where: str
    of: str
    tokens: Tokens

    @property
    def text(self) -> str:
        return flat(self.tokens)

    @property
    def letters(self) -> list[str]:
        """The i and t of i,t."""
        return [flat(unit) for unit in letters_in(self.tokens)]


@dataclass(frozen=True)
class Use:
    """A name with its parts.  rest: what stands above it and is a power.   end: the place behind it."""

    base: str
    primes: int
    parts: tuple[Part, ...]
    rest: Tokens
    end: int
    bracket: Tokens = ()

    @property
    def form(self) -> list[tuple[str, str]]:
        """Where it has parts."""
        return [(part.where, part.of) for part in self.parts]


@dataclass(frozen=True)
class Shown:
    """A declared array.  use: as it is declared.   indices: which of its parts are letters that run.   is_logarithm: is
    it \\log p(x_i), so that p(x_i) is the exponential?   is_only: is it read at these letters only?"""

    key: str
    use: Use
    indices: tuple[int, ...] = ()
    is_logarithm: bool = False
    is_only: bool = False

    def is_label(self, number: int) -> bool:
        """Is a part a letter in brackets that is no index?"""
        part = self.use.parts[number]
        return part.where == "(" and not part.of and is_letter(part) and number not in self.indices


def with_shown(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    """The statements with one name for such an array, and what stands at its letters as its indices.

    It is so where a letter that an operator or a range lets run stands there, and for all letters of a group, as of
    a_{ij}, where they run or stand on left sides; nothing else is declared or given by the name with other letters.
    """
    running = bound_letters(statements, Lexicon())
    running |= {token.text for one in statements if is_range(one) for token in one.members[0] if token.kind == "name"}
    lefts = [one.members[0] for one in statements if one.relations]
    given = {token.text for left in lefts for token in left[1:] if token.kind == "name"}
    for one in statements:
        below = script_below(one.members[0]) if one.relations else ()
        if len(below) == 1 and one.members[0][0].text in notation.symbols and is_label(one, below[0].text):
            given.discard(below[0].text)
    members = [member for one in statements for member in one.members]
    running |= given & letters_at(members, notation)
    running |= {*map(flat, chain.from_iterable(map(units_below, lefts)))} & values_in(statements) - {*notation.symbols}
    keys = [key for key, symbol in notation.symbols.items() if symbol.kind.shape] if running | given else []
    waiting, found = list(filter(None, map(shown_by, keys))), list[Shown]()
    while waiting:  # a letter that runs at one array does so at the others
        count = len(found)
        for own in [*waiting]:
            uses = [use for member in members for place in range(len(member)) if (use := use_of(own, member, place))]
            near = {letter for left in lefts for letter in letters_beside(left, running)} - {*notation.symbols}
            new = replace(own, indices=indices_of(own, uses, running, (near, given), notation))
            new = replace(new, is_only=has_twin(new, notation))
            if new.indices and not is_taken(new, statements, notation):
                found.append(new)
                waiting.remove(own)
                running |= {letter for use in uses for number in new.indices for letter in use.parts[number].letters}
        if len(found) == count:
            break
    found += [own for own in waiting if own.key.endswith(")") and any(is_later(own, left) for left in lefts)]
    if not found:
        return [*statements]
    put = [with_members(one, partial(put_indices, arrays=found)) for one in statements]
    for letter in {part.text for own in found for number, part in enumerate(own.use.parts) if own.is_label(number)}:
        plain = [with_members(one, partial(without_label, letter=letter, declared=notation.symbols)) for one in put]
        put = put if any(token.text == letter for one in plain for part in one.members for token in part) else plain
    return put


def without_label(tokens: Sequence[Token], letter: str, declared: Collection[str]) -> Iterator[Token]:
    """Yield the tokens with y for each y(t), which is given at the letter at which others are declared."""

    def found_at(tokens: Sequence[Token], place: int) -> Change:
        point = at_point(tokens, place)
        if point is not None and point[0] in declared:
            return tokens[place : place + point[1]], place + point[1]
        if tokens[place].kind != "name":
            return None
        end = read_scripts(tokens, place + 1)[1]
        is_behind = [token.text for token in tokens[end : end + 3]] == ["(", letter, ")"]
        return tokens[place:end], end + 3 * is_behind

    yield from with_found(tokens, found_at)


def letters_beside(left: Sequence[Token], running: Collection[str]) -> set[str]:
    """The letters of r_{nk} on a left side, of which one runs."""
    below = [flat(unit) for unit in units_below(left)]
    return {letter for letter in below if len(letter) == 1 and letter.isalpha()} if {*below} & {*running} else set()


def units_below(left: Sequence[Token]) -> list[Tokens]:
    """The letters, or what else stands between commas, below the first name of a left side."""
    return [tuple(unit) for unit in letters_in(read_scripts(left, 1)[0].below)]


def values_in(statements: Sequence[RawStatement]) -> set[str]:
    r"""The names that right sides read as numbers, without a script, as the i of \sum_j [k_j = i]; but for those that
    left sides give."""
    found = set[str]()
    for member in (member for one in statements for member in one.members[1:]):
        place = 0
        while place < len(member):
            end = read_scripts(member, place + 1)[1]
            found |= {member[place].text} if member[place].kind == "name" and end == place + 1 else set()
            place = end
    return found - {token.text for one in statements for token in one.members[0][:1]}


def has_twin(own: Shown, notation: Notation) -> bool:
    """Is the same name declared with other letters too, as p(x) and p(y), so that the letters tell which it is?"""
    others = filter(None, map(name_in, notation.symbols.keys() - {own.key}))
    same = [use for use in others if (use.base, use.primes, use.form) == (own.use.base, own.use.primes, own.use.form)]
    return any(name_of(own, use) == own.key for use in same)


def letters_at(members: Sequence[Tokens], notation: Notation) -> set[str]:
    """The letters that index arrays which are declared without, but for those that count steps, as t beside t + 1."""
    lexicon = Lexicon(words=words_of(notation.symbols))
    uses = [use for member in members for use in uses_in(member, notation, lexicon)]
    whole = [use for use in uses if use.rest and len(use.rest) == len(use.symbol.kind.shape) and not use.arguments]
    steps = {step.letter for use in uses for step in steps_of(use) if step.offset}
    return {flat(piece) for use in whole for piece in use.rest if len(piece) == 1} - {*notation.symbols} - steps


def shown_by(key: str) -> Shown | None:
    """What a declared name shows of its indices; None for one that has no parts."""
    use = name_in(key)
    return Shown(key, use, is_logarithm=key.startswith(LOGARITHM)) if use and use.parts else None


@lru_cache(MOST_KEPT)
def name_in(key: str) -> Use | None:
    r"""A key as a name with its parts, of \log p(x_i) that of p(x_i); None for one of another form."""
    text = key.removeprefix(LOGARITHM).replace("}", "", 1) if key.startswith(LOGARITHM) else key
    base = text.partition("_")[0].partition("^")[0].partition("(")[0]
    if not base or text.startswith((r"\frac", r"\nabla", CHANGE)) or r"\cdot" in text:
        return None
    tokens = spell(read_tokens(text, None))
    if base.isalpha():  # a word such as IDF is one name
        tokens = [replace(tokens[0], text=base), *tokens[len(base) :]]
    use = parts_at(tokens, 0)
    return use if use and use.end == len(tokens) else None


def is_spelled(tokens: Sequence[Token], key: str) -> bool:
    """Are these tokens a name that is given at letters, w(t+1), or that with its indices, w_i(t+1)?"""
    use, own = parts_at(tokens, 0), name_in(key)
    if use is None or own is None or use.end != len(tokens) or (use.base, use.primes) != (own.base, own.primes):
        return False
    parts = [[(part.where, part.text) for part in one.parts] for one in (own, use)]
    return all(part in parts[1] for part in parts[0])


def parts_at(tokens: Sequence[Token], place: int, *, is_power: bool = False, has_brackets: bool = True) -> Use | None:
    """The name at a place with its parts; None for what is no name.  is_power: is what stands above it none of them?"""
    is_barred = tokens[place].text in MAGNITUDE and place + 1 < len(tokens)
    first = tokens[place + is_barred]
    if first.kind != "name":
        return None
    scripts, end = read_scripts(tokens, place + is_barred + 1)
    if is_barred and (end == len(tokens) or tokens[end].text not in MAGNITUDE or not scripts.below):
        return None
    base, end = (f"|{first.text}|", end + 1) if is_barred else (first.text, end)
    parts = [Part("_", "", unit) for unit in letters_in(scripts.below)]
    parts += [Part("^", "", unit) for unit in (() if is_power else letters_in(scripts.above))]
    bracket: Tokens = ()
    if has_brackets and end < len(tokens) and tokens[end].text == "(":
        closer = closing(tokens, end)
        bracket = tuple(tokens[end : closer + 1])
        for piece in filter(None, split_at(tokens[end + 1 : closer], BARS)):
            below = script_below(piece)
            own = of_present(below)
            of = piece[0].text + "<" * (own != below) if below else ""
            parts.append(Part("(", of, own or tuple(piece)))
        end = closer + 1
    return Use(base, scripts.primes, tuple(parts), scripts.above if is_power else (), end, bracket)


def of_present(script: Tokens) -> Tokens:
    r"""The i,t of i,<t and of i,1:t-1: what came before y_{i,t} goes with it."""
    texts = [token.text for token in script]
    if len(texts) > 4 and texts[-4] == ":" and texts[-5] in ("0", "1") and texts[-2:] == ["-", "1"]:
        return (*script[:-5], script[-3])
    return tuple(token for token in script if token.text != "<")


def use_of(own: Shown, tokens: Sequence[Token], place: int) -> Use | None:
    """The name at a place, if it has the form of a declared one."""
    if tokens[place].text not in (own.use.base, *(MAGNITUDE if own.use.base[0] == "|" else ())):
        return None
    has = {where for where, _ in own.use.form}
    use = parts_at(tokens, place, is_power="^" not in has, has_brackets="(" in has)
    is_own = use is not None and (use.base, use.form, use.primes) == (own.use.base, own.use.form, own.use.primes)
    return use if is_own else None


def indices_of(
    own: Shown, uses: Sequence[Use], running: set[str], lefts: tuple[set[str], set[str]], notation: Notation
) -> tuple[int, ...]:
    """Which parts of a declared name are letters of indices in a display; empty for none.

    lefts: letters on left sides: those beside one that runs, which index an array of more axes; and all, which do where
    it would be nothing without, as one of three axes, or where there are as many letters as axes.
    """
    parts, axes = own.use.parts, len(notation.symbols[own.key].kind.shape)
    values = {key for key, symbol in notation.symbols.items() if symbol.kind.name not in ("dim", "int", "index")}
    found = list[int]()
    for _, numbers in groupby(range(len(parts)), key=lambda number: parts[number].where):
        group = [*numbers]
        heads = [number for number in group if parts[number].of]
        if len({parts[number].text for number in heads}) > 1:
            continue
        group = [
            number for number in heads or group if is_letter(parts[number]) and not values & {*parts[number].letters}
        ]
        runs = [{letter for use in uses for letter in use.parts[number].letters} for number in group]
        is_whole = axes > 2 or len(group) == axes == 2
        known = {*running, *lefts[0], *(lefts[1] - {*notation.symbols} if is_whole else ())}
        if any(texts & running for texts in runs) or (axes > 1 and all(texts & known for texts in runs)):
            found += group
    groups = {(parts[number].of and parts[number].text) or str(number): parts[number].letters for number in found}
    return tuple(found) if sum(map(len, groups.values())) <= axes else ()


def is_letter(part: Part) -> bool:
    """Is it one letter, or several behind a name in brackets, as in y_{i,t}?"""
    units = [*letters_in(part.tokens)]
    bases = [flat(unit).rstrip("'") for unit in units]
    are_names = all(unit[0].kind == "name" and all(token.text == "'" for token in unit[1:]) for unit in units)
    return (
        are_names and len(units) <= (2 if part.of else 1) and all(len(base) == 1 or base[0] == "\\" for base in bases)
    )


def is_taken(own: Shown, statements: Sequence[RawStatement], notation: Notation) -> bool:
    """Is another thing declared or given by the name without the letters, or by their other values?"""
    others = [name_in(key) for key in [*notation.symbols, *notation.functions] if key != own.key]
    others += [parts_at(one.members[0], 0) for one in statements if one.relations]
    above = [part.text for number, part in enumerate(own.use.parts) if part.where == "^" and number not in own.indices]
    for use in filter(None, others):
        if (use.base, use.primes) != (own.use.base, own.use.primes):
            continue
        if use.form == own.use.form and name_of(own, use) == own.key:
            return True
        if is_other_list(use, own.use):
            continue
        if use.form != own.use.form and above == [part.text for part in use.parts if part.where == "^"]:
            return True
    return False


def is_other_list(one: Use, other: Use) -> bool:
    """Are two of one name and different numbers of arguments, p(x, y) and p(x), or of others, R(x_i) and R(y_i)?"""
    lists = [[part.of for part in use.parts if part.where == "("] for use in (one, other)]
    is_of_others = lists[0] != lists[1] and all(of for own in lists for of in own)
    return bool(lists[0] and lists[1]) and (len(lists[0]) != len(lists[1]) or is_of_others)


def name_of(own: Shown, use: Use) -> str:
    """The key of an array where it is read, or of what is a step off it, w_i(t+1) beside w_i(t); empty for others."""
    pairs = list(zip(own.use.parts, use.parts, strict=True))
    if own.is_only and any(pairs[number][0].text != pairs[number][1].text for number in own.indices):
        return ""
    heads = {other.text for number, (one, other) in enumerate(pairs) if number in own.indices and one.of}
    rest = [(one, other) for number, (one, other) in enumerate(pairs) if number not in own.indices]
    if len(heads) > 1 or not all(one.text == other.text or is_step(one, other) for one, other in rest):
        return ""
    if all(one.text == other.text for one, other in rest):
        return own.key
    parts = [other for number, (_, other) in enumerate(pairs) if number not in own.indices]
    below, above = ([token for part in parts if part.where == sign for token in part.tokens] for sign in "_^")
    inside = [flat(part.tokens) for part in parts if part.where == "("]
    return key_of(use.base, below, above, use.primes) + (f"({','.join(inside)})" if inside else "")


def is_later(own: Shown, left: Sequence[Token]) -> bool:
    """Is it what is given at another step, w(t) beside a declared w(t-1)?"""
    use = use_of(own, left, 0)
    return use is not None and use.end == len(left) and name_of(own, use) not in ("", own.key)


def is_step(one: Part, other: Part) -> bool:
    """Is one t and the other t + 1?"""
    first, second = step_of(one.tokens), step_of(other.tokens)
    return first is not None and second is not None and first[0] == second[0]


def put_indices(tokens: Sequence[Token], arrays: Sequence[Shown]) -> Iterator[Token]:
    """Yield the tokens with each of these arrays as one name with its indices."""

    def found_at(tokens: Sequence[Token], place: int) -> Change:
        at = tokens[place]
        start = place + (at.text in LOGARITHMS and place + 1 < len(tokens))
        uses = [(own, use) for own in arrays if (use := use_of(own, tokens, start)) and name_of(own, use)]
        if not uses or (start > place and not uses[0][0].is_logarithm):
            return None
        own, use = next((pair for pair in uses if name_of(*pair) == pair[0].key), uses[0])
        name = replace(at, kind="name", text=name_of(own, use), end=tokens[use.end - 1].end)
        parts = [use.parts[number] for number in own.indices]
        indices = join_commas([part.tokens for number, part in enumerate(parts) if not (number and part.of)])
        element = [name, *([mark("_", at), mark("{", at), *indices, mark("}", at)] if indices else [])]
        if any(token.text in BARS[1:] for token in use.bracket) and not any(part.of for part in parts):
            element = [name, *use.bracket]  # the order of shares is another matter
        if use.rest:
            element += [mark("^", at), mark("{", at), *put_indices(use.rest, arrays), mark("}", at)]
        if own.is_logarithm and at is tokens[start]:
            element = [replace(at, text="exp"), mark("(", at), *element, mark(")", at)]
        return element, use.end

    yield from with_found(tokens, found_at)
