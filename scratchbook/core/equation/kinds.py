"""The kinds of symbols: what values each has, the sizes of its axes, and how a kind is written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from .errors import fault
from .symbols import code_name, read_symbol
from .tokens import Macros

# Each kind and how many arguments it takes.
KINDS: Final = {
    "scalar": (0, 0), "positive": (0, 4), "unit": (0, 4), "int": (1, 1), "vector": (1, 1), "matrix": (2, 2),
    "tensor": (3, 4), "set": (1, 2),
    "simplex": (1, 3), "onehot": (1, 2), "ints": (2, 3), "binary": (0, 3), "sign": (0, 3), "mask": (2, 2),
    "index": (0, 1),
    "dim": (0, 1), "symmetric": (1, 1), "posdef": (1, 1), "diagonal": (1, 1), "orthogonal": (1, 1),
}  # fmt: skip
# Kinds of real numbers that may be kept between two bounds, and the widest ones.
BOUNDED: Final = {"scalar": (-1e6, 1e6), "positive": (0.0, 1e6), "unit": (0.0, 1.0)}
SQUARE: Final = frozenset(["symmetric", "posdef", "diagonal", "orthogonal"])
# What a reader calls one of a kind, and several in an array.
WORDS: Final = {
    "scalar": ("number", "numbers"), "positive": ("positive number", "positive numbers"),
    "unit": ("number between 0 and 1", "numbers between 0 and 1"), "int": ("integer", "integers"),
    "dim": ("size", "sizes"), "binary": ("zero or one", "zeros and ones"),
    "set": ("member", "whole numbers"),
    "sign": ("one or minus one", "ones and minus ones"), "simplex": ("shares", "shares that sum to one"),
    "onehot": ("one-hot", "one-hot"), "symmetric": ("symmetric", "symmetric matrix"),
    "posdef": ("positive definite", "positive definite matrix"), "diagonal": ("diagonal", "diagonal matrix"),
    "orthogonal": ("orthogonal", "orthogonal matrix"),
}  # fmt: skip
RANGE: Final = re.compile(r"(.+?)\.\.(.+)$")
# The number of 2N and 2(n + 1), which is no Python; 2e5 and 0x1F are.
MULTIPLE: Final = re.compile(r"(?<!\w)(?<!\d\.)(?!0[box])(\d+)(?![eE]\d|[jJ]\b) ?(?=[A-Za-z(])")
FACTOR: Final = re.compile(r"(?:(\d+)\s*(?:\\times|\\cdot|\*)?)?\s*(.*)$", re.DOTALL)
IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z_0-9]*")


@dataclass(frozen=True)
class Kind:
    """What values a symbol takes.  name: a key of KINDS.   arguments: Python text in code names, such as 'h*d_k'."""

    name: str
    arguments: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # sizes written in LaTeX: code name and key
    bounds: tuple[float, float] | None = None  # of unit(n, 0.1..0.5)

    @property
    def shape(self) -> tuple[str, ...]:
        """The sizes of the axes, as Python text; empty for a number."""
        if self.name in ("scalar", "int", "index", "dim"):
            return ()
        if self.name in SQUARE:
            return self.arguments * 2
        return self.arguments[:-1] if self.name == "ints" else self.arguments

    @property
    def said(self) -> str:
        """What a symbol is, in a reader's words.  How large an integer is drawn is the checker's business alone."""
        one, many = WORDS.get(self.name, (self.name, self.name))
        if self.name == "ints":
            many = f"integers below {self.arguments[-1]}"
        if self.shape:
            return f"{many} ({', '.join(self.shape)})"
        return ", ".join([one, *(text.replace("..", " to ") for text in self.arguments if self.name != "int")])

    def __str__(self) -> str:
        arguments = [*self.arguments, *([f"{self.bounds[0]:g}..{self.bounds[1]:g}"] if self.bounds else [])]
        return f"{self.name}({', '.join(arguments)})" if arguments else self.name


def sizes_named(kind: Kind) -> list[str]:
    """The names in a kind's arguments."""
    words = [word for argument in kind.arguments for word in IDENTIFIER.findall(argument)]
    return [word for word in words if word not in ("even", "odd")]


def read_kind(text: str, macros: Macros | None = None) -> Kind:
    """Read a kind such as vector(d), int(1..9) or dim(even)."""
    name, paren, rest = text.partition("(")
    name = name.strip()
    if name not in KINDS:
        raise fault(f"'{name}' is not a kind; choose from {', '.join(sorted(KINDS))}")
    inside, closing, behind = part_bracket(rest)
    if paren and not closing:
        raise fault(f"the kind '{text}' lacks its ')'")
    if behind.strip():
        fact = f"'{behind.strip()}' stands behind the kind {text.removesuffix(behind)}"
        raise fault(f"{fact}; write a line for each symbol, and ' -- ' before its meaning")
    pieces = split_top(inside, ",") if inside.strip() else []
    bounds = read_bounds(name, pieces.pop()) if name in BOUNDED and pieces and ".." in pieces[-1] else None
    arguments = tuple(python_text(piece, macros) for piece in pieces)
    keys = tuple((code_name(key), key) for piece in pieces if (key := key_in(piece, macros)))
    low, high = KINDS[name]
    if not low <= len(arguments) <= high:
        wanted = f"{low} to {high} arguments" if low != high else f"{low} argument{'s' * (low != 1)}"
        raise fault(f"the kind {name} takes {wanted}, not {len(arguments)}")
    return Kind(name, arguments, keys, bounds)


def read_bounds(name: str, text: str) -> tuple[float, float]:
    """The numbers between which one of a kind lies, from 0.1..0.5."""
    low, _, high = text.partition("..")
    try:
        bounds = float(low), float(high)
    except ValueError:
        raise fault(f"the bounds '{text}' of {name} must be numbers, as in {name}(0.1..0.5)") from None
    least, most = BOUNDED[name]
    if not least <= bounds[0] < bounds[1] <= most:
        within = "" if name == "scalar" else f" and lie between {least:g} and {most:g}"
        raise fault(f"the bounds '{text}' of {name} must rise{within}")
    return bounds


def python_text(text: str, macros: Macros | None) -> str:
    r"""A size in code names: d_{\text{model}} is d_model and 2N is 2*N; n*d_k stays."""
    key = key_in(text, macros)
    if not key:
        return MULTIPLE.sub(r"\1*", text.strip()).replace("^", "**")
    factor, _ = factor_of(text)
    return f"{factor}*{code_name(key)}" if factor else code_name(key)


def key_in(text: str, macros: Macros | None) -> str:
    """The key of the symbol that a size is, or a multiple of; nothing for one in Python."""
    return read_symbol(factor_of(text)[1], macros) if "\\" in text or "{" in text else ""


def factor_of(text: str) -> tuple[str, str]:
    r"""The number before a symbol, as in 2d_{\text{in}}, and the symbol."""
    match = FACTOR.match(text.strip())
    assert match is not None
    return match[1] or "", match[2]


def split_top(text: str, sign: str) -> list[str]:
    """Part a text at a sign that stands outside brackets."""
    depth, pieces = 0, [""]
    for character in text:
        depth += (character in "{([") - (character in "})]")
        if character == sign and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return [piece.strip() for piece in pieces]


def part_bracket(text: str) -> tuple[str, str, str]:
    """Part a text at the bracket that closes what was opened before it: what is inside, the bracket, what is behind."""
    depth = 1
    for place, character in enumerate(text):
        depth += (character in "{([") - (character in "})]")
        if depth == 0:
            return text[:place], character, text[place + 1 :]
    return text, "", ""
