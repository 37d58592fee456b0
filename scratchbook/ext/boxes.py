"""The teaching boxes: {teach}, {in-practice}, {question}, {quiz}.  Plain admonitions, so every builder has them.

What folds carries Sphinx's own attribute `collapsible`: HTML makes <details> of it, other builders show it open.
Exercises with their hints and solutions are in `exercises`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Final, NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from scratchbook.core.errors import Place, ScratchbookError
from scratchbook.ext.directive import Converter, LiveDirective, required

INSIDE: Final = "scratchbook_inside"  # in the temporary data of a chapter: the box that is being read


class Box(LiveDirective):
    """The base of all boxes: a title, a body of any Markdown, a name to refer to."""

    wanted: ClassVar[dict[str, Converter]] = {"class": directives.class_option, "name": required}

    def make_box(self, title: nodes.title, kind: str, *, folds: bool = False) -> nodes.admonition:
        """Return a box with its title and its body read."""
        box = nodes.admonition("", title)
        box["classes"] = ["box", kind, *self.options.get("class", [])]
        if folds:
            box["collapsible"] = "closed"
        self.set_source_info(box)
        self.add_name(box)
        with self.inside(kind):
            box += self.parse_content_to_nodes()
        return box

    @contextmanager
    def inside(self, kind: str) -> Iterator[None]:
        """Tell the directives within which box they stand in."""
        data = self.env.current_document
        outer, data[INSIDE] = data.get(INSIDE, ""), kind
        try:
            yield
        finally:
            data[INSIDE] = outer

    @property
    def outer_box(self) -> str:
        """The kind of the box around this one, "" for none."""
        return str(self.env.current_document.get(INSIDE, ""))

    def read_title(self, default: str = "") -> nodes.title:
        """Return the title that the author wrote, with its mathematics and emphasis, or the default."""
        text = self.arguments[0].strip() if self.arguments else ""
        title, messages = self.make_words(nodes.title, text or default)
        title += messages
        return title

    def require_content(self, choice: str) -> None:
        """Refuse an empty box."""
        if not "".join(self.content).strip():
            raise ScratchbookError(f"{{{self.name}}} is empty: {choice}", kind="exercise")


class InPractice(Box):
    """What people do with it outside the book, under any title."""

    def make_nodes(self) -> list[nodes.Node]:
        """Return the box."""
        self.require_content("say in it how the idea is used")
        return [self.make_box(self.read_title(_("In practice")), "in-practice")]


class Question(Box):
    """A question with its answer folded."""

    def make_nodes(self) -> list[nodes.Node]:
        """Return the question as the title of a box that opens to the answer."""
        if not self.arguments:
            raise ScratchbookError("{question} needs the question behind it and the answer in it", kind="exercise")
        self.require_content("write the answer in it")
        return [self.make_box(self.read_title(), "question", folds=True)]


class Part(NamedTuple):
    """A part of the teach box: how it may be called, its lead-in, and the list that it needs."""

    pattern: str
    lead_in: str
    form: type[nodes.Sequential] | None = None


PARTS: Final = (
    Part(r"(in )?one[ -]sentence( version)?", "One sentence"),
    Part(r"(an )?analogy", "Analogy"),
    Part(r"at the board", "At the board", nodes.enumerated_list),
    Part(r"(common )?misconceptions", "Misconceptions", nodes.bullet_list),
    Part(r"check( for understanding| question)?", "Check"),
)
FORMS: Final = {nodes.enumerated_list: "an ordered list (1. 2. 3.)", nodes.bullet_list: "a bulleted list"}


class Teach(Box):
    """What a teacher needs: one sentence, an analogy, the steps at the board, misconceptions, a check question."""

    def make_nodes(self) -> list[nodes.Node]:
        """Return the box, with a message for each part that is missing or has another form than it needs."""
        box = self.make_box(self.read_title(_("Teach it")), "teach")
        found = self._find_parts(box)
        if missing := [part.lead_in for part in PARTS if part not in found]:
            is_one = len(missing) == 1
            what = f"part '{missing[0]}': begin one" if is_one else f"parts {listed(missing)}: begin the first"
            self.note("exercise", f"{{teach}} has no {what} with **{missing[0]}.**")
        for part in PARTS:
            if part in found and part.form and not any(isinstance(node, part.form) for node in found[part]):
                text = f"the part '{part.lead_in}' of {{teach}} needs {FORMS[part.form]}"
                self.note("exercise", text, self._place_in(box, found[part][0]))
        check = found.get(PARTS[-1])
        if check and not any("solution" in node["classes"] for node in check):
            text = "the part 'Check' of {teach} has no answer: put {solution} below the question"
            self.note("exercise", text, self._place_in(box, check[0]))
        if list(found) != [part for part in PARTS if part in found]:
            names = ", ".join(part.lead_in for part in PARTS)
            self.note("exercise", f"the parts of {{teach}} stand in the order {names}")
        return [box]

    def _find_parts(self, box: nodes.Element) -> dict[Part, list[nodes.Element]]:
        """Return the nodes of each part in the order of the page, with its lead-in made uniform."""
        found: dict[Part, list[nodes.Element]] = {}
        current: list[nodes.Element] = []
        for node in box.children[1:]:
            part = read_lead_in(node)
            if part is not None:
                current = found.setdefault(part, [])
            if isinstance(node, nodes.Element):
                current.append(node)
        return found

    def _place_in(self, box: nodes.Element, node: nodes.Element) -> Place:
        return Place(self.place.path, node.line or self.place.line)


def listed(names: list[str]) -> str:
    """Return two names or more as a sentence quotes them."""
    *first, last = (f"'{name}'" for name in names)
    return f"{', '.join(first)} and {last}"


def read_lead_in(node: nodes.Node) -> Part | None:
    """Return the part that a paragraph begins, and give it the lead-in that all books share."""
    if not isinstance(node, nodes.paragraph):
        return None
    first = next((child for child in node.children if child.astext().strip()), None)
    if not isinstance(first, nodes.strong):
        return None
    said = " ".join(first.astext().split()).rstrip(".:?").lower()
    part = next((part for part in PARTS if re.fullmatch(part.pattern, said)), None)
    if part is not None:
        first.children = [nodes.Text(f"{_(part.lead_in)}.")]
        first["classes"].append("lead-in")
        first.children[0].parent = first
    return part


QUIZ_KINDS: Final = {
    "true-false": "True or false?",
    "one": "One of these is right.",
    "several": "Several of these are right.",
}
OPTION: Final = re.compile(r"\[([ xX])\]\s+")


class Quiz(Box):
    """A question with options, each of which opens to its explanation.

    Options are a bulleted list whose items begin with [x] when right and [ ] when not; the rest of an item explains.
    """

    wanted: ClassVar[dict[str, Converter]] = {**Box.wanted, "kind": directives.unchanged}

    def make_nodes(self) -> list[nodes.Node]:
        """Return the question with an opening box for each option."""
        if not self.arguments:
            raise ScratchbookError("{quiz} needs its question behind it", kind="exercise")
        box = self.make_box(self.read_title(), "quiz")
        options = next((node for node in box.children if isinstance(node, nodes.bullet_list)), None)
        if options is None:
            raise ScratchbookError("{quiz} has no options: list them as - [x] right and - [ ] wrong", kind="exercise")
        made = [self._make_option(item) for item in options.children if isinstance(item, nodes.list_item)]
        kind = self._check_kind([option["quiz_right"] for option in made], [str(option[0].astext()) for option in made])
        options.replace_self([nodes.paragraph("", _(QUIZ_KINDS[kind]), classes=["quiz-kind"]), *made])
        box["classes"].append(f"quiz-{kind}")
        return [box]

    def _make_option(self, item: nodes.list_item) -> nodes.Element:
        """Turn a list item into a box that opens: its first paragraph is the option, the rest explains."""
        first, *rest = item.children
        mark = OPTION.match(first.astext())
        if mark is None or not isinstance(first, nodes.paragraph):
            raise ScratchbookError(
                f"an option of {{quiz}} begins with [x] or [ ], not '{first.astext()[:20]}'", kind="exercise"
            )
        if not rest:
            text = (
                f"the option '{first.astext()[mark.end() :][:40]}' of {{quiz}} has no explanation: write one below it"
            )
            self.note("exercise", text, Place(self.place.path, first.line or self.place.line))
        cut_from_start(first, mark.end())
        title = nodes.title(OPTION.sub("", first.rawsource, count=1), "", *first.children)
        option = nodes.admonition("", title, *rest)
        option["classes"] = ["quiz-option", "quiz-right" if mark[1] != " " else "quiz-wrong"]
        option["collapsible"] = "closed"
        option["quiz_right"] = mark[1] != " "
        option.source, option.line = title.source, title.line = first.source, first.line
        return option

    def _check_kind(self, right: list[bool], texts: list[str]) -> str:
        """Return the kind that the options have, which is the one that the author said, if any."""
        is_statement = [text.strip().rstrip(".").lower() for text in texts] == ["true", "false"]
        count = sum(right)
        kind = "true-false" if is_statement else "one" if count == 1 else "several"
        if count == 0 or (is_statement and count != 1):
            raise ScratchbookError(f"{{quiz}} marks {count} options as right with [x]", kind="exercise")
        said = self.options.get("kind", kind).strip()
        if said != kind:
            choice = ", ".join(QUIZ_KINDS)
            raise ScratchbookError(
                f"{{quiz}} says kind '{said}' and its options make it '{kind}' ({choice})", kind="exercise"
            )
        return kind


class Verdicts(SphinxTransform):
    """Begin each explanation of a quiz with its verdict: once it is translated, since a catalogue holds it without."""

    default_priority = 30  # Sphinx translates at 20

    def apply(self, **kwargs: Any) -> None:
        """Add the verdict to each option."""
        for option in self.document.findall(nodes.admonition):
            if "quiz_right" not in option:
                continue
            verdict = nodes.strong("", _("Right.") if option["quiz_right"] else _("Not so."), classes=["quiz-verdict"])
            first = option[1] if len(option) > 1 else None
            if isinstance(first, nodes.paragraph):
                first.insert(0, [verdict, nodes.Text(" ")])
            else:
                option.insert(1, nodes.paragraph("", "", verdict))


def cut_from_start(paragraph: nodes.paragraph, count: int) -> None:
    """Take characters off the beginning of a paragraph."""
    first = next(child for child in paragraph.children if child.astext())
    assert isinstance(first, nodes.Text)
    paragraph.replace(first, nodes.Text(first[count:]))


def parts_of(box: nodes.Element) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """Return what the title of a box consists of, nothing where it has none, and its body."""
    title = box[0] if box.children and isinstance(box[0], nodes.title) else None
    return ([*title.children], box.children[1:]) if title else ([], box.children)


class TitlesOnce(SphinxPostTransform):
    """Take the title from a box that says again what the title of its section, right above it, has said."""

    default_priority = 390  # before other builders make something else of a box
    formats = ("html", "latex", "text", "man")  # Texinfo's writer takes what comes first for a title

    def run(self, **kwargs: Any) -> None:
        """Look at what comes first in each section."""
        for section in self.document.findall(nodes.section):
            first = next((node for node in section.children if not isinstance(node, nodes.title | nodes.target)), None)
            if not isinstance(first, nodes.admonition) or "box" not in first["classes"] or "collapsible" in first:
                continue
            if first[0].astext() == section[0].astext():
                del first[0]
                first["classes"] += ["untitled"]


class QuizAsList(SphinxPostTransform):
    """Where nothing folds, show a quiz as a list."""

    default_priority = 400
    formats = ("latex", "text", "man", "texinfo")

    def run(self, **kwargs: Any) -> None:
        """Replace the options by list items."""
        for option in list(self.document.findall(nodes.admonition)):
            if "quiz-option" not in option["classes"]:
                continue
            title, *explanation = option.children
            item = nodes.list_item("", nodes.paragraph("", "", *title.children), *explanation)
            option.replace_self(nodes.bullet_list("", item, bullet="*"))


class BoxesAsText(SphinxPostTransform):
    """In plain text, where an admonition runs its paragraphs together, show a box as a title with text below it."""

    default_priority = 410
    formats = ("text",)

    def run(self, **kwargs: Any) -> None:
        """Replace each box, outer ones first, which keeps inner ones in place."""
        for box in list(self.document.findall(nodes.admonition)):
            if "box" in box["classes"]:
                title, body = parts_of(box)
                heading = [nodes.paragraph("", "", nodes.strong("", "", *title))] if title else []
                box.replace_self([*heading, nodes.block_quote("", *body)])


def register(app: Sphinx) -> None:
    """Tell Sphinx the boxes."""
    for name, directive in {"teach": Teach, "in-practice": InPractice, "question": Question, "quiz": Quiz}.items():
        app.add_directive(name, directive)
    app.add_transform(Verdicts)
    app.add_post_transform(TitlesOnce)
    app.add_post_transform(QuizAsList)
    app.add_post_transform(BoxesAsText)
