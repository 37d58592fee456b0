r"""The one spelling of a symbol, W_{g} for W_g and \mathbf{W}_{\mathrm g}, and its names in Python and in LaTeX."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from .errors import fault
from .pieces import closing, split_commas
from .spelling import spell
from .tokens import Macros, Token, read_tokens

ACCENT: Final = re.compile(
    r"\\(nabla|log|bar|hat|tilde|dot|ddot|check|breve|ring|acute|grave|mathcal|mathbb|mathfrak)\{(.*)\}$"
)
SCRIPTED: Final = re.compile(
    r"(?P<base>.*?)(?:_\{(?P<sub>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\})?(?:\^\{(?P<sup>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\})?(?P<primes>'*)$"
)

COMMAND_END: Final = re.compile(r"\\[A-Za-z]+$")

# Before a letter whose logarithm is a name of its own, as \log \pi that code takes.
LOGARITHMS: Final = ("log", "ln")

# Before a letter that is one name with it, as in \Delta W, unless it is a name itself.
CHANGE: Final = r"\Delta"
# Before what a running mean is of, as \mathbb{E}[g^2]_t.
MEANS: Final = (r"\mathbb{E}", "E")


# Behind the key of a name with an index when its letter alone is a number: N_k beside N.
BESIDE: Final = "•"

# Behind the base of a margin, as many as tell its dots: P_{i \\cdot} beside P_{\\cdot j}.
MARGIN: Final = "◦"


@dataclass(frozen=True)
class Scripts:
    """What stands at a base: the tokens below and above it, and its primes."""

    below: tuple[Token, ...] = ()
    above: tuple[Token, ...] = ()
    primes: int = 0


def key_of(base: str, below: Sequence[Token] = (), above: Sequence[Token] = (), primes: int = 0) -> str:
    """Join a base and its scripts to the one spelling of that name."""
    key = base
    if below:
        key += "_{" + flat(below) + "}"
    if above:
        key += "^{" + flat(above) + "}"
    return key + "'" * primes


def flat(tokens: Sequence[Token]) -> str:
    r"""The text of a script, without braces and spaces, and with | for \mid."""
    shown = (token for token in tokens if token.text not in ("{", "}") and token.kind != "space")
    return "".join("|" if token.text == r"\mid" else token.text.replace(" ", "-") for token in shown)


def group(tokens: Sequence[Token], place: int) -> tuple[tuple[Token, ...], int]:
    """The tokens of the group or the single token at a place, and the place after it."""
    first = tokens[place]
    if first.text != "{":
        return (first,), place + 1
    depth, end = 1, place + 1
    while end < len(tokens) and depth:
        depth += (tokens[end].text == "{") - (tokens[end].text == "}")
        end += 1
    return tuple(tokens[place + 1 : end - 1]), end


def read_scripts(tokens: Sequence[Token], place: int) -> tuple[Scripts, int]:
    """Read the scripts at a place, in any order, and the place after them."""
    below: tuple[Token, ...] = ()
    above: tuple[Token, ...] = ()
    primes = 0
    while place < len(tokens) and tokens[place].text in ("_", "^", "'"):
        sign = tokens[place]
        place += 1
        if sign.text == "'":
            primes += 1
            continue
        if place >= len(tokens) or tokens[place].text in ("}", "&", "_", "^"):
            raise fault(f"'{sign.text}' lacks its script; write {sign.text}{{...}}", sign)
        digits = tokens[place]
        if digits.kind == "number" and len(digits.text) > 1:
            shown = f"{sign.text}{digits.text}"
            raise fault(f"TeX puts only the first digit of '{shown}' there; write {sign.text}{{{digits.text}}}", digits)
        follower = tokens[place + 1] if place + 1 < len(tokens) else None
        is_longer = follower is not None and not follower.gap and follower.kind in ("name", "number")
        if tokens[place].text == "(" or (tokens[place].text == "-" and is_longer):
            raise fault(f"TeX puts only '{tokens[place].text}' there; write {sign.text}{{...}}", tokens[place])
        script, place = group(tokens, place)
        if script and all(token.text in (r"\prime", "'") for token in script):
            primes += len(script)
        elif sign.text == "_":
            below = once(below, script, sign)
        else:
            above = once(above, script, sign)
    return Scripts(below, above, primes), place


def once(found: tuple[Token, ...], script: tuple[Token, ...], sign: Token) -> tuple[Token, ...]:
    """A script, of which there may be one only, and which is not empty."""
    if found:
        raise fault(f"two scripts '{sign.text}' at one symbol; join them or use braces", sign)
    if not script:
        raise fault(f"an empty script; write {sign.text}{{...}} or drop it", sign)
    return script


def read_symbol(text: str, macros: Macros | None = None, *, is_value: bool = False) -> str:
    r"""Return the key of one symbol's LaTeX, such as \bar{x}, W_g, P_{\text{block}} or \frac{\partial L}{\partial z}.

    is_value: it has a value, so that f(x) is the name of that at x, and of no function.

    Raises EquationError when the text is more than one symbol.
    """
    tokens = spell(read_tokens(text, macros))
    if not tokens:
        raise fault("an empty name; write a symbol such as \\bar{x}")
    if tokens[0].text in LOGARITHMS and tokens[1:2] and tokens[1].kind == "name":
        tokens = [replace(tokens[1], text=rf"\log{{{tokens[1].text}}}"), *tokens[2:]]
    if tokens[0].text == r"\frac":
        upper, place = group(tokens, 1)
        lower, place = group(tokens, place)
        if place == len(tokens) and upper and lower:
            return derivative_key(symbol_key(upper[1:]), symbol_key(lower[1:]))
    whole = at_point(tokens, 0)
    if whole is not None and whole[1] == len(tokens) and (is_value or tokens[0].text.startswith(r"\nabla")):
        return whole[0]
    hessian = hessian_key(tokens, 0)
    if hessian is not None and hessian[1] == len(tokens):
        return hessian[0]
    if tokens[0].text == r"\nabla" and tokens[1:2] and tokens[1].text == "_":
        lower, place = group(tokens, 2)
        return derivative_key(symbol_key(tokens[place:]), symbol_key(lower))
    if tokens[0].text == "|" and tokens[-1].text == "|" and len(tokens) > 2:
        return "|" + symbol_key(tokens[1:-1]) + "|"
    return symbol_key(tokens)


def hessian_key(tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    r"""The key of \nabla^2 f, \nabla_x^2 f or \nabla\nabla f, and the place behind it; None for others."""
    if tokens[place].text != r"\nabla":
        return None
    scripts, end = read_scripts(tokens, place + 1)
    of = tokens[end] if end < len(tokens) else tokens[place]
    is_doubled = end == place + 1 and of.text.startswith(r"\nabla{")
    if of.kind != "name" or not (is_doubled or flat(scripts.above) == "2"):
        return None
    inner = of.text if is_doubled else rf"\nabla{{{of.text}}}"
    return rf"\nabla{'_' * bool(scripts.below)}{flat(scripts.below)}{{{inner}}}", end + 1


def mean_at(tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    r"""The base \mathbb{E}[g^2] of a name such as \mathbb{E}[g^2]_t, and the place behind it; None for others."""
    if tokens[place].text not in MEANS or place + 1 >= len(tokens) or tokens[place + 1].text != "[":
        return None
    end = closing(tokens, place + 1) + 1
    return (written(tokens[place:end]), end) if tokens[end - 1].text == "]" else None


def symbol_key(tokens: Sequence[Token]) -> str:
    """The key of tokens that are one symbol: a letter or word with its scripts, or a mean in brackets with them."""
    base, place = (mean_at(tokens, 0) if tokens else None) or ("", 0)
    while (
        place < len(tokens) and tokens[place].kind == "name" and (base in ("", CHANGE) or len(tokens[place].text) == 1)
    ):
        base += tokens[place].text
        place += 1
    if not base:
        at = tokens[0] if tokens else None
        raise fault(f"'{flat(tokens)}' is not a symbol; write a letter or a word, with its scripts", at)
    scripts, place = read_scripts(tokens, place)
    if place < len(tokens) and tokens[place].text == "(":
        function = latex_of(key_of(base, scripts.below, scripts.above, scripts.primes))
        count = len(split_commas(tokens[place + 1 : closing(tokens, place)]))
        marks = ", ".join(f"_{number + 1}" for number in range(count)) if count > 1 else "_"
        raise fault(
            f"'{flat(tokens)}' is a function at an argument; bind the function, '{function} = name({marks})', or "
            "declare a name without brackets",
            tokens[place],
        )
    if place < len(tokens):
        raise fault(f"'{flat(tokens)}' is more than one symbol; part them with commas", tokens[place])
    return key_of(base, scripts.below, scripts.above, scripts.primes)


def at_point(tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    r"""The key of \phi(x) or \nabla_w L(w_t), a name with its argument, and the place behind it; None for others."""
    start = place
    is_gradient = tokens[place].text.startswith(r"\nabla")
    if not is_gradient and tokens[place].kind != "name":
        return None
    _, place = read_scripts(tokens, place + 1)
    while is_gradient and place < len(tokens) and tokens[place].kind == "name":
        _, place = read_scripts(tokens, place + 1)
    if place - start < 2 and tokens[start].text == r"\nabla":
        return None
    if place >= len(tokens) or tokens[place].text != "(":
        return None
    end = closing(tokens, place) + 1
    inside = list(without_scripts(tokens[place:end]))
    if not is_gradient and any(
        token.kind == "number" and inside[number - 1].text not in ("+", "-") for number, token in enumerate(inside)
    ):
        return None  # f(2) is no name, f(s_{t+1}) and f(t-1) may be ones
    return (written(tokens[start:end]), end) if tokens[end - 1].text == ")" else None


def without_scripts(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens that stand in no script."""
    place = 0
    while place < len(tokens):
        if tokens[place].text in ("_", "^") and place + 1 < len(tokens):
            _, place = group(tokens, place + 1)
            continue
        yield tokens[place]
        place += 1


