r"""Cases written in a line, y = a \text{ if } c \text{ else } b, put as the environment that stands for them.

Values and conditions take turns: a value ends at "if"; a condition at "else", and at a comma or "and" where what
follows compares nothing.  What does not part so in one way is left as it stands, for those that read words to refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from .errors import EquationError, fault
from .pieces import closes, opens, top_level, words_of
from .tokens import Token
from .vocabulary import RELATIONS

IF: Final = frozenset(["if", "when", "whenever", "for"])
ELSE: Final = frozenset(["else", "otherwise"])
FILLERS: Final = frozenset(["and", "or", ""])
# Any other word beside these, as in "if not", would say something else.
BESIDE: Final = IF | ELSE | FILLERS
BESIDE_ELSE: Final = BESIDE | frozenset(["in", "all", "other", "cases"])
EQUALITIES: Final = frozenset(["=", ":=", r"\leftarrow", r"\approx"])
STOPS: Final = frozenset([",", ";", "."])


def put_cases(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with every line of cases as an environment."""
    kept: list[Token] = []
    place = depth = 0
    while place < len(tokens):
        token = tokens[place]
        kept.append(token)
        place += 1
        depth = max(0, depth - closes(token)) + opens(token)
        if depth == 0 and token.text in EQUALITIES:
            line = Line(tokens, place)
            if line.read():
                kept += line.environment(token)
                place = line.place
    return kept


@dataclass
class Line:
    """Cases that begin at a place.

    rows: each value with its condition, which the last one may lack.   elses: the numbers of the rows behind an "else".
    """

    tokens: Sequence[Token]
    place: int
    rows: list[tuple[list[Token], list[Token]]] = field(default_factory=list)
    elses: set[int] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def read(self) -> bool:
        """Read all rows; true where there are several, in one way."""
        while True:
            value = self.value()
            if not value or is_comparison(value):
                return False
            word = self.word()
            if word & IF and not word <= BESIDE:
                return False
            if not word & IF or (word == {"for"} and self.words & ELSE):  # behind the last value it says a range
                self.place += bool(word & ELSE)  # 0 otherwise
                self.rows.append((value, []))
                return len(self.rows) > 1 and bool(self.words & ELSE)
            self.place += 1
            condition = self.condition()
            if not condition:
                return False
            self.rows.append((value, condition))
            if not self.has_more():
                return len(self.rows) > 1 and "for" not in self.words

    def value(self) -> list[Token]:
        """What stands up to the next word, sign or wide space; those in front of it go."""
        while self.place < len(self.tokens) and is_border(self.tokens[self.place]):
            if self.rows and self.tokens[self.place].kind == "newline":
                return []
            words = words_of(self.tokens[self.place])
            if not words <= (BESIDE_ELSE if words & ELSE else BESIDE):
                return []
            self.words |= words
            self.elses |= {len(self.rows)} if words & ELSE else set()
            self.place += 1
        return self.take()

    def take(self) -> list[Token]:
        """The tokens up to the next border of this level; a comma or space before "if" is none."""
        start, depth = self.place, 0
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            depth = max(0, depth - closes(token))
            if depth == 0 and is_border(token):
                break
            depth += opens(token)
            self.place += 1
        taken = [token for token in self.tokens[start : self.place] if token.text != "&"]
        self.skip_to_word()
        return taken

    def skip_to_word(self) -> None:
        """Pass commas and spaces before a word that says if or otherwise."""
        place = self.place
        rest = self.tokens
        while place < len(rest) and (rest[place].kind == "space" or rest[place].text in STOPS):
            place += 1
        if place < len(rest) and words_of(rest[place]) & (IF | ELSE):
            self.place = place

    def word(self) -> set[str]:
        """The words of the text here."""
        found = words_of(self.tokens[self.place]) if self.place < len(self.tokens) else set()
        self.words |= found
        return found

    def condition(self) -> list[Token]:
        """What compares: one piece, and those behind it that compare as well."""
        condition = self.take()
        if not is_comparison(condition):
            return []
        while self.place < len(self.tokens) and words_of(self.tokens[self.place]) <= FILLERS:
            border = self.tokens[self.place]
            ahead = Line(self.tokens, self.place + 1)
            further = ahead.take()
            if border.kind == "newline" or not is_comparison(further) or not ahead.word() & ELSE:
                break
            condition += [border, *further]
            self.place = ahead.place
        return condition

    def has_more(self) -> bool:
        """Does another row follow on this line?"""
        ahead = Line(self.tokens, self.place, rows=list(self.rows))
        value = ahead.value()
        return bool(value) and (bool(ahead.words & ELSE) or bool(ahead.word() & (IF | ELSE)))

    def environment(self, at: Token) -> list[Token]:
        """The rows as an environment with cells."""
        made = [replace(at, kind="command", text=r"\begin{cases}")]
        for number, (value, condition) in enumerate(self.rows):
            word = ("else if" if number in self.elses else "if") if condition else "otherwise"
            made += [*value, replace(at, kind="symbol", text="&"), replace(at, kind="text", text=word), *condition]
            made.append(replace(at, kind="newline", text="\\\\"))
        return [*made, replace(self.tokens[self.place - 1], kind="command", text=r"\end{cases}")]


def outside(token: Token) -> EquationError:
    """What to say about a word of cases that stands where it parts none."""
    said = "cases outside a cases environment; write"
    return fault(rf"{said} \begin{{cases}} a & \text{{if }} x > 0 \\ b & \text{{otherwise}} \end{{cases}}", token)


def is_border(token: Token) -> bool:
    """Is it a word, a stop, or a row's or a wide space's end?"""
    return token.kind in ("text", "newline", "space") or token.text in STOPS


def is_comparison(tokens: Sequence[Token]) -> bool:
    """Does it compare anything?"""
    return any(token.text in RELATIONS for token in top_level(tokens))
