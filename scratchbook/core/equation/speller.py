r"""Spell each family of commands: a letter with its style and accent, a word, a space, a size, an environment."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from .errors import fault
from .known import known_function
from .tokens import Token
from .vocabulary import (
    ACCENTS,
    BRACES,
    CLEAR,
    CONNECTIVES,
    DELIMITERS,
    EVERY_COMMAND,
    LETTER_STYLES,
    LETTERS,
    PLAIN_STYLES,
    REFUSED,
    RELATIONS,
    SAME,
    SIGNS,
    SILENT,
    SIZES,
    SPACES,
    SWITCHES,
    TEXT_STYLES,
    WIDE_SPACES,
    WORD_STYLES,
    WORDS,
)


class Speller:
    """A place in a list of tokens, and one rule for each kind of command."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.place = 0
        self.out: list[Token] = []

    def all(self) -> list[Token]:
        """Spell every token."""
        while self.place < len(self.tokens):
            self.one()
        return self.out

    def take(self) -> Token:
        """The token here; the place moves on."""
        token = self.tokens[self.place]
        self.place += 1
        return token

    def argument(self, owner: Token) -> list[Token]:
        """The tokens of the one argument that stands here: a group without its braces, or a single token."""
        if self.place >= len(self.tokens) or self.tokens[self.place].text in ("}", "&"):
            raise fault(f"{owner.text} lacks its argument; write {owner.text}{{...}}", owner)
        first = self.take()
        if first.text != "{":
            if first.kind == "command" and (first.text in ACCENTS or first.text in PLAIN_STYLES | WORD_STYLES):
                return [first, *self.with_braces(self.argument(first), first)]
            if first.kind == "number" and len(first.text) > 1:
                raise fault(
                    f"TeX gives {owner.text} only the first digit here; write {owner.text}{{{first.text}}}", first
                )
            return [first]
        depth, start = 1, self.place
        while depth:
            token = self.take()
            depth += (token.text == "{") - (token.text == "}")
        return self.tokens[start : self.place - 1]

    @staticmethod
    def with_braces(tokens: list[Token], at: Token) -> list[Token]:
        """The tokens as a group again."""
        return [replace(at, kind="symbol", text="{"), *tokens, replace(at, kind="symbol", text="}")]

    def one(self) -> None:
        """Spell what stands here."""
        token = self.take()
        if token.kind == "command":
            self.command(token)
        elif token.text == "{" and self.place < len(self.tokens) and self.tokens[self.place].text in SWITCHES:
            self.place -= 1
            group = self.argument(token)
            style = replace(group[0], text=SWITCHES[group[0].text])
            self.tokens[self.place : self.place] = [style, *self.with_braces(group[1:], token)]
        elif token.kind == "letter":
            self.out.append(self.underscored(token) or replace(token, kind="name"))
        elif token.kind == "newline":
            self.newline(token)
        elif token.text == "@" and self.place < len(self.tokens):
            self.at(token)
        elif token.text == "~":
            return
        else:
            self.out.append(token)

    def underscored(self, first: Token) -> Token | None:
        r"""The one name that step\_num is; None for letters without such a sign in their run."""
        end = self.place
        while end < len(self.tokens) and not self.tokens[end].gap:
            if self.tokens[end].kind not in ("letter", "number") and self.tokens[end].text != r"\_":
                break
            end += 1
        run = [first, *self.tokens[self.place : end]]
        if all(token.text != r"\_" for token in run) or run[-1].text == r"\_":
            return None
        self.place = end
        text = "".join(token.text for token in run).replace(r"\_", "_")
        return replace(first, kind="name", text=text, end=run[-1].end)

    def at(self, token: Token) -> None:
        r"""\mathrm{nDCG}@k: what stands behind the sign is an index."""
        first = self.tokens[self.place]
        body = [self.take()] if first.kind == "number" else self.argument(token)
        self.out.append(replace(token, kind="symbol", text="_"))
        self.out.extend(self.with_braces(Speller(body).all(), token))

    def command(self, token: Token) -> None:
        """Spell a command by its family."""
        text = SAME.get(token.text, token.text)
        for family, rule in RULES:
            if text in family:
                rule(self, replace(token, text=text))
                return
        if text in SIGNS or text in RELATIONS or text in DELIMITERS or text in REFUSED or len(text) == 1:
            self.out.append(replace(token, text=text))
            return
        close = difflib.get_close_matches(token.text, EVERY_COMMAND, 1, 0.75)
        word = f"write \\operatorname{{{text[1:]}}} or add a macro"
        hint = f"did you mean {close[0]}? else " if close and not known_function(text[1:]) else ""
        raise fault(f"unknown command {token.text}; {hint}{word}", token)

    def letter(self, token: Token) -> None:
        """A Greek letter."""
        self.out.append(replace(token, kind="name"))

    def upright(self, token: Token) -> None:
        r"""A word such as \log."""
        self.out.append(replace(token, kind="name", text=token.text[1:]))

    def silent(self, token: Token) -> None:
        """A command that shows nothing of its argument."""
        for _ in range(SILENT[token.text]):
            self.argument(token)

    def clear(self, token: Token) -> None:
        """A command that shows one of its arguments as it is."""
        count, shown = CLEAR[token.text]
        arguments = [self.argument(token) for _ in range(count)]
        self.tokens[self.place : self.place] = arguments[shown]

    def space(self, token: Token) -> None:
        """A thin space shows no meaning."""

    def wide_space(self, token: Token) -> None:
        """A wide space parts equations."""
        self.out.append(replace(token, kind="space"))

    def size(self, token: Token) -> None:
        r"""\left, \right and the sizes: the delimiter stays; a bar learns which side it is."""
        if self.place >= len(self.tokens):
            raise fault(f"{token.text} needs a delimiter after it, such as '(' or '|'", token)
        bar = self.take()
        opens, closes = token.text.endswith(("left", "gl")), token.text.endswith(("right", "gr"))
        text = SAME.get(bar.text, bar.text)
        if text == "." and token.text in (r"\left", r"\right"):
            self.out.append(replace(token, kind="command", text=token.text + "."))
            return
        if text in ("|", r"\|") and (opens or closes or token.text == r"\middle"):
            letter = "v" if text == "|" else "V"
            text = f"\\{'l' if opens else 'r'}{letter}ert" if opens or closes else (r"\mid" if text == "|" else r"\|")
        self.out.append(replace(bar, text=text, kind="command" if len(text) > 1 else "symbol"))

    def stack(self, token: Token) -> None:
        r"""\substack{a \\ b}: the list a, b."""
        rows = self.argument(token)
        parted = [replace(part, kind="symbol", text=",") if part.kind == "newline" else part for part in rows]
        self.tokens[self.place : self.place] = parted

    def brace(self, token: Token) -> None:
        r"""\underbrace{a + b}_{label}: the label goes, the group stays visible."""
        body = Speller(self.argument(token)).all()
        if self.place < len(self.tokens) and self.tokens[self.place].text in ("_", "^"):
            self.take()
            self.argument(token)
        self.out.append(replace(token, kind="command", text=r"\underbrace"))
        self.out.extend(self.with_braces(body, token))

    def plain_style(self, token: Token) -> None:
        """Bold and italic: the same name.  A bold 1 is the vector of ones, a bold 0 of zeros."""
        body = Speller(self.argument(token)).all()
        if len(body) == 1 and body[0].text in ("0", "1") and token.text != r"\mathit":
            self.out.append(replace(body[0], kind="ones"))
            return
        self.out.extend(body)

    def word_style(self, token: Token) -> None:
        r"""Upright words: one name each; \mathrm{d_k} is \mathrm{d}_\mathrm{k}."""
        body = self.argument(token)
        place = next((n for n, part in enumerate(body) if part.text in ("_", "^") and part.kind == "symbol"), 0)
        if place and not known_function("".join(part.text for part in body)):
            self.tokens[self.place : self.place] = self.parted(token, body, place)
            return
        if any(part.text in ACCENTS or part.text in SIGNS or part.text in LETTERS for part in body):
            self.out.extend(Speller(body).all())
            return
        word = "".join(part.text for part in body if part.text not in SPACES)
        word = "".join(part for part in word.replace("\\", "") if part not in "{}")
        if not word:
            raise fault(f"{token.text} is empty", token)
        if word == "1":
            self.out.append(replace(token, kind="ones", text="1"))
        elif word == "T" and token.text not in (r"\operatorname", r"\operatorname*") and self.in_superscript():
            self.out.append(replace(token, text=r"\top"))
        elif word in CONNECTIVES and not token.text.startswith(r"\operatorname"):
            self.out.append(replace(token, kind="text", text=word))
        else:
            self.out.append(replace(token, kind="number" if word.isdigit() else "name", text=word, end=self.last_end()))

    def parted(self, token: Token, body: list[Token], place: int) -> list[Token]:
        """The same style for a word and for each of the scripts that stand at it from a place on."""
        styled = [token, *self.with_braces(body[:place], token)]
        rest = Speller(body[place:])
        while rest.place < len(rest.tokens):
            sign = rest.take()
            styled.append(sign)
            if sign.text in ("_", "^"):
                script = rest.argument(sign)
                if any(part.kind == "letter" for part in script):  # an upright 1 alone is the vector of ones
                    script = [replace(token, text=r"\mathrm"), *self.with_braces(script, token)]
                styled += self.with_braces(script, token)
        return styled

    def in_superscript(self) -> bool:
        """Is what stands here the whole superscript so far?"""
        before = [part.text for part in self.out[-2:]]
        return before[-1:] == ["^"] or before == ["^", "{"]

    def last_end(self) -> int:
        """Where the token before the place ends in the author's text."""
        return self.tokens[self.place - 1].end

    def text_style(self, token: Token) -> None:
        r"""\text: a connective, a comment, or a name when it is one word; mathematics between dollars stays
        mathematics."""
        body, part = self.argument(token), list[Token]()
        inside = False
        for piece in [*body, replace(token, kind="symbol", text="$")]:
            if piece.text != "$":
                part.append(piece)
                continue
            if inside:
                self.out.extend(Speller(part).all())
            elif part:
                self.words(part, token)
            inside, part = not inside, []

    def words(self, part: list[Token], token: Token) -> None:
        """Spell words of a text."""
        text = "".join((" " if piece.gap else "") + piece.text for piece in part if piece.text not in SPACES)
        bare = text.strip(" .,;:").replace("{", "").replace("}", "").replace(r"\_", "_")
        if not bare:
            return
        if bare == "T" and self.in_superscript():
            self.out.append(replace(token, text=r"\top"))
        elif " " in bare or bare in CONNECTIVES or bare.lower() in CONNECTIVES:
            self.out.append(replace(token, kind="text", text=bare, end=self.last_end()))
        else:
            self.out.append(replace(token, kind="name", text=bare, end=self.last_end()))

    def letter_style(self, token: Token) -> None:
        r"""Calligraphic and hollow letters are names of their own; \mathcal{L_b} is \mathcal{L}_b."""
        style = LETTER_STYLES[token.text]
        body = Speller(self.argument(token)).all()
        count = next((n for n, part in enumerate(body) if part.kind != "name"), len(body))
        letters, rest = body[:count], body[count:]
        if len(body) == 1 and body[0].text == "1":
            self.out.append(replace(body[0], kind="ones"))
        elif letters and are_scripts(rest):
            word = "".join(part.text for part in letters)
            self.out.append(replace(token, kind="name", text=f"{style}{{{word}}}", end=letters[-1].end))
            self.out.extend(rest)
        else:
            raise fault(f"{token.text} needs a letter, as in {token.text}{{L}}", token)

    def accent(self, token: Token) -> None:
        r"""\bar x, \hat{\mathbf m}, and \hat{y_i}, whose script belongs to the letter with its accent."""
        body = Speller(self.argument(token)).all()
        if body and body[0].text == "{" and body[-1].text == "}":
            body = body[1:-1]
        rest = body[1:]
        if not body or body[0].kind != "name" or not are_scripts(rest):
            raise fault(f"{token.text} stands over one letter or word; name the expression under it", token)
        name = f"\\{ACCENTS[token.text]}{{{body[0].text}}}"
        self.out.append(Token("name", name, token.start, max(self.last_end(), body[0].end), token.gap))
        self.out.extend(rest)

    def under(self, token: Token) -> None:
        r"""\underset{i}{\max} is \max_{i}; what stands over a relation only comments on it."""
        note, base = self.argument(token), Speller(self.argument(token)).all()
        if base and (base[0].text in RELATIONS or base[0].text == ":"):
            sign = ":=" if base[0].text == "=" and token.text != r"\underset" else base[0].text
            self.out.append(replace(base[0], text=sign))
        elif token.text == r"\underset" and len(base) == 1 and base[0].kind == "name":
            self.out.extend([base[0], replace(token, kind="symbol", text="_")])
            self.out.extend(self.with_braces(Speller(note).all(), token))
        else:
            raise fault(f"{token.text} changes the sign that it stands at; write the sign alone", token)

    def negated(self, token: Token) -> None:
        r"""\not= and \not\in."""
        sign = self.take() if self.place < len(self.tokens) else token
        signs = {"=": r"\ne", r"\in": r"\notin"}
        if sign.text not in signs:
            raise fault(r"\not goes before '=' or \in", token)
        self.out.append(replace(token, text=signs[sign.text]))

    def environment(self, token: Token) -> None:
        r"""\begin{name} and \end{name} as one token each; a column description goes."""
        name = "".join(part.text for part in self.argument(token))
        self.out.append(replace(token, text=f"{token.text}{{{name}}}", end=self.last_end()))
        if token.text == r"\begin" and name in ("array", "alignedat", "alignat", "alignat*"):
            self.argument(token)
        if token.text == r"\begin" and name in ("aligned", "pmatrix*", "bmatrix*", "gathered"):
            self.bracket()

    def newline(self, token: Token) -> None:
        r"""\\[2pt]: the skip goes."""
        self.out.append(token)
        self.bracket()

    def bracket(self) -> None:
        """Skip a [bracketed] option that follows without a gap."""
        if self.place < len(self.tokens) and self.tokens[self.place].text == "[" and not self.tokens[self.place].gap:
            while self.place < len(self.tokens) and self.take().text != "]":
                pass