def written(tokens: Sequence[Token]) -> str:
    """The text of tokens, without braces around one of them and with no space but behind a command."""
    text, place = "", 0
    while place < len(tokens):
        inside, end = group(tokens, place)
        is_group = tokens[place].text == "{" and len(inside) > 1
        piece = f"{{{written(inside)}}}" if is_group else "".join(token.text for token in inside)
        text += " " * bool(COMMAND_END.search(text) and piece[:1].isalpha()) + piece
        place = end
    return text


def derivative_key(of: str, by: str) -> str:
    """The name of a derivative that code may compute."""
    return f"\\frac{{\\partial {of}}}{{\\partial {by}}}"


def split_key(key: str) -> tuple[str, str, str, str]:
    """Part a key into base, subscript, superscript and primes."""
    match = SCRIPTED.match(key)
    assert match is not None
    return match["base"], match["sub"] or "", match["sup"] or "", match["primes"]


def code_name(key: str) -> str:
    r"""The Python name of a symbol: \epsilon is epsilon, \bar{x} is bar_x, m_{t-1} is m_tm1, W^Q is W_Q."""
    if key.startswith(r"\frac"):
        upper, _, lower = key[len(r"\frac{\partial ") :].partition(r"}{\partial ")
        return f"d{code_name(upper)}_d{code_name(lower.removesuffix('}'))}"
    base, below, above, primes = split_key(key)
    changed = base.removeprefix(CHANGE) if base.startswith(CHANGE) else ""
    if changed:
        return f"Delta_{code_name(key.removeprefix(CHANGE))}"
    match = ACCENT.match(base)
    if match:
        accent, inner = match.groups()
        base = code_name(inner) if accent.startswith("math") else f"{accent}_{code_name(inner)}"
    name = "_".join(part for part in (plain(base), plain(below), plain(above)) if part) + "_prime" * len(primes)
    name = name or "symbol"
    return name + "_" if keyword.iskeyword(name) or name[0].isdigit() else name


