"""What the equation tests share: the page's macros, the reference code, and the cases beside this file."""

import tomllib
from pathlib import Path

import equation_reference
import numpy as np

from scratchbook.core.equation.checker import check
from scratchbook.core.equation.equation import parse_equation, parse_plain
from scratchbook.core.equation.notation import read_notation
from scratchbook.core.equation.options import Request

MACROS = {
    "vx": r"\mathbf{x}",
    "vu": r"\mathbf{u}",
    "vv": r"\mathbf{v}",
    "vh": r"\mathbf{h}",
    "vz": r"\mathbf{z}",
    "mW": r"\mathbf{W}",
    "mE": r"\mathbf{E}",
    "R": r"\mathbb{R}",
    "T": r"\mathsf{T}",
    "norm": [r"\lVert #1 \rVert", 1],
}
CODE = {name: value for name, value in vars(equation_reference).items() if not name.startswith("_")}
OPTIONS = ("check", "grad", "using", "where", "rtol", "at", "base")


def read_cases(name):
    """The cases of a TOML file in this folder."""
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))["case"]


def equation_of(case):
    """The equation of a case, read with its notation and the functions that it binds."""
    notation = read_notation(case.get("notation", ""), MACROS)
    if case.get("using"):
        notation = notation.overridden(read_notation(case["using"], MACROS))
    if "plain" in case:
        return parse_plain(case["plain"], notation)
    return parse_equation(case["latex"], notation, MACROS)


def request_of(case):
    """The options of a case as the page gives them."""
    options = {name: case[name] for name in OPTIONS if name in case and name != "using"}
    return Request(label=case["name"], **options)


def verdict_of(case, code=CODE, *, suggests=True):
    """Check a case against the reference code."""
    with np.errstate(all="ignore"):
        return check(equation_of(case), request_of(case), code, MACROS, suggests=suggests)


def checked(latex, notation="", check="", code=CODE, **options):
    """The verdict on an equation written in a test."""
    return verdict_of({"name": "eq", "latex": latex, "notation": notation, "check": check, **options}, code)
