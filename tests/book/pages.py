"""Read the chapters as an author writes them: anchors, fences, roles, prose.  Text in, data out; builds nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CHAPTERS = (
    "tokens-and-embeddings",
    "attention",
    "positions",
    "transformer-block",
    "one-block",
    "tiny-gpt",
    "training",
    "generation",
    "real-weights",
)
ANCHOR = re.compile(r"^\s*(?:\((?P<target>[\w-]+)\)=|:?(?:name|label): (?P<name>\S+))$", re.MULTILINE)
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|:{3,})(?:\{(?P<kind>[\w-]+)\})?[ ]*(?P<title>.*)$")


class Block(NamedTuple):
    """One fenced block.   kind: of its directive, "" for plain code.   line: 1-based, of its first line."""

    kind: str
    title: str
    body: str
    line: int


def read_page(name: str) -> str:
    """Return the Markdown of a page."""
    return (DOCS / f"{name}.md").read_text("utf-8")


def anchors(markdown: str) -> list[str]:
    """Return every label and name that a page defines."""
    return [found["target"] or found["name"] for found in ANCHOR.finditer(markdown)]


def blocks(markdown: str) -> list[Block]:
    """Return all fenced blocks of a page, outer ones before those within."""
    lines, found = markdown.split("\n"), []
    for number, line in enumerate(lines):
        opening = FENCE.match(line)
        if opening is None or not (opening["kind"] or opening["title"]):
            continue
        closing = f"{opening['indent']}{opening['fence']}"
        end = next((i for i in range(number + 1, len(lines)) if lines[i].rstrip() == closing), len(lines))
        body = "\n".join(lines[number + 1 : end])
        found.append(Block(opening["kind"] or "", opening["title"].strip(), body, number + 1))
    return found


def option(block: Block, name: str) -> str | None:
    """Return an option of a block, None when the author left it out.  Both ways to write options count."""
    head, fence, _ = block.body.removeprefix("---\n").partition("\n---")
    in_front = re.search(rf"^{name}:[ ]*(.*)$", head, re.MULTILINE) if fence and block.body.startswith("---") else None
    found = in_front or re.search(rf"^\s*:{name}:[ ]*(.*)$", block.body, re.MULTILINE)
    return found[1].strip() if found else None