def plain(text: str) -> str:
    """Letters, digits and underscores for a part of a name."""
    text = text.replace("+", "p").replace("-", "m").replace("*", "star").replace(",", "_").replace("'", "_prime")
    return re.sub(r"\W", "", text.replace("\\", ""))


def key_of_code(name: str) -> str:
    """The key that a plain Python name stands for: d_k is d_{k}, d_model is d_{model}."""
    base, _, below = name.partition("_")
    return f"{base}_{{{below.replace('_', ',')}}}" if base and below else name


def latex_of(key: str) -> str:
    """LaTeX that shows a key as an author would write it."""
    if key.startswith(r"\frac"):
        return key
    key = key.partition("←")[0]  # a version that an assignment makes has the name of the others
    key = key.replace(BESIDE, "").replace(MARGIN, "")
    base, below, above, primes = split_key(key)
    if base.startswith(CHANGE) and base != CHANGE:
        return f"{CHANGE} {latex_of(key.removeprefix(CHANGE))}"
    for sign in (r"\nabla", r"\log"):
        if base.startswith(f"{sign}{{") and base.endswith("}"):
            base = f"{sign} {base[len(sign) + 1 : -1]}"
    shown = (
        base
        if len(base) == 1 or "\\" in base or "|" in base or base.endswith(")")
        else rf"\operatorname{{{base}}}".replace("_", r"\_")
    )
    return shown + primes + script("_", below) + script("^", above)


def script(sign: str, text: str) -> str:
    """A script in braces only where it needs them; a word stands upright."""
    if not text:
        return ""
    if len(text) == 1:
        return sign + text
    return f"{sign}{{\\text{{{text}}}}}" if text.isalpha() and len(text) > 2 else f"{sign}{{{text}}}"
