"""{live}: show and run a region of a file, or code of the page.  Leaves cells and placeholders; runs nothing."""

from __future__ import annotations

import re
from functools import partial
from pathlib import PurePosixPath
from typing import Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from scratchbook.core.cells import Code, CodeCell, FileCell, Selection
from scratchbook.core.errors import Place, ScratchbookError
from scratchbook.ext.directive import (
    Converter,
    LiveDirective,
    failure_box,
    flag,
    literal_blocks,
    number_of,
    positive,
    required,
    whole_number,
)
from scratchbook.ext.domain import Frozen, Shown, Slot, listing_id, output_id

MOST_BLANKS: Final = 100  # more push a line out of every page

# Options that Sphinx's own code block understands, handed on to it.
BLOCK_OPTIONS: Final[dict[str, Converter]] = {
    "caption": required,
    "name": required,
    "class": directives.class_option,
    "linenos": flag,
    "lineno-start": whole_number,
    "emphasize-lines": required,
    "force": flag,
}
SELECTION_OPTIONS: Final[dict[str, Converter]] = {
    "tag": required,
    "tags": required,
    "lines": required,
    "indent": partial(number_of, what="blanks", least=0, most=MOST_BLANKS),
    "tabsize": partial(number_of, what="columns", least=1, most=MOST_BLANKS),
    "optional": flag,
}
RUN_OPTIONS: Final[dict[str, Converter]] = {
    "figure": required,
    "table": flag,
    "show-value": flag,
    "raises": required,
    "frozen": flag,
}
LIMIT_OPTIONS: Final[dict[str, Converter]] = {
    "timeout": positive,
    "shown-bytes": partial(number_of, what="bytes", least=1),
    "captured-bytes": partial(number_of, what="bytes", least=1),
}
SHOW_OPTIONS: Final[dict[str, Converter]] = {"hide-code": flag, "hide-output": flag, "no-output": required}


