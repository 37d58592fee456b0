"""Which letters of a display run: those that an operator binds, and those that index a declared array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .known import REDUCERS, known_function
from .leftsides import read_left
from .lexicon import Lexicon, candidates
from .notation import Notation
from .pieces import closing, split_at, split_commas, top_level, unwrapped
from .spelling import spell
from .statements import RawStatement
from .symbols import Scripts, key_of, read_scripts, split_key
from .tokens import Token, cut
from .vocabulary import RELATIONS

BIG: Final = frozenset([r"\sum", r"\prod"])


def running_letters(statements: Sequence[RawStatement], lexicon: Lexicon) -> set[str]:
    """Letters that an operator binds, and letters that index a declared array somewhere in the display."""
    found = set[str]()
    for statement in statements:
        for member in statement.members:
            for place, token in enumerate(member):
                scripts, end = read_scripts(member, place + 1)
                if end > place + 1 and is_operator(token):
                    found |= first_letters(scripts.below, lexicon)
                elif token.kind == "name":
                    found |= index_letters(token.text, scripts, lexicon)
                    key = key_of(token.text, scripts.below, scripts.above, scripts.primes)
                    if end + 1 < len(member) and member[end].text in lexicon.brackets and key in lexicon.arrays:
                        found |= bracketed_letters(member, end, lexicon)
    fresh = {split_key(key)[1] for key in lexicon.fresh}
    return {letter for letter in found if letter not in lexicon.arrays} - fresh


def is_operator(token: Token) -> bool:
    """May an index below a sign run, as below a sum?"""
    return token.text in BIG or known_function(token.text) in REDUCERS


def has_members(key: str, statements: Sequence[RawStatement]) -> bool:
    r"""Does an operator run over the members of an array, as \sum_{w \in s} does?"""
    for member in (member for statement in statements for member in statement.members):
        for place, token in enumerate(member[1:], start=1):
            scripts, _ = read_scripts(member, place + 1)
            if member[place - 1].text == r"\in" and key == key_of(token.text, scripts.below, (), scripts.primes):
                return True
    return False


def bound_letters(statements: Sequence[RawStatement], lexicon: Lexicon) -> set[str]:
    """Letters over which an operator runs."""
    return {
        letter
        for statement in statements
        for member in statement.members
        for place, token in enumerate(member[:-2])
        if is_operator(token) and member[place + 1].text in ("_", "^")
        for letter in first_letters(read_scripts(member, place + 1)[0].below, lexicon)
    }


def letters_on_right(statements: Sequence[RawStatement], lexicon: Lexicon) -> set[str]:
    r"""The names on right sides, but for those that only repeat the subscript of a left side, as \mu_B does."""
    lefts = [
        left for statement in statements if statement.relations and (left := read_left(statement.members[0], lexicon))
    ]
    repeated = {(left.base, left.scripts.primes) for left in lefts if left.scripts.below or left.scripts.above}
    found = set[str]()
    for statement in statements:
        for number, member in enumerate(statement.members):
            if number == 0 and any(left is not None for left in [read_left(member, lexicon)]):
                continue
            place = 0
            while place < len(member):
                token = member[place]
                place += 1
                if token.kind != "name":
                    continue
                found.add(token.text)
                if place < len(member) and member[place].text in ("_", "^", "'"):
                    scripts, end = read_scripts(member, place)
                    place = end if (token.text, scripts.primes) in repeated else place
    return found


def bracketed_letters(member: Sequence[Token], place: int, lexicon: Lexicon) -> set[str]:
    """The undeclared names that stand alone in the brackets behind an array, as in Q(s, a)."""
    inside = member[place + 1 : closing(member, place)]
    signs = (",", "|", r"\mid", "+", "-", "'")
    plain = all(token.kind in ("name", "number") or token.text in signs for token in inside)
    words = lexicon.names_in(inside)
    if not plain or any(word in lexicon.variables for word in words):
        return set()
    return {
        word + "'" * primes_after(inside, number)
        for number, token in enumerate(inside)
        if token.kind == "name"
        for word in [lexicon.word_at(inside, number)[0]]
    }


def primes_after(tokens: Sequence[Token], place: int) -> int:
    """How many primes follow the token here."""
    count = 0
    while place + count + 1 < len(tokens) and tokens[place + count + 1].text == "'":
        count += 1
    return count


def first_letters(script: Sequence[Token], lexicon: Lexicon) -> set[str]:
    """The letters that stand first in the parts of an operator's subscript; of c_i = k that of the array's index."""
    found = set[str]()
    for part in split_commas(unwrapped(script)):
        for piece in split_at(part, (":", r"\mid")):
            place = next((number for number, token in enumerate(piece) if token.kind == "name"), None)
            if place is None:
                continue
            scripts, _ = read_scripts(piece, place + 1)
            if scripts.below and piece[place].text in lexicon.arrays and any(t.text in RELATIONS for t in piece):
                found |= index_letters(piece[place].text, scripts, lexicon)
            else:
                found.add(key_of(piece[place].text, scripts.below, (), scripts.primes))
    return found


def index_letters(base: str, scripts: Scripts, lexicon: Lexicon) -> set[str]:
    """The undeclared letters that index a declared array here; none where base and scripts are one declared name."""
    for below, above, rest, rest_above in candidates(scripts):
        key = key_of(base, below, above, scripts.primes)
        if lexicon.knows(key):
            rest = rest or (rest_above if key in lexicon.powerless and is_index_above(rest_above) else ())
            return letters_below(rest, lexicon) if key in lexicon.arrays else set()
    return set()


def is_index_above(above: Sequence[Token]) -> bool:
    """Is a superscript one letter, but for the T of a transpose?"""
    return len(above) == 1 and above[0].kind == "name" and above[0].text != "T"


def letters_below(script: Sequence[Token], lexicon: Lexicon) -> set[str]:
    """The undeclared letters of a script, but those that are scripts within it."""
    return {
        token.text + "'" * primes_after(script, number)
        for number, token in enumerate(script)
        if token.kind == "name"
        and token.text not in lexicon.variables
        and (number == 0 or script[number - 1].text != "_")
        and not (is_operator(token) and number + 1 < len(script) and script[number + 1].text == "_")
    }


def label_letters(notation: Notation) -> set[str]:
    r"""Letters within the scripts of declared names, such as \ell of x_\ell and \theta of a function F_\theta; sizes do
    not count, as d_k is everywhere."""
    found = set[str]()
    for key in [*(key for key, symbol in notation.symbols.items() if symbol.kind.name != "dim"), *notation.functions]:
        if not key.startswith(r"\frac"):
            _, below, above, _ = split_key(key)
            found |= {
                token.text for script in (below, above) for token in script_tokens(script) if token.kind == "name"
            }
    return found


def script_tokens(script: str) -> list[Token]:
    """The tokens of a key's script; a word stays one."""
    if script.isalpha() and len(script) > 1:
        return [Token("name", script, 0, 0)]
    return spell(list(cut(script)))


