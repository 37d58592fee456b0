"""Where a function of the project stands, so that a check runs the very one that the book shows."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import EquationError
from .options import BUILTINS, Expression


@dataclass(frozen=True)
class CodeObject:
    """A function that a check ran.  line: 1-based first line, that of a decorator included."""

    name: str
    module: str
    qualname: str
    file: str
    line: int


def describe(function: Any, name: str) -> CodeObject:
    """Where a function stands.

    Raises EquationError for a lambda, a local function and a wrapper: the check must run the very function that the
    book shows.
    """
    if isinstance(function, functools.partial | types.MethodType) and not hasattr(function, "__code__"):
        raise EquationError(f"{name} is a wrapper; name the function itself")
    plain = inspect.unwrap(function) if callable(function) else function
    code = getattr(plain, "__code__", None)
    qualname, module = getattr(function, "__qualname__", ""), getattr(function, "__module__", "")
    if code is None or not qualname:
        raise EquationError(f"{name} is not a Python function; name one that the book shows")
    if "<" in qualname:
        raise EquationError(
            f"{name} is a {'lambda' if 'lambda' in qualname else 'local function'}; name the function that the book "
            f"shows"
        )
    held: Any = sys.modules.get(module)
    for part in qualname.split("."):
        held = getattr(held, part, None)
    if held is not None and held is not function:
        raise EquationError(f"{name} is not the {qualname} of {module}, but a wrapper; name the function itself")
    return CodeObject(name, module, qualname, code.co_filename, code.co_firstlineno)


def is_project_function(function: Any) -> bool:
    """Is it a Python function, or a wrapper of one, and not one of NumPy or of the standard library?"""
    if isinstance(function, functools.partial):
        return True
    plain = inspect.unwrap(function) if callable(function) else None
    module = str(getattr(function, "__module__", "") or "")
    return getattr(plain, "__code__", None) is not None and module.partition(".")[0] not in (
        "numpy",
        "math",
        "scipy",
        "builtins",
    )


def called_functions(expression: Expression, namespace: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The project's functions that an expression calls, with the names that it calls them by."""
    found = [(path, named_function(path, namespace)) for path in expression.calls]
    return [(path, function) for path, function in found if function is not None]


def named_function(path: str, namespace: Mapping[str, Any]) -> Any:
    """The project's function of a name or path; None for anything else."""
    value = at_path(path, namespace)
    return value if value is not None and path not in BUILTINS and is_project_function(value) else None


def at_path(path: str, namespace: Mapping[str, Any]) -> Any:
    """What a name or a dotted path of public names stands for; None when there is no such thing."""
    first, *further = path.split(".")
    value = namespace.get(first)
    for part in further:
        value = None if part.startswith("_") else getattr(value, part, None)
    return value