def are_scripts(tokens: list[Token]) -> bool:
    """Are spelled tokens nothing but scripts of what stands before them?"""
    depth, is_owed = 0, False
    for token in tokens:
        if depth == 0 and not is_owed and token.text not in ("_", "^", "'"):
            return False
        depth += (token.text == "{") - (token.text == "}")
        is_owed = token.text in ("_", "^") if depth == 0 and not is_owed else depth > 0
    return True


Rule = Callable[[Speller, Token], None]
RULES: Final[tuple[tuple[frozenset[str] | set[str], Rule], ...]] = (
    (LETTERS, Speller.letter),
    ({"\\" + word for word in WORDS}, Speller.upright),
    (SPACES, Speller.space),
    (WIDE_SPACES, Speller.wide_space),
    (PLAIN_STYLES, Speller.plain_style),
    (WORD_STYLES, Speller.word_style),
    (TEXT_STYLES, Speller.text_style),
    (set(LETTER_STYLES), Speller.letter_style),
    (set(ACCENTS), Speller.accent),
    (SIZES | {r"\left", r"\right", r"\middle"}, Speller.size),
    (set(SILENT), Speller.silent),
    (set(CLEAR), Speller.clear),
    (BRACES, Speller.brace),
    ({r"\underset", r"\overset", r"\stackrel"}, Speller.under),
    ({r"\not"}, Speller.negated),
    ({r"\begin", r"\end"}, Speller.environment),
    ({r"\newline"}, Speller.newline),
    ({r"\substack"}, Speller.stack),
)