def note_range_letters(statement: RawStatement, lexicon: Lexicon) -> None:
    """A letter that i = 1, ..., n gives a range is an index."""
    if is_range(statement) or is_limited(statement, lexicon):
        for token in statement.members[0 if is_range(statement) else 1]:
            if token.kind == "name" and token.text not in lexicon.arrays:
                lexicon.indices.add(token.text)
                lexicon.variables.discard(token.text)


def is_limited(statement: RawStatement, lexicon: Lexicon) -> bool:
    r"""Is it 0 \le n < N about a letter that has no value, from a number to a size?"""
    if len(statement.members) != 3 or any(sign.text not in ("<", r"\le") for sign in statement.relations):
        return False
    low, letter, high = statement.members
    is_size = any(token.text in lexicon.variables for token in high)
    return [token.kind for token in low] == ["number"] and len(letter) == 1 and is_size and is_free(letter[0], lexicon)


def is_free(token: Token, lexicon: Lexicon) -> bool:
    """Is it a letter that has no value?"""
    return token.kind == "name" and token.text not in lexicon.variables


def is_range(statement: RawStatement) -> bool:
    r"""Is it i = 1, \ldots, n?"""
    if len(statement.members) != 2 or statement.relations[0].text != "=":
        return False
    right = [token.text for token in top_level(statement.members[1])]
    return r"\ldots" in right and "," in right
