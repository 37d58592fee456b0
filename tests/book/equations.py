"""Check the equations of the book whose code remembers: a function is put around it, and the checker does the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimisers import AdamW
from scratchbook.core.equation.checker import check
from scratchbook.core.equation.equation import Equation
from scratchbook.core.equation.options import Request

ADAMW = r"""
override g: vector(n)
m, \theta: vector(n)
v: positive(n)
\eta, \lambda as weight_decay, \epsilon as epsilon: positive
\beta_1, \beta_2: unit
t: int(2..9)
"""


def step_from(theta: Any, g: Any, m: Any, v: Any, t: int, eta: float, settings: dict[str, float]) -> Any:
    """Take step number t of an AdamW that remembers m and v; the first remembers nothing, so t is at least 2."""
    optimiser = AdamW(**settings)
    optimiser.n_steps, optimiser.mean, optimiser.square = t - 1, np.array(m), np.array(v)
    return optimiser.step(theta, g, eta)


def adamw(equation: Equation, namespace: dict[str, Any]) -> str:
    """Return why the equation of AdamW differs from its step, or nothing."""
    settings = "dict(beta_1=beta_1, beta_2=beta_2, epsilon=epsilon, weight_decay=weight_decay)"
    request = Request(label="eq-adamw", where=ADAMW, check=rf"\theta' == step_from(theta, g, m, v, t, eta, {settings})")
    return check(equation, request, {"step_from": step_from}).reason
