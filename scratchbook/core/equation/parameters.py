r"""A parameter that is written as a power: \sigma^2 of \mathcal{N}(x \mid \mu, \sigma^2) = ..., and \beta^{-1}."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .errors import fault
from .nodes import Literal, Name, Negate, Node, Number, Power, Root
from .symbols import latex_of

if TYPE_CHECKING:
    from .algebra import Value
    from .evaluator import Evaluator


def given(
    self: Evaluator, parameters: Sequence[Node], values: Sequence[Value], written: Sequence[Node] = ()
) -> dict[str, Value]:
    r"""What each parameter gives a value in the body: \sigma^2 itself, and \sigma as its root.

    written: the arguments as they stand; where \sigma^2 itself is one, \sigma stays what it is.
    Raises EquationError for a parameter of another form, and for \sigma^2 beside \sigma.
    """
    found: dict[str, Value] = {}
    for number, (parameter, value) in enumerate(zip(parameters, values, strict=True)):
        base, exponent = parts_of(parameter)
        if isinstance(parameter, Name):
            found[parameter.key] = value
            if not exponent or parameter.key in self.ranges.notation.symbols:
                continue
        if not exponent:
            said = "a parameter of a defined function is a letter, its square or its inverse"
            raise fault(f"{said}; write another letter for it, alone", parameter)
        power = f"{base}^{{{exponent}}}"
        if Name(base) in parameters:
            said = f"ambiguous: the parameter {latex_of(base)} beside its power {latex_of(power)}"
            raise fault(f"{said}; write another letter for one of them", parameter)
        if tuple(written[number : number + 1]) == (parameter,):
            continue
        literal = Literal(value, start=parameter.start, end=parameter.end)
        root = Root(literal) if exponent == "2" else Power(literal, Number(-1))
        found |= {power: value, base: self.value(root, {})}
    return found


def parts_of(parameter: Node) -> tuple[str, str]:
    """The letter and the power of a parameter that is a square or an inverse; two empty texts for any other."""
    if isinstance(parameter, Name):
        powers = [power for power in ("2", "-1") if parameter.key.endswith(f"^{{{power}}}")]
        return (parameter.key.removesuffix(f"^{{{powers[0]}}}"), powers[0]) if powers else ("", "")
    if isinstance(parameter, Power) and isinstance(parameter.base, Name) and not parameter.is_elementwise:
        exponents = {Number(2): "2", Number(-1): "-1", Negate(Number(1)): "-1"}
        return parameter.base.key, exponents.get(parameter.exponent, "")
    return "", ""
