"""{states}: one session for each value of a variable, and a control without a script that chooses which to see."""

from __future__ import annotations

import re
from html import escape
from keyword import iskeyword
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _ as translate
from sphinx.transforms import SphinxTransform

from scratchbook.core.cells import State
from scratchbook.core.errors import Mistake, ScratchbookError
from scratchbook.ext.directive import LiveDirective
from scratchbook.ext.domain import Slot, States, domain_of, in_ids

MOST_STATES: Final = 8  # the style sheet has a rule for each

# What one state shows.
Variant = tuple[State | None, list[nodes.Node]]


class StatesControl(LiveDirective):
    """Run the page once for each value of a variable, and let the reader choose which to see."""

    def make_nodes(self) -> list[nodes.Node]:
        """Note the states, and where their control stands."""
        name = self.arguments[0].strip() if self.arguments else ""
        values = tuple(value for value in re.split(r"\s*[,\n]\s*", "\n".join(self.content).strip()) if value)
        if not name.isidentifier() or iskeyword(name):
            raise ScratchbookError(f"{{states}} needs the name of a variable, not '{name}'")
        if len(set(values)) != len(values) or not 2 <= len(values) <= MOST_STATES:
            raise ScratchbookError(f"{{states}} needs 2 to {MOST_STATES} different values with commas between them")
        if self.page.states is not None:
            raise ScratchbookError(f"a page has one {{states}}, and this one has it at {self.page.states.place}")
        if self.page.cells:
            first = self.page.cells[0].place
            raise ScratchbookError(f"{{states}} stands before all that a page runs or checks; move it above {first}")
        self.page.states = States(name, values, self.place)
        control = nodes.container("", classes=["scratchbook-states"])
        control["scratchbook"] = Slot(self.env.current_document.docname, (), "states")
        self.set_source_info(control)
        return [control]


def show_states(variants: list[Variant]) -> list[nodes.Node]:
    """Return one content for all states where they agree, else each with its state's name above it."""
    if all_equal(variants):
        return variants[0][1] if variants else []
    shown: list[nodes.Node] = []
    for number, (state, content) in enumerate(variants, 1):
        name = nodes.paragraph("", state_name(state), classes=["scratchbook-state-name"])
        classes = ["scratchbook-state", f"scratchbook-state-{number}"]
        shown.append(nodes.container("", name, *content, classes=classes))
    return shown


def show_states_inline(variants: list[Variant], form: str) -> list[nodes.Node]:
    """Return one value for all states where they agree, else all of them, in words where nothing can switch."""
    if all_equal(variants):
        return variants[0][1] if variants else []
    if form != "html":
        (_, first), *others = variants
        rest = "; ".join(f"{state_name(state)}: {content[0].astext()}" for state, content in others)
        return [*first, nodes.inline("", f" ({rest})", classes=["scratchbook-other-states"])]
    shown: list[nodes.Node] = []
    for number, (state, content) in enumerate(variants, 1):
        classes = ["scratchbook-state", f"scratchbook-state-{number}"]
        before, after = (f" ({state_name(state)}: ", ")") if number > 1 else ("", "")
        names = [nodes.inline("", text, classes=["scratchbook-state-name"]) for text in (before, after)]
        shown.append(nodes.inline("", "", names[0], *content, names[1], classes=classes))
    return shown


def state_control(page: str, states: States, form: str) -> nodes.Node:
    """Return radio buttons, whose choice the style sheet follows; elsewhere a sentence that lists the states."""
    if form != "html":
        listed = (states.name, ", ".join(states.values))
        return nodes.paragraph("", translate("This page is computed for each %s: %s.") % listed)
    group = nodes.make_id(f"states-{in_ids(page)}-{states.name}")
    buttons = "".join(
        f'<label><input type="radio" name="{group}" class="scratchbook-pick-{number}" autocomplete="off"'
        f"{' checked' if number == 1 else ''}> {escape(value)}</label>"
        for number, value in enumerate(states.values, 1)
    )
    html = f'<fieldset class="scratchbook-control"><legend>{escape(states.name)}</legend>{buttons}</fieldset>'
    return nodes.raw("", html, format="html")


def all_equal(variants: list[Variant]) -> bool:
    """Whether all states show the same."""
    return len({"".join(node.pformat() for node in content) for _, content in variants}) <= 1


def state_name(state: State | None) -> str:
    """Return how a state is called on the page."""
    return f"{state.name} = {state.value}" if state else ""


def add_style(app: Sphinx) -> None:
    """Give pages the rules that switch states."""
    if app.builder.format == "html":
        app.config.html_static_path.append(str(Path(__file__).parent / "static-states"))
        app.add_css_file("scratchbook-states.css")


class RefuseNestedStates(SphinxTransform):
    """Keep the control where its style rules reach the whole page: in the section of the chapter's title."""

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        """Leave a message at a control that stands deeper."""
        page = domain_of(self.env).page(self.env.current_document.docname)
        for node in self.document.findall(nodes.container):
            if "scratchbook-states" in node["classes"] and page.states and not is_below_title(node):
                text = "{states} stands right below the chapter's title, outside lists and boxes"
                page.mistakes.append(Mistake("option", text, page.states.place))


def is_below_title(node: nodes.Node) -> bool:
    """Whether a node is a direct child of the chapter's outermost section."""
    return isinstance(node.parent, nodes.section) and isinstance(node.parent.parent, nodes.document)


def register(app: Sphinx) -> None:
    """Add the directive and its style."""
    app.add_directive("states", StatesControl)
    app.add_transform(RefuseNestedStates)
    app.connect("builder-inited", add_style)
