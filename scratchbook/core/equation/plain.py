"""Read formulas in plain text, H = X + Attention(LN(X)) W₁: words are names, Unicode digits are scripts."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from decimal import Decimal
from typing import Final

from .errors import fault
from .notation import Notation
from .symbols import key_of_code, split_key
from .tokens import CHARACTERS, GREEK, MAX_CHARACTERS, Token, cut
from .vocabulary import SAME

BELOW: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₐₑᵢⱼₖₘₙₜᵥₓ", "0123456789+-aeijkmntvx", strict=True))
ABOVE: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ", "0123456789+-T", strict=True))
# Python takes scripts for parts of a word.
LETTER: Final = rf"[^\W{''.join([*BELOW, *ABOVE])}]"
WORD: Final = re.compile(
    rf"""(?P<space>\s+)
      | (?P<comment>\#[^\n]*)
      | (?P<below>[{''.join(BELOW)}]+)
      | (?P<above>[{''.join(ABOVE)}]+)
      | (?P<word>(?![\d_]){LETTER}(?:{LETTER}*(?!_){LETTER})?)
      | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)
      | (?P<power>\*\*)
      | (?P<symbol>.)""",
    re.VERBOSE | re.DOTALL,
)
GREEK_WORDS: Final = frozenset(GREEK.values())


def plain_tokens(text: str, notation: Notation) -> list[Token]:
    """Cut plain text into the tokens that the parser reads.

    Raises EquationError for what is too long.
    """
    if len(text) > MAX_CHARACTERS:
        raise fault(f"a formula of {len(text)} characters is over the limit of {MAX_CHARACTERS}; split it")
    codes = {symbol.code: symbol.key for symbol in notation.symbols.values()}
    tokens: list[Token] = []
    for match in WORD.finditer(text):
        kind, piece = match.lastgroup or "symbol", match.group()
        start, end = match.span()
        if kind == "word":
            tokens += word_tokens(piece, start, end, codes)
        elif kind == "number":
            tokens += number_tokens(piece, start, end)
        elif kind in ("below", "above"):
            tokens += script_tokens(piece, start, end)
        elif kind == "power":
            tokens.append(Token("symbol", "^", start, end))
        elif kind == "symbol":
            tokens += sign_tokens(piece, start, end)
        elif "\n" in piece:
            tokens.append(Token("newline", r"\\", start, end))
    return grouped_powers(join_assign(tokens))


def word_tokens(word: str, start: int, end: int, codes: dict[str, str]) -> list[Token]:
    """A word as a name with its scripts: a symbol by its name in the code, a Greek letter by its word, else as it
    stands."""
    key = codes.get(word) or (key_of_code(word) if "_" in word else word)
    base, below, above, primes = split_key(key)
    if base in GREEK_WORDS or base in GREEK:
        base = "\\" + GREEK.get(base, base)
    tokens = [Token("name", base, start, end)]
    for sign, script in (("_", below), ("^", above)):
        if script:
            tokens += [Token("symbol", sign, start, end), Token("symbol", "{", start, end)]
            tokens += [
                replace(token, kind="name" if token.kind in ("letter", "command") else token.kind, start=start, end=end)
                for token in whole(script)
            ]
            tokens.append(Token("symbol", "}", start, end))
    return tokens + [Token("symbol", "'", start, end)] * len(primes)


def whole(script: str) -> list[Token]:
    """A script's tokens; a word stays one."""
    return [Token("name", script, 0, 0)] if script.isalpha() and len(script) > 1 else list(cut(script))


def number_tokens(piece: str, start: int, end: int) -> list[Token]:
    """A number; 1e-5 is a number here, as in code.   Raises EquationError for one that code would not keep."""
    if "e" in piece.lower():
        token = Token("number", piece, start, end)
        value, digits = float(piece), re.split("[eE]", piece)[0]
        if math.isinf(value) or (value == 0 and float(digits)):
            raise fault(f"'{piece}' is {value:g} in floating point; write a number between 1e-323 and 1e308", token)
        piece = format(Decimal(repr(value)), "f")
    return [Token("number", piece, start, end)]


def script_tokens(piece: str, start: int, end: int) -> list[Token]:
    """Unicode subscripts and superscripts."""
    table, sign = (BELOW, "_") if piece[0] in BELOW else (ABOVE, "^")
    text = "".join(table[character] for character in piece)
    inside = [
        Token(
            "number" if token.kind == "number" else "name" if token.kind == "letter" else token.kind,
            token.text,
            start,
            end,
        )
        for token in cut(text)
    ]
    return [
        Token("symbol", sign, start, end),
        Token("symbol", "{", start, end),
        *inside,
        Token("symbol", "}", start, end),
    ]


def sign_tokens(piece: str, start: int, end: int) -> list[Token]:
    """One sign."""
    if piece == "@":
        return []
    text = CHARACTERS.get(piece, piece)
    text = SAME.get(text, text)
    if text == "^⊤":
        return [Token("symbol", "^", start, end), Token("command", r"\top", start, end)]
    return [Token("command" if text.startswith("\\") else "symbol", text, start, end)]


def join_assign(tokens: list[Token]) -> list[Token]:
    """<=, >=, != and := as one sign."""
    joined: list[Token] = []
    pairs = {("<", "="): r"\le", (">", "="): r"\ge", ("!", "="): r"\ne", (":", "="): ":="}
    for token in tokens:
        sign = pairs.get((joined[-1].text, token.text)) if joined else None
        if sign and joined[-1].end == token.start:
            joined[-1] = replace(joined[-1], kind="command", text=sign, end=token.end)
        else:
            joined.append(token)
    return joined


def grouped_powers(tokens: list[Token]) -> list[Token]:
    """x^10 is x to the tenth here: a number or a bracket behind '^' becomes a group."""
    grouped: list[Token] = []
    for place, token in enumerate(tokens):
        before = tokens[place - 1].text if place else ""
        if before in ("^", "_") and token.kind == "number":
            grouped += [replace(token, kind="symbol", text="{"), token, replace(token, kind="symbol", text="}")]
        else:
            grouped.append(token)
    return braced_brackets(grouped)


def braced_brackets(tokens: list[Token]) -> list[Token]:
    """x^(1/2) and x^-2: braces around what is raised."""
    result: list[Token] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        result.append(token)
        place += 1
        if token.text != "^" or place >= len(tokens) or tokens[place].text not in ("(", "-"):
            continue
        end = place + 1
        if tokens[place].text == "(":
            depth = 1
            while end < len(tokens) and depth:
                depth += (tokens[end].text == "(") - (tokens[end].text == ")")
                end += 1
            inside = tokens[place + 1 : end - 1]
        else:
            while end < len(tokens) and (tokens[end].kind in ("number", "name") or tokens[end].text in ("{", "}")):
                end += 1
            inside = [part for part in tokens[place:end] if part.text not in ("{", "}")]
        result += [replace(token, text="{"), *inside, replace(token, text="}")]
        place = end
    return result
