"""Look whether every block of a built book shows what it must print, and none what it printed before the edit."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

Outputs = dict[str, list[str]]


@dataclass(frozen=True)
class Verdict:
    """Blocks of a book: right, split (a line broken in two), stale (the output before the edit), missing."""

    right: int = 0
    split: int = 0
    stale: int = 0
    missing: int = 0

    @property
    def wrong(self) -> int:
        """All that a reader must not see."""
        return self.split + self.stale + self.missing


def check(folder: Path, expected: Outputs, before: Outputs) -> Verdict:
    """Count the blocks of a folder of HTML.  before: what stood there before the edit."""
    found = [
        judge(text, output, before[page][index])
        for page, outputs in expected.items()
        for text in [page_text(folder, page)]
        for index, output in enumerate(outputs)
    ]
    return Verdict(**{kind: found.count(kind) for kind in ("right", "split", "stale", "missing")})


def judge(text: str, output: str, before: str) -> str:
    """Say how one block stands on its page."""
    if all(line in text for line in output.splitlines()):
        return "right"
    if squeezed(output) in squeezed(text):
        return "split"
    return "stale" if squeezed(before) in squeezed(text) else "missing"


def page_text(folder: Path, page: str) -> str:
    """Return the words of a page, wherever the system put it."""
    for path in (folder / f"{page}.html", folder / page / "index.html"):
        if path.exists():
            return html.unescape(re.sub(r"<[^>]*>", "", path.read_text(encoding="utf-8")))
    return ""


def squeezed(text: str) -> str:
    """Return a text without blanks."""
    return re.sub(r"\s", "", text)
