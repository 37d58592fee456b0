"""Show an equation as it was read: every bracket written, every index with its range."""

from __future__ import annotations

from .equation import Equation
from .render import Renderer


def explain(equation: Equation) -> str:
    """One line a statement, fully bracketed; then the ranges, conditions and shapes that the display states."""
    renderer = Renderer(is_bracketed=True)
    lines = []
    for statement in equation.statements:
        line = renderer.write(statement.members[0])
        for relation, member in zip(statement.relations, statement.members[1:], strict=True):
            line += f" {relation} {renderer.write(member)}"
        lines.append(line)
    for binding in equation.ranges:
        ends = [renderer.write(side) for side in (binding.low, binding.high) if side is not None]
        members = [renderer.write(binding.members)] if binding.members is not None else []
        lines.append(f"{renderer.name(binding.key)} in {' .. '.join(ends or members)}")
    lines += [renderer.write(condition) for condition in equation.conditions]
    lines += [
        f"{renderer.write(shape.name)} of {' by '.join(renderer.write(size) for size in shape.sizes)}"
        for shape in equation.shapes
    ]
    return "\n".join(lines)
