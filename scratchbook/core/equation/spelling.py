r"""Spell tokens the one way that the parser reads: names with their accents, words, signs.

After this, \mathbf{x}, \vec x and x are one name, \left( is "(", \text{if} is a connective, and spaces are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from .errors import fault
from .speller import Speller
from .tokens import Token
from .vocabulary import DELIMITERS, SAME, SIZES

MAX_BRACES: Final = 64


def spell(tokens: list[Token]) -> list[Token]:
    """Return the tokens in the parser's own spelling.

    Raises EquationError for unknown commands, lone \\left or \\right, unclosed braces and styles without a letter.
    """
    check_braces(tokens)
    check_left_right(tokens)
    return put_partials(join_signs(Speller(tokens).all()))


def check_braces(tokens: list[Token]) -> None:
    """Refuse a brace without its partner, and nesting that nobody can read."""
    stack: list[Token] = []
    for token in tokens:
        if token.text == "{":
            stack.append(token)
            if len(stack) > MAX_BRACES:
                raise fault(f"braces nest deeper than {MAX_BRACES}; name a part and write it apart", token)
        elif token.text == "}":
            if not stack:
                raise fault("this brace closes nothing; drop it or add '{'", token)
            stack.pop()
    if stack:
        raise fault("this brace is never closed; add '}'", stack[-1])


def check_left_right(tokens: list[Token]) -> None:
    r"""Refuse \left without \right within the same braces and the same cell, as TeX does, and either without a
    delimiter."""
    stack: list[list[Token]] = [[]]
    for number, token in enumerate(tokens):
        if token.text == "{":
            stack.append([])
        elif token.text == "}":
            if len(stack) > 1 and stack[-1]:
                raise fault(r"\left is never closed; add \right and a delimiter", stack[-1][-1])
            stack = stack[:-1] or [[]]
        elif token.text in (r"\left", r"\right", r"\middle") or token.text in SIZES:
            follower = tokens[number + 1].text if number + 1 < len(tokens) else ""
            if SAME.get(follower, follower) not in DELIMITERS and follower not in DELIMITERS:
                raise fault(f"{token.text} needs a delimiter after it, such as '(' or '|'", token)
            if token.text == r"\left":
                stack[-1].append(token)
            elif token.text == r"\right":
                if not stack[-1]:
                    raise fault(r"\right closes nothing; add \left and a delimiter", token)
                stack[-1].pop()
    if stack[-1]:
        raise fault(r"\left is never closed; add \right and a delimiter", stack[-1][-1])


def is_ones(tokens: Sequence[Token]) -> bool:
    """Is the 1 at the end that of 1_n, a vector of ones, rather than a digit or a script?"""
    before = [Token("end", "", 0, 0)] * 2 + list(tokens[:-1])
    is_digit = before[-1].kind == "number" and before[-2].text not in ("_", "^")
    return not is_digit and before[-1].text not in ("_", "^", ".")


def join_signs(tokens: list[Token]) -> list[Token]:
    r"""Join what is written with two signs: := and =:, argmax, and \nabla f, which is one name."""
    joined: list[Token] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if last and last.text == ":" and token.text == "=":
            joined[-1] = replace(last, kind="command", text=":=", end=token.end)
        elif last and last.text == r"\nabla" and token.kind == "name":
            joined[-1] = replace(token, text=rf"\nabla{{{token.text}}}", start=last.start)
        elif last and last.text == "arg" and token.text in ("max", "min"):
            joined[-1] = replace(last, text="arg" + token.text, end=token.end)
        elif last and last.text in ("<", ">") and token.text == "=" and not token.gap:
            raise fault(f"'{last.text}=' shows two signs; write {chr(92)}{'le' if last.text == '<' else 'ge'}", last)
        elif token.text == "_" and last and last.text == "1" and is_ones(joined):
            joined[-1] = replace(last, kind="ones")
            joined.append(token)
        else:
            joined.append(token)
    return joined


def put_partials(tokens: list[Token]) -> list[Token]:
    r"""Put \frac{\partial u}{\partial t} for \partial_t u, where u is a name with no more than a subscript."""
    out: list[Token] = []
    place = 0
    while place < len(tokens):
        first, below = tokens[place], script_end(tokens, place + 1)
        end = script_end(tokens, below + 1)
        is_name = (
            first.text == r"\partial" and below > place + 1 and below < len(tokens) and tokens[below].kind == "name"
        )
        script = [token for token in tokens[place + 2 : below] if token.text not in ("{", "}")]
        is_one = [token.kind for token in script[:1]] == ["name"] and all(token.text == "_" for token in script[1:2])
        if is_name and is_one and (end == len(tokens) or tokens[end].text not in ("^", "(", "[", "'")):
            fraction, opener, closer = (replace(first, text=text) for text in (r"\frac", "{", "}"))
            lower = tokens[place + 2 : below]
            lower = lower[1:-1] if lower[0].text == "{" else lower
            out += [fraction, opener, first, *tokens[below:end], closer, opener, first, *lower, closer]
            place = end
        else:
            out.append(first)
            place += 1
    return out


def script_end(tokens: Sequence[Token], place: int) -> int:
    """The place behind the subscript that stands here, or this place."""
    if place + 1 >= len(tokens) or tokens[place].text != "_":
        return place
    depth, end = 0, place + 1
    while True:
        depth += (tokens[end].text == "{") - (tokens[end].text == "}")
        end += 1
        if depth == 0 or end == len(tokens):
            return end
