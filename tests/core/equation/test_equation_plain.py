"""Formulas in plain text: scripts stand behind anything, and numbers are those that code would read."""

import pytest
from equation_examples import verdict_of

NOTATION = "x: vector(d)\na, b: positive\nA: matrix(d, d)"


@pytest.mark.parametrize(
    ("plain", "check"),
    [
        ("u = (a + b)²", "u == (a + b) ** 2"),
        ("u = a · 10⁵", "u == a * 10**5"),
        ("u = 2⁻¹ a", "u == a / 2"),
        ("u = a²b", "u == a**2 * b"),
        ("u = b²a²", "u == a**2 * b**2"),
        ("u = (A A)ᵀ", "u == (A @ A).T"),
        ("u = (2x)₂", "u == 2 * x[1]"),
        ("u_i = x_{d-i+1}", "u == x[::-1]"),
        ("uᵢ = xᵢ + 1", "u == x + 1"),
        ("uᵢ = xᵢ²", "u == x**2"),
        ("u = x₂³ + 1", "u == x[1] ** 3 + 1"),
        ("u = 2e-40 · 1e40 · a", "u == 2 * a"),
        ("u = 1.6e-31 · 1e31 · a", "u == 1.6 * a"),
        ("u = 1.5E3 a + 1e2", "u == 1500 * a + 100"),
        ("u = a · (1/x₂)²", "u == a / x[1] ** 2"),
    ],
)
def test_plain_text_is_read_as_its_author_would_read_it(plain, check):
    verdict = verdict_of({"name": "eq", "plain": plain, "notation": NOTATION, "check": check}, {"np": None})

    assert verdict.text == ""
