"""{exec_code} as sphinx-exec-code 0.18 has it: its options and its look, each block in a session of its own.

The only room that knows sphinx-exec-code, whose modules are private: the version is pinned.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.directives.code import CodeBlock
from sphinx_exec_code.sphinx_spec import SphinxSpecBase, build_spec, get_specs

from scratchbook.core.cells import Code, CodeCell
from scratchbook.core.errors import ScratchbookError
from scratchbook.core.sources import read_text
from scratchbook.ext.directive import (
    Converter,
    LiveDirective,
    literal_blocks,
    path_from_root,
    refuse_hidden_characters,
    required,
    split_page_code,
)
from scratchbook.ext.domain import Shown, Slot
from scratchbook.ext.live import LIMIT_OPTIONS, read_emphasis, read_limits
from scratchbook.ext.settings import EXEC_SETTINGS, example_folder, is_doubled

# Options that need the output's lines, which are not known while a chapter is read.
LATE_OPTIONS: Final = ("emphasize-lines", "dedent")


def read_option(convert: Callable[[str | None], Any], text: str) -> Any:
    """Read an option as docutils does, which gives its converters None for no value."""
    try:
        return convert(text or None)
    except ValueError as error:
        takes_number = convert in (CodeBlock.option_spec["dedent"], CodeBlock.option_spec["lineno-start"])
        raise ValueError("it must be a whole number" if takes_number else str(error)) from None


def check_lines(lines: list[str], options: dict[str, Any]) -> None:
    """Refuse options that do not fit the code: Sphinx would tell of them at a place that no editor finds."""
    if emphasis := options.get("emphasize-lines"):
        read_emphasis(emphasis, len(lines))
    if any(line[: options.get("dedent") or 0].strip() for line in lines):
        raise ScratchbookError(f"option 'dedent' is {options['dedent']}, which would take away more than blanks")


class ExecCode(LiveDirective):
    """Show code and what it prints, and share nothing with other blocks."""

    wanted: ClassVar[dict[str, Converter]] = {
        **{name: partial(read_option, convert) for name, convert in build_spec().items()},
        "filename": required,
        **LIMIT_OPTIONS,
    }

    def make_nodes(self) -> list[nodes.Node]:
        """Leave one cell that runs by itself, the code, and a place for what it prints."""
        if self.arguments:
            first = self.arguments[0].splitlines()[0]
            raise ScratchbookError(f"'{first}' on the first line of {{exec_code}} does not run: begin on the next line")
        theirs = {name: value for name, value in self.options.items() if name not in LIMIT_OPTIONS}
        code_spec, output_spec = get_specs(theirs)
        shown, run = self._read_code(code_spec.filename)
        cell = CodeCell(self.page.numbered_id("exec"), self.place, run, **read_limits(self.options))
        self.page.alone.append(cell)
        return [*self._block(shown.text, code_spec), *self._output(cell, output_spec)]

    def _read_code(self, filename: str) -> tuple[Code, Code]:
        if not filename:
            if not "".join(self.content).strip() and "filename" not in self.faulty:
                raise ScratchbookError("{exec_code} has neither code nor a :filename:, so it shows nothing")
            return self.page_code()
        if "".join(self.content).strip():
            raise ScratchbookError(f"the code of this block does not run, since it names the file '{filename}'")
        folder = example_folder(self.config, self.domain.confdir)
        path = folder / filename
        if not os.path.isfile(path):
            raise ScratchbookError(f"no file '{filename}' in {path_from_root(self.env, str(folder))}", kind="source")
        if not path.resolve().is_relative_to(self.domain.root):
            raise ScratchbookError(f"'{filename}' is outside the project's root, and does not run", kind="source")
        self.env.note_dependency(str(path))
        name = path_from_root(self.env, str(path))
        lines = read_text(path.read_bytes(), name).rstrip("\n").split("\n")
        if not "".join(lines).strip():
            raise ScratchbookError(f"{name} has no line to show", kind="source")
        refuse_hidden_characters(lines, name)
        return split_page_code(lines, name, 1)

    def _block(self, code: str, spec: SphinxSpecBase) -> list[nodes.Node]:
        if spec.hide or not code:
            return []
        lines = code.splitlines()
        check_lines(lines, spec.spec)
        return self.code_block(lines, spec.language, spec.spec)

    def _output(self, cell: CodeCell, spec: SphinxSpecBase) -> list[nodes.Node]:
        late = {name: spec.spec.pop(name) for name in LATE_OPTIONS if name in spec.spec}
        docname = self.env.current_document.docname
        slot = Slot(docname, (cell.id,), "plain output", options={"hidden": spec.hide, **late})
        shown = self.code_block([], spec.language, spec.spec)
        for block in literal_blocks(shown):
            block["scratchbook"] = slot
        if late.get("emphasize-lines"):
            self.page.shown.append(Shown(self.place, (), listing=cell.id, emphasize=late["emphasize-lines"]))
        return shown


def register(app: Sphinx) -> None:
    """Register the directive and its settings, unless the project has the stock extension as well."""
    if is_doubled(app.config):
        return  # two directives of one name: `doubled_mistake` tells the author
    for name, (default, rebuild, types) in EXEC_SETTINGS.items():
        app.add_config_value(name, default, rebuild, types)
    app.add_directive("exec_code", ExecCode)
