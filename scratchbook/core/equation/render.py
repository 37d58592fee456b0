"""Write trees as LaTeX, with the brackets that a reader needs, or with every bracket to show how they were read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .algebra import Row
from .nodes import (
    Add,
    Binding,
    Call,
    Cases,
    Compare,
    Constant,
    Derivative,
    Family,
    Fraction,
    Index,
    Indicator,
    Join,
    Literal,
    Logic,
    Magnitude,
    Matrix,
    Multiply,
    Name,
    Negate,
    Node,
    Norm,
    Number,
    Parity,
    Power,
    Product,
    Reduce,
    Root,
    Slice,
    Stretch,
    Transpose,
    substitute,
)
from .symbols import latex_of, split_key
from .vocabulary import WORDS

# How tightly a node binds: sums 0, \odot 1, written products 2, runs 3, powers 4, atoms 5.
SUM, ELEMENTWISE, SIGN, RUN, SCRIPT, ATOM = range(6)
CONSTANTS: Final = {
    "pi": r"\pi",
    "e": "e",
    "infinity": r"\infty",
    "ones": r"\mathbf{1}",
    "zero": r"\mathbf{0}",
    "identity": "I",
}
OPERATORS: Final = {
    "sum": r"\sum", "prod": r"\prod", "max": r"\max", "min": r"\min", "argmax": r"\arg\max", "argmin": r"\arg\min",
    "mean": r"\mathbb{E}",
}  # fmt: skip
FUNCTIONS: Final = {"relu": r"\operatorname{ReLU}", "binomial": r"\binom", "identity": "I", "ones": r"\mathbf{1}"}


class Renderer:
    """Writes nodes.

    name: how a key is written.   digits: of numbers put in.   is_bracketed: put brackets around every sum and product.
    """

    def __init__(self, name: Callable[[str], str] = latex_of, *, digits: int = 4, is_bracketed: bool = False) -> None:
        self.name = name
        self.digits = digits
        self.is_bracketed = is_bracketed

    def write(self, node: Node, level: int = SUM) -> str:
        """The LaTeX of a node where at least this tightness is needed."""
        text, own = RULES[type(node)](self, node)
        if own < level or (self.is_bracketed and own < SCRIPT and level > SUM):
            return bracketed(text)
        return text


def bracketed(text: str) -> str:
    """Brackets around LaTeX, tall ones where it is tall."""
    is_tall = any(command in text for command in (r"\frac", r"\sum", r"\prod", r"\begin", r"\sqrt", r"\left"))
    return rf"\left({text}\right)" if is_tall else f"({text})"


def number(self: Renderer, node: Number) -> tuple[str, int]:
    value = node.value
    if isinstance(value, int):
        return (str(value), ATOM) if value >= 0 else (str(value), SUM)
    text = f"{value:.12g}"
    if "e" in text:
        digits, _, exponent = text.partition("e")
        return rf"{digits} \cdot 10^{{{int(exponent)}}}", SIGN
    return text, ATOM if value >= 0 else SUM


def literal(self: Renderer, node: Literal) -> tuple[str, int]:
    """A number rounded, a vector as a list, a matrix in brackets."""
    value = node.value.array if isinstance(node.value, Row) else node.value
    if np.ndim(value) == 0:
        text = rounded(value, self.digits)
        return text, SUM if text.startswith("-") else SIGN if "cdot" in text else ATOM
    if np.ndim(value) == 1:
        return f"[{', '.join(rounded(item, self.digits) for item in value)}]", ATOM
    if np.ndim(value) == 2:
        rows = r" \\ ".join(" & ".join(rounded(item, self.digits) for item in row) for row in value)
        return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}", ATOM
    return rf"\text{{array of {' by '.join(map(str, np.shape(value)))}}}", ATOM


def rounded(value: Any, digits: int) -> str:
    """A number with so many digits after the point; a whole number without a point."""
    value = np.real(value)
    if np.isinf(value):
        return r"-\infty" if value < 0 else r"\infty"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if value and not 10.0**-digits <= abs(value) < 10.0**9:
        mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
        if float(f"{mantissa}e{exponent}") == value:
            mantissa = mantissa.rstrip("0").rstrip(".")
        sign = {"1": "", "-1": "-"}.get(mantissa, rf"{mantissa} \cdot ")
        return rf"{sign}10^{{{int(exponent)}}}"
    text = f"{value:.{digits}f}"
    if float(text) == value and "." in text:  # an exact number needs no zeros behind it
        text = text.rstrip("0").rstrip(".")
    return text.removeprefix("-") if float(text) == 0 else text


def index(self: Renderer, node: Index) -> tuple[str, int]:
    inside = [self.write(part) for part in node.indices]
    is_short = all(len(text) == 1 for text in inside)
    below = "".join(inside) if is_short else ",".join(inside)
    base = node.base
    if isinstance(base, Name):
        stem, label, above, _ = split_key(base.key) if not base.key.startswith((r"\frac", "|")) else ("", "", "", "")
        if label or above or not stem:
            return rf"{{{self.name(base.key)}}}_{{{below}}}", SCRIPT
    tight = SCRIPT if isinstance(base, Call) and not base.is_bare else ATOM
    return rf"{self.write(base, tight)}_{{{below}}}", SCRIPT


def added(self: Renderer, node: Add) -> tuple[str, int]:
    text = ""
    for place, (term, sign) in enumerate(zip(node.terms, node.signs, strict=True)):
        text += ("-" if sign == "-" else "") if place == 0 else f" {sign} "
        text += self.write(term, ELEMENTWISE if place else SUM if isinstance(term, Literal) else ELEMENTWISE)
    return text, SUM


def product(self: Renderer, node: Product) -> tuple[str, int]:
    parts: list[str] = []
    for place, factor in enumerate(node.factors):
        is_last = place == len(node.factors) - 1
        needs = SCRIPT if not (is_last and isinstance(factor, Reduce)) else RUN
        text = self.write(factor, needs)
        # Two numbers side by side would read as one.
        is_number = text[:1].isdigit() or (text.startswith(r"\frac") and parts and parts[-1][-1:].isdigit())
        parts.append(rf"\cdot {text}" if place and is_number else text)
    return " ".join(parts), RUN if not any(part.startswith(r"\cdot") for part in parts) else SIGN


def multiply(self: Renderer, node: Multiply) -> tuple[str, int]:
    if node.sign == r"\odot":
        return rf"{self.write(node.left, ELEMENTWISE)} \odot {self.write(node.right, SIGN)}", ELEMENTWISE
    right = SCRIPT if node.sign == "/" else RUN
    sign = "/" if node.sign == "/" else f" {node.sign} "
    return f"{self.write(node.left, SIGN)}{sign}{self.write(node.right, right)}", SIGN


def power(self: Renderer, node: Power) -> tuple[str, int]:
    sign = r"\odot " if node.is_elementwise else ""
    if isinstance(node.base, Call) and not node.base.is_bare and node.base.base in WORDS:
        return rf"\left({self.write(node.base)}\right)^{{{sign}{self.write(node.exponent)}}}", SCRIPT
    base = node.base
    tight = self.write(base, ATOM) if not isinstance(base, Index | Name | Call | Norm) else self.write(base, SCRIPT)
    return f"{tight}^{{{sign}{self.write(node.exponent)}}}", SCRIPT


def transpose(self: Renderer, node: Transpose) -> tuple[str, int]:
    base = node.base
    tight = self.write(base, SCRIPT if isinstance(base, Index | Name | Call) else ATOM)
    return rf"{tight}^\top", SCRIPT


def root(self: Renderer, node: Root) -> tuple[str, int]:
    degree = f"[{self.write(node.degree)}]" if node.degree else ""
    return rf"\sqrt{degree}{{{self.write(node.body)}}}", SCRIPT


def norm(self: Renderer, node: Norm) -> tuple[str, int]:
    order = f"_{{{node.order}}}" if node.order else ""
    return rf"\lVert {self.write(node.body)} \rVert{order}", SCRIPT


def called(self: Renderer, node: Call) -> tuple[str, int]:
    name = FUNCTIONS.get(node.function) or (
        rf"\{node.function}" if node.function in WORDS else self.name(node.function)
    )
    if node.indices and node.function == node.base:
        name += f"_{{{','.join(self.write(part) for part in node.indices)}}}"
    if node.function in ("floor", "ceil"):
        return rf"\l{node.function} {self.write(node.arguments[0])} \r{node.function}", ATOM
    if node.function in ("identity", "ones"):
        return f"{name}_{{{','.join(self.write(part) for part in node.arguments)}}}", SCRIPT
    if node.function == "binomial":
        return rf"\binom{{{self.write(node.arguments[0])}}}{{{self.write(node.arguments[1])}}}", ATOM
    if node.function == "factorial":
        return f"{self.write(node.arguments[0], ATOM)}!", SCRIPT
    if node.function == "inner":
        return rf"\langle {', '.join(self.write(part) for part in node.arguments)} \rangle", ATOM
    return name + bracketed(", ".join(self.write(part) for part in node.arguments)), SCRIPT


def binding(self: Renderer, part: Binding) -> str:
    text = self.name(part.key)
    if part.members is not None:
        return rf"{text} \in {self.write(part.members)}"
    return f"{text}={self.write(part.low)}" if part.low is not None else text


def reduced(self: Renderer, node: Reduce) -> tuple[str, int]:
    below = [binding(self, part) for part in node.bindings]
    if node.weights is not None:
        below = [rf"{below[0]} \sim {self.write(node.weights)}"]
    if node.condition is not None:
        below = [
            *(
                text
                for part, text in zip(node.bindings, below, strict=True)
                if part.low is not None or part.members is not None
            ),
            self.write(node.condition),
        ]
    highs = list(dict.fromkeys(part.high for part in node.bindings if part.high is not None))
    if len(highs) > 1:
        highs = [part.high for part in node.bindings if part.high is not None]
    above = f"^{{{','.join(map(self.write, highs))}}}" if highs else ""
    operator = OPERATORS.get(node.operator, rf"\operatorname{{{node.operator}}}")
    if node.operator in ("mean", "list", "elements"):
        return rf"{operator}_{{{', '.join(below)}}}\left[{self.write(node.body)}\right]", SCRIPT
    return rf"{operator}_{{{', '.join(below)}}}{above} {self.write(node.body, ELEMENTWISE)}", RUN


def cases(self: Renderer, node: Cases) -> tuple[str, int]:
    rows = [
        rf"{self.write(row.value)} & "
        + (rf"\text{{{word}}} {self.write(row.condition)}" if row.condition else r"\text{otherwise}")
        for row, word in ((row, "else if " if row.is_else else "if ") for row in node.rows)
    ]
    text = r" \\ ".join(rows)
    return rf"\begin{{cases}} {text} \end{{cases}}", ATOM


def matrix(self: Renderer, node: Matrix) -> tuple[str, int]:
    name = "vmatrix" if node.is_determinant else "pmatrix"
    rows = r" \\ ".join(" & ".join(self.write(cell) for cell in row) for row in node.rows)
    return rf"\begin{{{name}}} {rows} \end{{{name}}}", ATOM


def compared(self: Renderer, node: Compare) -> tuple[str, int]:
    text = self.write(node.members[0])
    for sign, member in zip(node.relations, node.members[1:], strict=True):
        text += f" {sign} {self.write(member)}"
    return text, SUM


def family(self: Renderer, node: Family) -> tuple[str, int]:
    first, last = substitute(node.template, node.key, node.low), substitute(node.template, node.key, node.high)
    if node.operator == ",":
        return rf"{self.write(first)}, \ldots, {self.write(last)}", SUM
    if node.operator == "+":
        return rf"{self.write(first, ELEMENTWISE)} + \cdots + {self.write(last, ELEMENTWISE)}", SUM
    return rf"{self.write(first, SCRIPT)} \cdots {self.write(last, SCRIPT)}", RUN


def sliced(self: Renderer, node: Slice) -> tuple[str, int]:
    return f"{self.write(node.low) if node.low else ''}:{self.write(node.high) if node.high else ''}", ATOM


RULES: Final[dict[type[Node], Callable[[Renderer, Any], tuple[str, int]]]] = {
    Number: number,
    Literal: literal,
    Constant: lambda self, node: (CONSTANTS[node.name], ATOM),
    Name: lambda self, node: (self.name(node.key), SCRIPT if any(sign in node.key for sign in "_^'") else ATOM),
    Slice: sliced,
    Stretch: lambda self, node: RULES[type(node.body)](self, node.body),
    Index: index,
    Negate: lambda self, node: (f"-{self.write(node.body, ELEMENTWISE)}", SUM),
    Add: added,
    Product: product,
    Multiply: multiply,
    Fraction: lambda self, node: (rf"\frac{{{self.write(node.upper)}}}{{{self.write(node.lower)}}}", SCRIPT),
    Power: power,
    Transpose: transpose,
    Root: root,
    Norm: norm,
    Magnitude: lambda self, node: (rf"\lvert {self.write(node.body)} \rvert", ATOM),
    Call: called,
    Reduce: reduced,
    Cases: cases,
    Matrix: matrix,
    Join: lambda self, node: (
        f"[{('; ' if node.is_vertical else ', ').join(self.write(part) for part in node.parts)}]",
        ATOM,
    ),
    Family: family,
    Indicator: lambda self, node: (rf"\mathbb{{1}}[{self.write(node.condition)}]", ATOM),
    Compare: compared,
    Logic: lambda self, node: (rf" \text{{ {node.word} }} ".join(self.write(part) for part in node.parts), SUM),
    Parity: lambda self, node: (rf"{self.write(node.body)} \text{{ is {'even' if node.is_even else 'odd'}}}", SUM),
    Derivative: lambda self, node: (
        rf"\frac{{\partial}}{{\partial {self.write(node.by)}}} {self.write(node.of, SCRIPT)}",
        RUN,
    ),
}


def write(node: Node) -> str:
    """The LaTeX of a node."""
    return Renderer().write(node)
