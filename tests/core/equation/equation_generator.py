"""Random expressions, each with its value computed directly and printed in one of many LaTeX styles.

The value is computed by NumPy while the expression grows, and never from the LaTeX, so that the two ways share nothing.
"""

from dataclasses import dataclass

import numpy as np

# How tightly an expression binds: sums 0, written products 1, runs of factors 2, powers 3, atoms 4.
SUM, SIGN, RUN, SCRIPT, ATOM = range(5)


@dataclass
class Expression:
    """LaTeX with its value.  rank: 0 a number, 1 a vector, 2 a square matrix."""

    latex: str
    value: object
    level: int
    rank: int = 0


class Generator:
    """Draws expressions over the numbers a, b, c, the vectors x, y and the square matrices A, B of size n."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.n = int(self.random.choice([3, 5]))
        random, n = self.random, self.n
        self.numbers = {name: np.float64(random.uniform(0.4, 1.6)) for name in "abc"} | {
            r"\gamma": np.float64(0.7),
            r"\beta_1": np.float64(0.9),
        }
        self.vectors = {name: random.uniform(0.4, 1.6, n) for name in ("x", "y", r"\hat{z}")}
        self.matrices = {name: random.normal(0.2, 0.8, (n, n)) for name in ("A", "B", "W_q")}
        self.index = ""

    def pick(self, *choices):
        """One of the choices."""
        return choices[int(self.random.integers(len(choices)))]

    def at(self, expression, level):
        """The LaTeX of an expression where this tightness is needed, with brackets of some style."""
        if expression.level >= level:
            return expression.latex
        opening, closing = self.pick(
            ("(", ")"), (r"\left(", r"\right)"), ("[", "]"), (r"\bigl(", r"\bigr)"), (r"\left[", r"\right]")
        )
        return f"{opening}{expression.latex}{closing}"

    def equation(self):
        """An equation of the name u with a random right side, its value, and the values of all symbols."""
        rank = self.pick(0, 0, 0, 1, 2)
        right = self.expression(int(self.random.integers(1, 5)), rank)
        return f"u {self.pick('=', '&=', ':=')} {right.latex}{self.pick('', '.', ' ,')}", right.value, self.symbols()

    def symbols(self):
        """The values of all symbols by their names in Python."""
        names = {r"\gamma": "gamma", r"\beta_1": "beta_1", r"\hat{z}": "hat_z"}
        return {names.get(name, name): value for name, value in (self.numbers | self.vectors | self.matrices).items()}

    def expression(self, depth, rank=0):
        """A random expression of a rank."""
        if depth <= 0:
            return self.leaf(rank)
        rules = {
            0: (
                self.added,
                self.multiplied,
                self.divided,
                self.powered,
                self.applied,
                self.summed,
                self.inner,
                self.rooted,
                self.scaled,
            ),
            1: (self.added, self.elementwise, self.matrix_vector, self.scaled, self.applied, self.leaf_of),
            2: (self.added, self.matrix_matrix, self.transposed, self.scaled, self.outer, self.leaf_of),
        }[rank]
        return self.pick(*rules)(depth, rank)

    def leaf_of(self, depth, rank):
        return self.leaf(rank)

    def leaf(self, rank):
        """A symbol or a number."""
        if rank == 1:
            name = self.pick(*self.vectors)
            return Expression(self.styled(name), self.vectors[name], ATOM, 1)
        if rank == 2:
            name = self.pick(*self.matrices)
            return Expression(self.styled(name), self.matrices[name], ATOM, 2)
        if self.random.random() < 0.2:
            number = self.pick("2", "3", "0.5", "10", "1.25")
            return Expression(number, np.float64(number), ATOM)
        name = self.pick(*self.numbers)
        return Expression(self.styled(name), self.numbers[name], ATOM)

    def styled(self, name):
        """A name in bold, in braces, or as it is."""
        if len(name) == 1:
            return self.pick(name, name, rf"\mathbf{{{name}}}", rf"\boldsymbol {name}", f"{{{name}}}")
        return name.replace("_1", self.pick("_1", "_{1}")).replace("_q", self.pick("_q", "_{q}", r"_{\mathrm{q}}"))

    def added(self, depth, rank):
        """A sum or a difference."""
        parts = [self.expression(depth - 1, rank) for _ in range(int(self.random.integers(2, 4)))]
        text, value = self.at(parts[0], SIGN), parts[0].value
        for part in parts[1:]:
            sign = self.pick("+", "-")
            text += self.pick(f" {sign} ", sign) + self.at(part, SIGN)
            value = value + part.value if sign == "+" else value - part.value
        return Expression(text, value, SUM, rank)

    def multiplied(self, depth, rank):
        """A product of numbers, side by side or with a sign."""
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if self.random.random() < 0.5:
            sign = self.pick(r" \cdot ", r" \times ", r"\,\cdot\,")
            return Expression(self.at(left, SIGN) + sign + self.at(right, RUN), left.value * right.value, SIGN)
        tight = self.at(right, SCRIPT)
        if tight[:1].isdigit() or (tight.startswith(r"\frac") and left.latex[-1:].isdigit()):
            tight = f"({right.latex})"
        return Expression(self.at(left, SCRIPT) + self.pick(" ", r"\,", r"\;") + tight, left.value * right.value, RUN)

    def divided(self, depth, rank):
        """A fraction or a slash."""
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        value = left.value / right.value
        if self.random.random() < 0.6:
            command = self.pick(chr(92) + "frac", chr(92) + "dfrac", chr(92) + "tfrac")
            return Expression(
                rf"{command}{{{left.latex}}}{{{right.latex}}}",
                value,
                ATOM,
            )
        return Expression(f"{self.at(left, RUN)}{self.pick('/', ' / ')}{self.at(right, ATOM)}", value, SIGN)

    def powered(self, depth, rank):
        """A power with a small exponent."""
        base = self.expression(depth - 1)
        exponent, number = self.pick(("2", 2), ("3", 3), ("{-1}", -1), ("{-2}", -2))
        return Expression(f"{self.at(base, ATOM)}^{exponent}", base.value**number, SCRIPT)

    def rooted(self, depth, rank):
        """The root of a square plus something positive."""
        body = self.expression(depth - 1)
        text = f"{self.at(body, ATOM)}^2 + 1"
        return Expression(rf"\sqrt{{{text}}}", np.sqrt(body.value**2 + 1), ATOM)

    def applied(self, depth, rank):
        """A function, with or without brackets."""
        body = self.expression(depth - 1, rank)
        name, function = self.pick(
            (r"\tanh", np.tanh),
            (r"\sin", np.sin),
            (r"\cos", np.cos),
            (r"\sigma", lambda z: 1 / (1 + np.exp(-z))),
            (r"\operatorname{ReLU}", lambda z: np.maximum(z, 0)),
        )
        if (
            name in (r"\sin", r"\cos", r"\tanh")
            and body.level == ATOM
            and body.latex[:1].isalpha()
            and self.random.random() < 0.5
        ):
            return (
                Expression(f"{name} {body.latex}", function(body.value), RUN, rank)
                if len(body.latex) == 1
                else self.called(name, function, body, rank)
            )
        return self.called(name, function, body, rank)

    def called(self, name, function, body, rank):
        """A function with brackets of some style."""
        opening, closing = self.pick(
            ("(", ")"), (r"\left(", r"\right)"), (r"\left[", r"\right]"), (r"\bigl\{", r"\bigr\}")
        )
        return Expression(f"{name}{opening}{body.latex}{closing}", function(body.value), SCRIPT, rank)

    def summed(self, depth, rank):
        """A sum over the elements of vectors, with a factor that does not run."""
        factor = self.leaf(0)
        one, other = self.pick(*self.vectors), self.pick(*self.vectors)
        j = self.pick("j", "k", "i")
        below = self.pick(f"_{j}", f"_{{{j}=1}}^{{n}}", f"_{{{j}=1}}^n", rf"_{{1 \le {j} \le n}}", f"_{{{j}}}")
        body = (
            f"{self.at(factor, SCRIPT)} {one}_{j} {other}_{{{j}}}"
            if factor.latex[:1].isalpha()
            else f"{one}_{j}^2 {other}_{j}"
        )
        value = (
            factor.value * self.vectors[one] @ self.vectors[other]
            if factor.latex[:1].isalpha()
            else self.vectors[one] ** 2 @ self.vectors[other]
        )
        return Expression(rf"\sum{below} {body}", np.float64(value), SIGN - 1)

    def inner(self, depth, rank):
        """An inner product in one of its spellings."""
        one, other = self.expression(depth - 1, 1), self.leaf(1)
        value = np.float64(one.value @ other.value)
        kind = self.pick("dot", "top", "angle")
        if kind == "dot":
            return Expression(rf"{self.at(one, RUN)} \cdot {other.latex}", value, SUM)
        if kind == "top":
            return Expression(
                rf"{self.at(one, ATOM)}^{self.pick(chr(92) + 'top', '{' + chr(92) + 'top}', 'T')} {other.latex}",
                value,
                RUN,
            )
        return Expression(rf"\langle {one.latex}, {other.latex} \rangle", value, ATOM)

    def elementwise(self, depth, rank):
        r"""\odot, or a quotient element by element."""
        one, other = self.expression(depth - 1, 1), self.expression(depth - 1, 1)
        return Expression(rf"{self.at(one, SIGN)} \odot {self.at(other, SIGN)}", one.value * other.value, SUM, 1)

    def matrix_vector(self, depth, rank):
        """A matrix at a vector, from the left or from the right."""
        matrix, vector = self.expression(depth - 1, 2), self.expression(depth - 1, 1)
        if self.random.random() < 0.5:
            return Expression(
                f"{self.at(matrix, SCRIPT)} {self.at(vector, SCRIPT)}", matrix.value @ vector.value, RUN, 1
            )
        return Expression(f"{self.at(vector, SCRIPT)} {self.at(matrix, SCRIPT)}", vector.value @ matrix.value, RUN, 1)

    def matrix_matrix(self, depth, rank):
        """A product of matrices."""
        one, other = self.expression(depth - 1, 2), self.expression(depth - 1, 2)
        return Expression(f"{self.at(one, SCRIPT)} {self.at(other, SCRIPT)}", one.value @ other.value, RUN, 2)

    def transposed(self, depth, rank):
        """A transpose in one of its spellings."""
        matrix = self.expression(depth - 1, 2)
        sign = self.pick(r"^\top", r"^{\top}", "^T", r"^{\mathsf{T}}", r"^\T")
        return Expression(self.at(matrix, ATOM) + sign, matrix.value.T, SCRIPT, 2)

    def outer(self, depth, rank):
        """x y^T."""
        one, other = self.leaf(1), self.leaf(1)
        return Expression(rf"{one.latex} {other.latex}^\top", np.outer(one.value, other.value), RUN, 2)

    def scaled(self, depth, rank):
        """A number times an expression."""
        number, body = self.leaf(0), self.expression(depth - 1, rank)
        tight = self.at(body, SCRIPT)
        if tight[:1].isdigit() or tight.startswith((r"\frac", r"\dfrac", r"\tfrac")):
            tight = f"({body.latex})"
        return Expression(f"{number.latex} {tight}", number.value * body.value, RUN, rank)


NOTATION = r"""
a, b, c, \gamma, \beta_1: positive
x, y, \hat{z}: vector(n)
A, B, W_q: matrix(n, n)
"""