class Live(LiveDirective):
    """Show and run: a region of a file with its demonstration, or code of the page."""

    wanted: ClassVar[dict[str, Converter]] = {
        **SELECTION_OPTIONS, **RUN_OPTIONS, **LIMIT_OPTIONS, **SHOW_OPTIONS, **BLOCK_OPTIONS,
    }  # fmt: skip

    def make_nodes(self) -> list[nodes.Node]:
        """Leave the cells in the domain and what they will show on the page."""
        self._check_options()
        if self.arguments:
            return self._make_file_nodes(self.arguments[0].strip())
        return self._make_code_nodes()

    def _make_file_nodes(self, file: str) -> list[nodes.Node]:
        cell = self._file_cell(file)
        self.page.cells.append(cell)
        shown = self._listing(cell)
        if self._lost_its_selection:
            # A mistake in `tag` must not show the whole file.
            shown = list(failure_box("the options of this block cannot be read", "", self.get_source_info()))
        cells = [cell.id]
        seen: list[tuple[str, Code | None]] = [(cell.id, None)]
        if "".join(self.content).strip():
            code, run = self.page_code()
            demonstration = self._code_cell(f"{cell.id}-shown", run)
            options = {"class": ["scratchbook-input", "scratchbook-demonstration"]}
            shown += self._input(demonstration, code, options)
            cells.append(demonstration.id)
            seen.append((demonstration.id, code))
        must_print = not (self.options.get("optional") or self._lost_its_selection or "no-output" in self.faulty)
        self._promise(cells, seen, must_print=must_print)
        return [*shown, *self._output(cells, cell.id)]

    @property
    def _lost_its_selection(self) -> bool:
        return self.has_faulty_options and not {"tag", "tags", "lines"} & self.options.keys()

    def _make_code_nodes(self) -> list[nodes.Node]:
        if not "".join(self.content).strip():
            raise ScratchbookError("{live} has neither a file nor code: name a file behind it, or write code in it")
        code, run = self.page_code()
        if not (code.text.strip() or run.text.strip()):
            raise ScratchbookError("every line of this block is hidden and skipped, so nothing is left of it")
        slug = nodes.make_id(self.options.get("name", ""))
        cell = self._code_cell(self.page.fresh_id(slug) if slug else self.page.numbered_id("code"), run)
        shown = self._input(cell, code, self._block_options(len(code.numbers)))
        self._promise([cell.id], [(cell.id, code)], must_print=False)
        return [*shown, *self._output([cell.id], cell.id)]

    def _check_options(self) -> None:
        has_code = bool("".join(self.content).strip())
        for name in SELECTION_OPTIONS:
            if name in self.options and not self.arguments:
                raise ScratchbookError(f"option '{name}' selects lines of a file, and this {{live}} names none")
        for name in RUN_OPTIONS:
            if name in self.options and not has_code:
                raise ScratchbookError(f"option '{name}' is about code of the page: write some in the block")
        if {"caption", "hide-code"} <= self.options.keys() and not self._draws:
            raise ScratchbookError("option 'caption' stands above code, and :hide-code: takes the code away")
        if "frozen" in self.options and self.arguments:
            raise ScratchbookError("option 'frozen' keeps what code of the page gave: put that in a block of its own")
        if {"frozen", "no-output"} <= self.options.keys():
            raise ScratchbookError("a frozen block is there for its output, and :no-output: says that it has none")
        if "figure" in self.options and "table" in self.options:
            raise ScratchbookError("a block shows a figure or a table, not both: use two blocks")

    def _file_cell(self, file: str) -> FileCell:
        if not re.fullmatch(r"[^\n()=]+\.py", file):
            fact = f"'{file.splitlines()[0]}' on the first line of {{live}} is not the name of a Python file"
            raise ScratchbookError(f"{fact}; code begins on the next line")
        chosen = {name: self.options[name] for name in SELECTION_OPTIONS if name in self.options}
        part = chosen.get("tag") or chosen.get("tags") or ""
        return FileCell(
            id=self.page.fresh_id(nodes.make_id(f"{PurePosixPath(file).stem} {part}") or "file"),
            place=self.place,
            file=file,
            selection=Selection(**chosen),
            **read_limits(self.options),
        )

    def _code_cell(self, cell_id: str, code: Code) -> CodeCell:
        wants = "figure" if "figure" in self.options else "table" if "table" in self.options else "text"
        cell = CodeCell(
            id=self.page.fresh_id(cell_id),
            place=self.place,
            code=code,
            wants=wants,  # type: ignore[arg-type]  # mypy widens the literals
            show_value=self.options.get("show-value", False),
            raises=self.options.get("raises"),
            **read_limits(self.options),
        )
        if self.options.get("frozen", False):
            self.page.frozen.append(Frozen(cell, after=len(self.page.cells)))
        else:
            self.page.cells.append(cell)
        return cell

    def _listing(self, cell: FileCell) -> list[nodes.Node]:
        """Return an empty code block that is filled once the file has been read."""
        if "hide-code" in self.options:
            return []
        options = {**self._block_options(None), "force": None}  # Python itself tells what is wrong with it
        shown = self.code_block([], "python", options)
        start = self.options.get("lineno-start")
        slot_options = {"emphasize": self.options.get("emphasize-lines"), "start": start}
        slot = Slot(self.env.current_document.docname, (cell.id,), "listing", options=slot_options)
        for block in literal_blocks(shown):
            block["scratchbook"] = slot
            block["ids"].append(listing_id(slot.page, cell.id))
        return shown

    def _input(self, cell: CodeCell, code: Code, options: dict[str, Any]) -> list[nodes.Node]:
        """Return the code of a cell as it is shown."""
        if "hide-code" in self.options or not code.text.strip():
            return []
        if set(code.numbers) <= set(cell.code.numbers):
            options["force"] = None  # Python itself tells what is wrong with code that runs
        shown = self.code_block(code.text.split("\n"), "python", options)
        for block in literal_blocks(shown):
            block["ids"].append(listing_id(self.env.current_document.docname, cell.id))
        return shown

    def _output(self, cells: list[str], label: str) -> list[nodes.Node]:
        """Return the place of the output; the caption and name of a figure or table are its own."""
        docname = self.env.current_document.docname
        if self._draws and ("caption" in self.options or "name" in self.options):
            place: nodes.Element = nodes.figure() if "figure" in self.options else nodes.table()
            place += self._caption(nodes.caption if "figure" in self.options else nodes.title)
            self.add_name(place)
        else:
            place = nodes.literal_block("", "", language="none", scratchbook_fixed=True)
            place["ids"] = [output_id(docname, label)]
            if "hide-code" in self.options:
                self.add_name(place)
        place["classes"] += ["scratchbook-output"]
        options = {"alt": self.options.get("figure", ""), "hidden": "hide-output" in self.options}
        place["scratchbook"] = Slot(docname, tuple(cells), "output", label, options)
        self.set_source_info(place)
        return [place]

    @property
    def _draws(self) -> bool:
        return "figure" in self.options or "table" in self.options

    def _caption(self, kind: type[nodes.caption] | type[nodes.title]) -> list[nodes.Node]:
        if "caption" not in self.options:
            return []
        words, messages = self.make_words(kind, self.options["caption"])
        return [words, *messages]

    def _block_options(self, lines: int | None) -> dict[str, Any]:
        """Return what Sphinx's code block is told; `lines` is None while a file's are not known."""
        options = {name: value for name, value in self.options.items() if name in BLOCK_OPTIONS}
        options["class"] = ["scratchbook-input", *options.get("class", [])]
        if self._draws:
            options.pop("caption", None)
            options.pop("name", None)
        for name in ("linenos", "force"):
            if options.pop(name, False):
                options[name] = None  # docutils writes a flag so
        spec = options.pop("emphasize-lines", None)
        if spec and lines is not None:
            read_emphasis(spec, lines)
            options["emphasize-lines"] = spec
        return options

    def _promise(self, cells: list[str], seen: list[tuple[str, Code | None]], *, must_print: bool) -> None:
        hides = "hide-output" in self.options
        self.page.shown.append(
            Shown(
                place=self.place,
                cells=() if hides else tuple(cells),
                emphasize=self.options.get("emphasize-lines") if self.arguments else None,
                listing=cells[0] if self.arguments else None,
                seen=() if "hide-code" in self.options else tuple(seen),
                no_output=self.options.get("no-output"),
                must_print=must_print,
            )
        )


def read_limits(options: dict[str, Any]) -> dict[str, Any]:
    """Return the limits that a block sets for its cells, under the names that a cell has for them."""
    return {
        "seconds": options.get("timeout"),
        "shown_bytes": options.get("shown-bytes"),
        "captured_bytes": options.get("captured-bytes"),
    }


def read_emphasis(spec: str, count: int, place: Place | None = None, option: str = "emphasize-lines") -> list[int]:
    """Read '1,3-5' as line numbers within a block of `count` lines.  Raises ScratchbookError."""
    chosen: list[int] = []
    for part in spec.split(","):
        match = re.fullmatch(r"\s*(\d+)?\s*(-)?\s*(\d+)?\s*", part)
        if not match or not (match[1] or match[3]):
            raise ScratchbookError(f"option '{option}' is '{spec}': write it as 1,3-5", place)
        first = int(match[1] or 1)
        last = int(match[3] or count) if match[2] else first
        if not 1 <= first <= last <= count:
            lines = "1 line" if count == 1 else f"{count} lines"
            fact = f"option '{option}' is '{spec}', and the block has {lines}"
            raise ScratchbookError(f"{fact}; they are counted from its first", place)
        chosen += range(first, last + 1)
    return chosen


def register(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("live", Live)
