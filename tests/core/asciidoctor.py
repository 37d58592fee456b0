"""Read cases that were run through the real Asciidoctor into our terms."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from scratchbook.core.regions import Notice, Region, Selection, select
from scratchbook.core.sources import missing_file

DATA = Path(__file__).parent / "data"
TEXTS = {
    "unclosed": "detected unclosed tag '{name}' starting at line {line}",
    "mismatched": "mismatched end tag (expected '{expected}' but found '{name}') at line {line}",
    "unexpected": "unexpected end tag '{name}' at line {line}",
    "missing": "tag{plural} '{name}' not found",
}


@dataclass(frozen=True)
class Case:
    """One include line, the file that it names (None: not there), and what Asciidoctor made of it."""

    path: str
    text: str | None
    selection: Selection
    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    warnings: tuple[str, ...]

    @property
    def outcome(self) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
        return self.lines, self.numbers, self.warnings


def written_cases() -> list[Case]:
    """Return the cases written by hand, each for one rule."""
    data = json.loads((DATA / "tags.json").read_text("utf-8"))
    return [
        Case(
            case["file"],
            data["files"].get(case["file"]),
            read_attributes(case["attrs"], case["doc_attrs"]),
            _lines(case["lines"]),
            tuple(case["src_lines"]),
            tuple(_without_file(warning["text"]) for warning in case["warnings"] if warning["sev"] != "INFO"),
        )
        for case in data["cases"]
    ]


def random_cases() -> list[Case]:
    """Return the cases made by chance."""
    return [
        Case(
            "case.py",
            case["text"],
            read_attributes(case["attrs"], {}),
            tuple(case["lines"]),
            tuple(case["src_lines"]),
            tuple(case["warnings"]),
        )
        for case in json.loads((DATA / "tags_random.json").read_text("utf-8"))
    ]


def read_attributes(source: str, settings: dict[str, str]) -> Selection:
    """Read the list of an include line: an unquoted comma ends a value, blanks round it are taken off."""
    for name, value in settings.items():
        source = source.replace(f"{{{name}}}", value)
    pairs = re.findall(r'(?:^|,)\s*(\w+)=(?:"([^"]*)"|([^,]*))', source)
    given = {name: quoted or bare.strip() for name, quoted, bare in pairs}
    return Selection(
        tag=given.get("tag"),
        tags=given.get("tags"),
        lines=given.get("lines"),
        indent=int(given["indent"] or 0) if "indent" in given else None,
        optional=given.get("opts") == "optional",
        tabsize=int(settings["tabsize"]) if "tabsize" in settings else None,
    )


def our_outcome(case: Case) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
    """Return what our selector makes of a case, its warnings in Asciidoctor's words."""
    if case.text is None:
        mistakes = missing_file(case.path, (case.path,), optional=case.selection.optional)
        return (), (), tuple("include file not found" for _ in mistakes)
    region: Region = select(case.text, case.path, case.selection)
    return region.lines, region.numbers, tuple(_words(notice) for notice in region.warnings)


def _words(notice: Notice) -> str:
    return TEXTS[notice.about].format(
        name=", ".join(notice.names),
        line=notice.line,
        expected=notice.expected,
        plural="s" if len(notice.names) > 1 else "",
    )


def _without_file(warning: str) -> str:
    return re.sub(r" of include file: .*| in include file: .*|: \S+$", "", warning)


def _lines(lines: list[str]) -> tuple[str, ...]:
    # Asciidoctor puts this text where a file is missing; we leave the place to the page.
    return tuple(line for line in lines if not line.startswith("Unresolved directive"))
