r"""What a left side such as x_i, f(x)_i or \sigma^2 names: its base, scripts and arguments, and which key that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .lexicon import Lexicon, candidates
from .pieces import closing, is_bracketed, join_commas, split_commas, unwrapped
from .symbols import BESIDE, CHANGE, Scripts, derivative_key, flat, group, key_of, read_scripts
from .tokens import Token


@dataclass(frozen=True)
class Left:
    """A left side that is one name: its base and scripts, the arguments of a call, and an index after the call."""

    base: str
    scripts: Scripts
    arguments: tuple[Token, ...] | None
    after: tuple[Token, ...]


def read_left(tokens: Sequence[Token], lexicon: Lexicon) -> Left | None:
    """Read a left side that is one name; None when it is an expression."""
    if not tokens:
        return None
    if tokens[0].text == "{" and unwrapped(tokens) is not tokens:
        return read_left(unwrapped(tokens), lexicon)
    if tokens[0].text in ("(", "["):
        return read_left_in_brackets(tokens, lexicon)
    if tokens[0].text in (r"\frac", r"\nabla"):
        return read_left_derivative(tokens, lexicon)
    if tokens[0].text in ("|", r"\lvert") and tokens[-1].text in ("|", r"\rvert") and len(tokens) == 3:
        return Left(f"|{tokens[1].text}|", Scripts(), None, ())  # |\mathcal{A}| = n names the size of a set
    if tokens[0].kind != "name" or tokens[0].text == "arg":
        return None
    base, place = tokens[0].text, 1
    if base == CHANGE and CHANGE not in lexicon.variables and len(tokens) > 1 and tokens[1].kind == "name":
        base, place = base + tokens[1].text, 2
    while (
        place < len(tokens)
        and tokens[place].kind == "name"
        and len(base) >= 1
        and len(tokens[place].text) == 1
        and "\\" not in base
    ):
        base += tokens[place].text
        place += 1
    if (
        place > 1
        and "\\" not in base
        and base not in lexicon.words
        and all(letter in lexicon.variables for letter in base)
    ):
        return None
    scripts, place = read_scripts(tokens, place)
    arguments = None
    after: tuple[Token, ...] = ()
    if place < len(tokens) and tokens[place].text in ("(", "["):
        if tokens[-1].text not in (")", "]") and not any(token.text in (")", "]") for token in tokens[place:]):
            return None
        end = closing(tokens, place)
        arguments, place = tuple(tokens[place + 1 : end]), end + 1
        outer, place = read_scripts(tokens, place)
        if outer.above or outer.primes:
            return None
        after = outer.below
    return Left(base, scripts, arguments, after) if place == len(tokens) else None


def read_left_in_brackets(tokens: Sequence[Token], lexicon: Lexicon) -> Left | None:
    """(f(x))_i and [f(x)]_i as f(x)_i; None for brackets around anything but a call, or with no index behind them."""
    end = closing(tokens, 0)
    inner = read_left(tokens[1:end], lexicon)
    outer, place = read_scripts(tokens, end + 1)
    if inner is None or inner.arguments is None or inner.after or place != len(tokens):
        return None
    return None if outer.above or outer.primes or not outer.below else replace(inner, after=outer.below)


def read_left_derivative(tokens: Sequence[Token], lexicon: Lexicon) -> Left | None:
    r"""\frac{\partial L}{\partial z_{ti}} and \nabla_{z_{ti}} L as the name of a derivative with indices: those of L,
    then those of z."""
    named = derivative_parts(tokens, 0) if tokens[0].text == r"\frac" else gradient_parts(tokens)
    if named is None or named[2] != len(tokens):
        return None
    upper, lower = name_and_indices(named[0], lexicon), name_and_indices(named[1], lexicon)
    if upper is None or lower is None:
        return None
    below = join_commas([piece for piece in (upper[1], lower[1]) if piece])
    return Left(derivative_key(upper[0], lower[0]), Scripts(below), None, ())


def gradient_parts(tokens: Sequence[Token]) -> tuple[tuple[Token, ...], tuple[Token, ...], int] | None:
    r"""The L and the z of a left side \nabla_z L, and the place after it; None for any other."""
    scripts, place = read_scripts(tokens, 1)
    if not scripts.below or scripts.above or scripts.primes or place >= len(tokens):
        return None
    return tuple(tokens[place:]), scripts.below, len(tokens)


def name_and_indices(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[str, tuple[Token, ...]] | None:
    """The key of tokens that are one name, and the tokens of its indices; None when they are more."""
    if not tokens or tokens[0].kind != "name":
        return None
    base, place = lexicon.word_at(tokens, 0)
    scripts, place = read_scripts(tokens, place)
    if place != len(tokens):
        return None
    key, below, above = resolve_left(lexicon, Left(base, scripts, None, ()))
    return None if key is None or above else (key, below)


def derivative_parts(tokens: Sequence[Token], place: int) -> tuple[tuple[Token, ...], tuple[Token, ...], int] | None:
    r"""The two sides of a \frac that is a derivative, without their signs, and the place after it; None for any other
    fraction."""
    if place + 1 >= len(tokens) or tokens[place + 1].text != "{":
        return None
    upper, place = group(tokens, place + 1)
    if place >= len(tokens) or tokens[place].text != "{":
        return None
    lower, place = group(tokens, place)
    if len(lower) < 2 or not upper or upper[0].text not in (r"\partial", "d") or lower[0].text != upper[0].text:
        return None
    if lower[1].kind != "name":
        return None
    return upper[1:], lower[1:], place


def resolve_left(lexicon: Lexicon, left: Left) -> tuple[str | None, tuple[Token, ...], tuple[Token, ...]]:
    """The key that a left side defines, and its index tokens: below, and within brackets above."""
    scripts = left.scripts
    for below, above, rest_below, rest_above in candidates(scripts):
        key = key_of(left.base, below, above, scripts.primes)
        if rest_below and not rest_above and lexicon.knows(key + BESIDE):
            return key + BESIDE, rest_below, ()
        if not lexicon.knows(key) or ((rest_below or rest_above) and not lexicon.has_elements(key)):
            continue
        if rest_below and not rest_above and lexicon.is_fresh(left.base, rest_below):
            continue
        if rest_below and lexicon.is_label(rest_below) and (lexicon.is_number_beside(key) or key in lexicon.functions):
            continue  # L_\delta beside a number L, R_m beside a function R
        if left.arguments is None and key in lexicon.functions and rest_below and not rest_above:
            return key + BESIDE, rest_below, ()  # f_i = f(x_i)
        if len(split_commas(rest_below)) > lexicon.axes.get(key, 99):
            continue  # x_{t+1,i} beside a vector x
        if is_bracketed(rest_above) and lexicon.is_strange(rest_above):
            continue
        if not rest_above:
            return key, rest_below, ()
        if is_bracketed(rest_above) or key in lexicon.upper:
            return key, rest_below, rest_above
    above = scripts.above
    if flat(above) in ("T", r"\top", "-1"):
        return None, (), ()
    label, index = lexicon.split_below(left.base, scripts.below)
    if index and not above and lexicon.is_number_beside(key_of(left.base, label, (), scripts.primes)):
        return key_of(left.base, label, (), scripts.primes) + BESIDE, index, ()
    if is_bracketed(above) and not lexicon.is_label(unwrapped(above)):
        return key_of(left.base, label, (), scripts.primes), index, above
    base = key_of(left.base, label, (), scripts.primes)
    if len(above) == 1 and flat(above) in lexicon.indices and not lexicon.knows(base) and base not in lexicon.bare:
        return base, index, above
    return key_of(left.base, label, above, scripts.primes), index, ()


def is_labelled(left: Left, lexicon: Lexicon) -> bool:
    """Has a left side no index, or a label before its indices, as x_1 and x_{1,j} have?"""
    return not left.scripts.below or bool(lexicon.split_below(left.base, left.scripts.below)[0])
