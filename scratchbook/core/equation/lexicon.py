r"""What each name in a display is: a symbol, a function, an index.  Names decide: nothing here guesses from a letter
alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .pieces import is_conditioned, join_commas, split_commas, unwrapped
from .symbols import CHANGE, Scripts, flat, key_of, split_key
from .tokens import Token


@dataclass
class Lexicon:
    """The names of one display.

    numbers: declared names without elements.   on_right: letters that stand on right sides as values or indices.
    integers: numbers of the kind int.   bare: keys of left sides without an index.   defined: bases of left sides.
    general: arrays given at a declared number and read elsewhere, with its letter: t of \\alpha_t = ... by \\alpha_s.
    brackets: what may open the indices behind an array: [ too where a left side is y[n].
    applied: arrays whose index stands in brackets on a left side, as of y(t) = ..., so that y(1) is no product.
    parameters: names that are no more than parameters of a left side, as the \\sigma^2 of \\kappa(\\sigma^2) = ...
    powerless: declared arrays that have no power, as no square matrices, so that a letter that runs above is an index.
    axes: how many indices a declared array takes, or a family of functions.
    shares, sets, counted: arrays declared as simplex, set and ints.   listed: those over which an operator runs.
    variables, functions: keys of declared and of locally defined names.   arrays: variables that have elements.
    families: bases of functions with an index, such as R of R_m.   indices: letters that run.
    fresh: names that left sides make of a declared letter, as x_{\\text{new}} = ... beside x.
    upper: arrays whose index stands above, as z^j = ... defines them.
    labels: letters that only part names, such as \\ell of x_\\ell.   words: bases of several letters, longest first.
    """

    variables: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    arrays: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    families: set[str] = field(default_factory=set)
    indices: set[str] = field(default_factory=set)
    upper: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    axes: dict[str, int] = field(default_factory=dict)
    on_right: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    general: dict[str, str] = field(default_factory=dict)
    integers: set[str] = field(default_factory=set)
    shares: set[str] = field(default_factory=set)
    brackets: tuple[str, ...] = ("(",)
    sets: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    applied: set[str] = field(default_factory=set)
    powerless: set[str] = field(default_factory=set)
    parameters: set[str] = field(default_factory=set)

    def knows(self, key: str) -> bool:
        """Is it a declared or defined name?"""
        return key in self.variables or key in self.functions

    def is_number_beside(self, key: str) -> bool:
        """Is it a number, declared or defined, so that with an index it is another name, as N_k beside N?"""
        return key in self.numbers or (key in self.bare and key not in self.arrays)

    def has_elements(self, key: str) -> bool:
        """May an index stand at it?"""
        return key not in self.numbers

    def word_at(self, tokens: Sequence[Token], place: int) -> tuple[str, int]:
        """The base name at a place, and the place after it: the longest declared word, else one token."""
        first = tokens[place].text
        is_change = first == CHANGE and place + 1 < len(tokens) and tokens[place + 1].kind == "name"
        if is_change and (CHANGE not in self.variables or first + tokens[place + 1].text in self.words):
            return first + tokens[place + 1].text, place + 2
        if len(first) == 1:
            run, end = "", place
            while end < len(tokens) and tokens[end].kind == "name" and len(tokens[end].text) == 1:
                run += tokens[end].text
                end += 1
            for word in self.words:
                if run.startswith(word):
                    return word, place + len(word)
        return first, place + 1

    def names_in(self, tokens: Sequence[Token]) -> list[str]:
        """The base names among tokens; a declared word is one."""
        found = list[str]()
        place = 0
        while place < len(tokens):
            if tokens[place].kind == "name":
                word, place = self.word_at(tokens, place)
                found.append(word)
            else:
                place += 1
        return found

    def is_fresh(self, base: str, below: Sequence[Token]) -> bool:
        """Do a base and the first piece below it make a name of their own, as x_new beside x?"""
        return any(key_of(base, piece) in self.fresh for piece in split_commas(unwrapped(below))[:1])

    def split_below(self, base: str, tokens: Sequence[Token]) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        """Part an undeclared name's subscript into a label and indices: m,i of q_{m,i} when m is a number."""
        pieces = split_commas(unwrapped(tokens))
        parts = letters_of(pieces[0]) if len(pieces) == 1 else []
        if len(parts) > 1 and any(flat(part) in self.indices for part in parts[1:]):
            # e_{tj} with a label t, as of a declared s_{t-1}, and an index j
            pieces = parts if parts[0][0].text in self.labels - self.indices - self.variables else pieces
        count = int(self.is_fresh(base, tokens))
        while count < len(pieces) and self.is_label(pieces[count]):
            count += 1
        return join_commas(pieces[:count]), join_commas(pieces[count:])

    def is_strange(self, tokens: Sequence[Token]) -> bool:
        """Has a script in brackets a letter that neither runs nor has a value, as the t of r^{(t+1)} = ... r?"""
        return any(name not in self.indices and name not in self.variables for name in self.names_in(tokens))

    def is_label(self, tokens: Sequence[Token]) -> bool:
        """Is a script part of a name, rather than an index?"""
        if is_conditioned(tokens):
            return True
        if any(token.text == ":" for token in tokens):
            # x_{t:t+n}, whose t is nothing else, is no stretch of x
            known = self.indices | self.variables | self.on_right
            return tokens[0].kind == "name" and self.word_at(tokens, 0)[0] not in known
        if tokens and all(token.text in (r"\emptyset", r"\varnothing", r"\infty") for token in tokens):
            return True
        letters = self.names_in(tokens) + [token.text for token in tokens if token.kind == "text"]
        known = self.indices | self.variables | self.on_right
        if len(tokens) > 2 and is_run(tokens) and any(letter not in known for letter in letters):
            return True  # split, of which some letters stand for something and others for nothing
        if not letters:
            return any(token.kind in ("number", "ones") or token.text in ("*", "+", "-") for token in tokens)
        if flat(tokens) in self.indices or any(letter in self.indices for letter in letters):
            return False
        if not any(letter in self.on_right for letter in letters):
            return True
        named = self.labels | self.variables | self.defined
        return any(letter in named or (len(letter) > 1 and not letter.startswith("\\")) for letter in letters)


def words_of(keys: Iterable[str]) -> list[str]:
    """The bases of several plain letters, longest first, and those such as \\Delta W."""
    bases = {split_key(key)[0] for key in keys if not key.startswith(r"\frac")}
    return sorted((base for base in bases if is_word(base)), key=len, reverse=True)


def letters_of(tokens: Sequence[Token]) -> list[list[Token]]:
    """The letters side by side, each with its primes; nothing where anything else stands."""
    letters: list[list[Token]] = []
    for token in tokens:
        if token.kind == "name" and len(token.text) == 1:
            letters.append([token])
        elif token.text == "'" and letters:
            letters[-1].append(token)
        else:
            return []
    return letters


def is_run(tokens: Sequence[Token]) -> bool:
    """Is it nothing but letters side by side?"""
    return all(token.kind == "name" and len(token.text) == 1 for token in tokens)


def is_word(base: str) -> bool:
    """Is a base several tokens that are one name?"""
    return (len(base) > 1 and base.isalpha()) or (base.startswith(CHANGE) and base != CHANGE)


Candidate = tuple[tuple[Token, ...], tuple[Token, ...], tuple[Token, ...], tuple[Token, ...]]


def candidates(scripts: Scripts) -> list[Candidate]:
    """The ways to part scripts into a label and the rest, longest label first: (below, above, rest below, rest
    above)."""
    below, above = scripts.below, scripts.above
    pieces = split_commas(below)
    ways: list[Candidate] = []
    for count in range(len(pieces), -1, -1):
        label, rest = join_commas(pieces[:count]), join_commas(pieces[count:])
        if count == len(pieces):
            label, rest = below, ()
        ways.append((label, above, rest, ()))
        if above and above[0].text == "*" and is_run([token for token in above[1:] if token.text != "'"]):
            ways.append(
                (label, above[:1], join_commas(filter(None, [rest, above[1:]])), ())
            )  # x^{*r}: an element of x^*
        if above:
            ways.append((label, (), rest, above))
    return list(dict.fromkeys(sorted(ways, key=lambda way: -(len(way[0]) + len(way[1])))))
