"""An operator changed inside a region that the main chapter shows changes what stands below that region."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import pytest

from scratchbook.core.cells import CodeCell, FileCell, Outcome, Selection, Session
from scratchbook.core.regions import show
from scratchbook.core.runner import ForkServer
from tests.book.pages import ROOT

FILE = "scratch/transformer.py"
OTHERS = {"Add": ("+", "-"), "Sub": ("-", "+"), "Mult": ("*", "/"), "Div": ("/", "*"), "Pow": ("**", "*")}


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer() as started:
        yield started


def changes(tag: str) -> Iterator[tuple[str, str]]:
    """Yield each operator of a region as its line after the change, and the whole file with it."""
    text = (ROOT / FILE).read_text("utf-8")
    shown = show(text, FILE, Selection(tag=tag))[0].numbers
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.BinOp) and node.lineno in shown and type(node.op).__name__ in OTHERS:
            before, after = OTHERS[type(node.op).__name__]
            lines = text.split("\n")
            line = lines[node.left.end_lineno - 1].encode()
            head, rest = line[: node.left.end_col_offset], line[node.left.end_col_offset :]
            changed = (head + rest.replace(before.encode(), after.encode(), 1)).decode()
            lines[node.left.end_lineno - 1] = changed
            yield changed.strip(), "\n".join(lines)


def up_to(session: Session, tag: str) -> Session:
    """Return a region and its demonstration, which stand on their own; of what is above them, only the files."""
    cells = [cell for cell in session.cells if isinstance(cell, FileCell | CodeCell)]
    region = next(i for i, cell in enumerate(cells) if isinstance(cell, FileCell) and cell.selection.tag == tag)
    above = [cell for cell in cells[:region] if isinstance(cell, FileCell)]
    return replace(session, cells=(*above, *cells[region : region + 2]))


def said(outcome: Outcome, session: Session) -> list[str]:
    """Return what the region and its demonstration printed, or why they did not."""
    given = [outcome.cells[cell.id] for cell in session.cells[-2:]]
    return [f"{one.status} {(one.part('text') or {}).get('text', '')}" for one in given]


@pytest.mark.parametrize("tag", ["block", "rmsnorm", "swiglu"])
def test_every_operator_of_a_region_shows_in_its_output(reading, server, tag):
    (job,) = reading.jobs["transformer-block"]
    session = up_to(job.session, tag)
    rest = [(path, data) for path, data in session.sources if path != FILE]
    plain = said(server.run(session), session)

    found = list(changes(tag))
    unseen = [
        line
        for line, text in found
        if said(server.run(replace(session, sources=(*rest, (FILE, text.encode())))), session) == plain
    ]
    assert len(found) >= 2
    assert "".join(plain).startswith("ok")
    assert len("".join(plain)) > 100
    assert unseen == []
