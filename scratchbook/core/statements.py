"""Compile code so that every frame has its true place, and every statement its own output.  Runs nothing."""

from __future__ import annotations
import __future__

import ast
import contextlib
import functools
import linecache
import os
import warnings
from dataclasses import dataclass, field
from types import CodeType
from typing import Final, TypeAlias

MARK: Final = "__scratchbook_mark__"
FUTURE_FLAGS: Final = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


@dataclass
class Statement:
    """A statement of a file's top level, or of its `__main__` guard.

    first, last: its 1-based lines, decorators included.   begin, end: the marks around what it printed, once it ran.
    """

    first: int
    last: int
    begin: int = 0
    end: int = 0

    @property
    def span(self) -> tuple[int, int]:
        """Return the marks around its output."""
        return self.begin, self.end


@dataclass
class Body:
    """Compiled statements that mark where each begins.

    code calls `MARK` with the body's name and a statement's index, last with -1.
    """

    name: str
    code: CodeType
    statements: list[Statement]
    current: Statement | None = None
    has_run: bool = False


# What never changes of a body: its name, its code, the first and last line of each statement.
Compiled: TypeAlias = tuple[str, CodeType, tuple[tuple[int, int], ...]]


@dataclass
class SourceFile:
    """A file of the project, compiled once.

    path: from the root.   body: its module.   guards: what stands under `if __name__ == "__main__":`.
    """

    path: str
    body: Body
    guards: list[Body] = field(default_factory=list)


def compile_file(text: str, path: str) -> SourceFile:
    """Compile a whole file under its name from the root.  Raises SyntaxError at its true line."""
    remember_lines(path, dict(enumerate(text.splitlines(), 1)))
    body, *guards = (
        Body(name, code, [Statement(first, last) for first, last in lines])
        for name, code, lines in _compile_bodies(text, path)
    )
    return SourceFile(path, body, guards)


def prepare_file(text: str, path: str) -> None:
    """Compile a file now for the processes that are forked later; one with something to say is left to them."""
    with warnings.catch_warnings(), contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        warnings.simplefilter("error")
        _compile_bodies(text, path)


@functools.lru_cache(maxsize=64)
def _compile_bodies(text: str, path: str) -> tuple[Compiled, ...]:
    """Compile a module and what stands under its guards."""
    tree = ast.parse(text, path)
    body = _compile_body(tree.body, path, path, 0)
    flags = body[1].co_flags & FUTURE_FLAGS
    guards = [node for node in tree.body if isinstance(node, ast.If) and _is_guard(node)]
    return body, *(_compile_body(guard.body, path, f"{path}:{guard.lineno}", flags) for guard in guards)


def _compile_body(nodes: list[ast.stmt], path: str, name: str, flags: int) -> Compiled:
    """Compile statements with a mark before each; a docstring and `from __future__` must stay first."""
    marked: list[ast.stmt] = []
    for index, node in enumerate(nodes):
        is_docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (is_docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")):
            marked.append(_mark(name, index, node))
        marked.append(node)
    if nodes:
        marked.append(_mark(name, -1, nodes[-1]))
    code = compile(ast.Module(marked, []), path, "exec", flags=flags, dont_inherit=True)
    return name, code, tuple(map(_lines_of, nodes))


def _mark(name: str, index: int, beside: ast.stmt) -> ast.stmt:
    call = ast.Call(ast.Name(MARK, ast.Load()), [ast.Constant(name), ast.Constant(index)], [])
    return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), beside))


def _lines_of(node: ast.stmt) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return first, node.end_lineno or node.lineno


def _is_guard(node: ast.If) -> bool:
    """Say whether a statement is `if __name__ == "__main__":`, either way round."""
    return ast.unparse(node.test) in ("__name__ == '__main__'", "'__main__' == __name__")


@dataclass(frozen=True)
class PageCode:
    """Code of a page, ready to run: all but its last expression, and that expression when it is wanted."""

    body: CodeType
    last: CodeType | None
    flags: int


def compile_page(text: str, numbers: tuple[int, ...], path: str, flags: int, wants_last: bool) -> PageCode:
    """Compile a page's block at its true lines.

    numbers: the chapter's line of each line of text.   flags: the `from __future__` imports of earlier blocks.
    Raises SyntaxError at the chapter's line.
    """
    if _is_contiguous(numbers) and not wants_last:  # half the time of going through a tree
        body = compile(_at_line(text, numbers), path, "exec", flags=flags, dont_inherit=True)
        return PageCode(body, None, flags | body.co_flags & FUTURE_FLAGS)
    tree = _parse_page(text, numbers, path)
    last = tree.body.pop() if wants_last and tree.body and isinstance(tree.body[-1], ast.Expr) else None
    body = compile(tree, path, "exec", flags=flags, dont_inherit=True)
    flags |= body.co_flags & FUTURE_FLAGS
    ending = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
    code = compile(ending, path, "eval", flags=flags, dont_inherit=True) if ending else None
    return PageCode(body, code, flags)


def _parse_page(text: str, numbers: tuple[int, ...], path: str) -> ast.Module:
    """Parse a block with every node, error and warning at the chapter's line."""
    if _is_contiguous(numbers):
        return ast.parse(_at_line(text, numbers), path)
    # Lines were taken out between, perhaps inside a string: blank lines in their place could change it.
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        _place_error(error, numbers)
        raise
    place_nodes(tree, numbers)
    return tree


def _is_contiguous(numbers: tuple[int, ...]) -> bool:
    """Say whether the lines of a block stand in its chapter as they run."""
    return not numbers or numbers == tuple(range(numbers[0], numbers[0] + len(numbers)))


def _at_line(text: str, numbers: tuple[int, ...]) -> str:
    """Return a block with so many empty lines before it that each line has its number in the chapter."""
    return "\n" * (numbers[0] - 1 if numbers else 0) + text


def place_nodes(tree: ast.AST, numbers: tuple[int, ...]) -> None:
    """Give every node the line of the chapter that it stands on."""
    for node in ast.walk(tree):
        for name in ("lineno", "end_lineno"):
            line = getattr(node, name, None)
            if line is not None and 1 <= line <= len(numbers):
                setattr(node, name, numbers[line - 1])


def _place_error(error: SyntaxError, numbers: tuple[int, ...]) -> None:
    """Move a parser's error from the block's line to the chapter's."""
    for name in ("lineno", "end_lineno"):
        line = getattr(error, name)
        if line and numbers:
            setattr(error, name, numbers[min(line, len(numbers)) - 1])


def remember_lines(path: str, lines: dict[int, str]) -> None:
    """Let tracebacks, warnings and `inspect` quote these lines of a path, wherever the code has gone since.

    lines: by their 1-based number; those of earlier calls stay.
    """
    known = linecache.cache.get(path)
    before = dict(enumerate(known[2], 1)) if known and len(known) == 4 else {}
    before |= {number: f"{line}\n" for number, line in lines.items()}
    text = [before.get(number, "\n") for number in range(1, max(before, default=0) + 1)]
    # Without a time of change an entry is taken as it is: the file is never opened again.
    linecache.cache[path] = (sum(map(len, text)), None, text, path)


def is_project(path: str) -> bool:
    """Say whether a frame's file is the author's: its lines were remembered, under a name from the root."""
    known = linecache.cache.get(path)
    is_ours = known is not None and len(known) == 4 and known[1] is None
    return is_ours and not os.path.isabs(path) and not path.startswith("<")
