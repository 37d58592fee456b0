"""Find what a Python file offers to others: functions and classes, with what they take and what is said of them.

Text in, data out: nothing is imported and nothing runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Final, Literal

from scratchbook.core.errors import Place, ScratchbookError

SOURCE: Final = re.compile(r" *Source: ")
RAISES: Final = re.compile(r"^Raises ", re.MULTILINE)
PROMPT: Final = re.compile(r"^ *>>> ", re.MULTILINE)
SHAPE: Final = re.compile(r"->|^\s*[\w*, ]+: ", re.MULTILINE)  # "-> [n, d]", or "x: [d]" at the start of a line


@dataclass(frozen=True)
class Remark:
    """One paragraph of a docstring.

    kind: "prose", "shapes" whose lines are aligned, "raises", "example" as doctest reads it, or "source" without that
    word.
    """

    kind: Literal["prose", "shapes", "raises", "example", "source"]
    text: str


@dataclass(frozen=True)
class Definition:
    """A function, class or method that its file offers.

    signature: what stands between the brackets of a call.   first, last: 1-based lines, decorators left out.
    """

    kind: Literal["function", "class", "method"]
    name: str
    signature: str
    remarks: tuple[Remark, ...]
    first: int
    last: int
    members: tuple[Definition, ...] = ()


@dataclass(frozen=True)
class Outline:
    """What a file offers, in its own order."""

    remarks: tuple[Remark, ...]
    definitions: tuple[Definition, ...]


def read_outline(text: str, path: str) -> Outline:
    """Read a file.   Raises ScratchbookError, at its line, if it is not Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        place = Place(path, error.lineno or 1)
        raise ScratchbookError(f"{path} is not Python: {error.msg}", place, kind="source") from None
    return Outline(read_remarks(ast.get_docstring(tree)), tuple(definitions(tree.body, text.split("\n"))))


def definitions(body: Sequence[ast.stmt], lines: list[str], owner: str = "") -> Iterator[Definition]:
    """Yield the public functions and classes among statements; within a class its public methods."""
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        remarks, place = read_remarks(ast.get_docstring(node)), (node.lineno, node.end_lineno or node.lineno)
        if isinstance(node, ast.ClassDef):
            told = told_fields(node, lines)
            remarks += (Remark("shapes", told),) if told else ()
            members = tuple(definitions(node.body, lines, node.name))
            yield Definition("class", node.name, class_signature(node), remarks, *place, members)
        else:
            name = f"{owner}.{node.name}" if owner else node.name
            signature = without_annotations(node.args, is_method=bool(owner) and not is_static(node))
            yield Definition("method" if owner else "function", name, signature, remarks, *place)


def without_annotations(arguments: ast.arguments, *, is_method: bool) -> str:
    """Return arguments as a caller sees them: names and defaults."""
    bare = ast.parse(f"def f({ast.unparse(arguments)}): pass").body[0]
    assert isinstance(bare, ast.FunctionDef)
    given = [*bare.args.posonlyargs, *bare.args.args, *bare.args.kwonlyargs, bare.args.vararg, bare.args.kwarg]
    for argument in given:
        if argument is not None:
            argument.annotation = None
    if is_method:
        del (bare.args.posonlyargs or bare.args.args)[:1]
    return ast.unparse(bare.args)


def is_static(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method takes no object and no class before what its caller gives."""
    return any(isinstance(name, ast.Name) and name.id == "staticmethod" for name in node.decorator_list)


def class_signature(node: ast.ClassDef) -> str:
    """Return what a class is made with: what `__init__` takes, or its fields."""
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            return without_annotations(statement.args, is_method=True)
    fields = [ast.unparse(item.target) + (f"={ast.unparse(item.value)}" if item.value else "") for item in own(node)]
    return ", ".join(fields)


def own(node: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    """Yield the fields that a class declares."""
    yield from (item for item in node.body if isinstance(item, ast.AnnAssign))


def told_fields(node: ast.ClassDef, lines: list[str]) -> str:
    """Return a line for each field: its name, and the comment behind it.  Empty where no field has one."""
    ends = [(ast.unparse(item.target), (item.end_lineno or item.lineno) - 1, item.end_col_offset) for item in own(node)]
    told = {name: lines[line].encode()[column:].decode().partition("#")[2].strip() for name, line, column in ends}
    width = max((len(name) for name in told), default=0)
    return "\n".join(f"{name:{width}}  {text}".rstrip() for name, text in told.items()) if any(told.values()) else ""


def read_remarks(docstring: str | None) -> tuple[Remark, ...]:
    """Cut a docstring into what is prose, what is told line by line, what is raised, examples, and its sources."""
    text, _, source = cut_before(docstring or "", SOURCE)
    remarks: list[Remark] = []
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip("\n"))):
        told, prompt, example = cut_before(paragraph, PROMPT)
        shapes, mark, raises = cut_before(told, RAISES)
        is_prose = number == 0 or not SHAPE.search(shapes)
        if shapes.strip():
            remarks.append(Remark("prose", joined(shapes)) if is_prose else Remark("shapes", shapes.rstrip()))
        if mark:
            remarks.append(Remark("raises", joined(mark + raises)))
        if prompt:
            remarks.append(Remark("example", dedent(prompt + example).rstrip()))
    if source:
        remarks.append(Remark("source", joined(source)))
    return tuple(remarks)


def cut_before(text: str, mark: re.Pattern[str]) -> tuple[str, str, str]:
    """Return what stands before a mark, the mark and the rest; empty where there is none."""
    found = mark.search(text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")


def joined(text: str) -> str:
    """Return a paragraph in one line."""
    return " ".join(text.split())
