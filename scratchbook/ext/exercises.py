"""Exercises with stars, hints, solutions, starters and checks: numbered by chapter, referred to, listed.

An exercise is an admonition; its number is not known before all chapters are read, so post-transforms write it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.parsers.rst.directives.admonitions import Hint as PlainHint
from sphinx.addnodes import pending_xref, start_of_file
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.ext.boxes import Box
from scratchbook.ext.directive import Converter, LiveDirective, required
from scratchbook.ext.domain import domain_of
from scratchbook.ext.incremental import DEPENDS_EVENT, pages_of

KINDS: Final = ("explain", "derive", "count", "implement")
MOST_STARS: Final = 3
NO_EXERCISE: Final = "there is no exercise "


@dataclass(frozen=True)
class Exercise:
    """What other pages must know of an exercise.

    label: "" for one that nobody can refer to.   anchor: its id.   title: without number.   stars: 1 to 3, 0 unsaid.
    """

    label: str
    anchor: str
    title: str
    kind: str
    stars: int


@dataclass(frozen=True)
class Belonging:
    """A hint or solution that stands away from its exercise."""

    label: str
    place: Place


def read_stars(text: str) -> int:
    """Read 1, 2 or 3, or as many stars."""
    stars = text.strip().count("★") or int(text)
    if not 1 <= stars <= MOST_STARS:
        raise ValueError(f"it must be 1 to {MOST_STARS}")
    return stars


def read_kind(text: str) -> str:
    """Read one of the kinds of exercise."""
    if text.strip() not in KINDS:
        raise ValueError(f"it must be one of {', '.join(KINDS)}")
    return text.strip()


class ExerciseBox(Box):
    """A task for the reader."""

    wanted: ClassVar[dict[str, Converter]] = {**Box.wanted, "label": required, "stars": read_stars, "kind": read_kind}

    def make_nodes(self) -> list[nodes.Node]:
        """Return the box and tell the domain of it."""
        self.require_content("write the task in it")
        if "label" in self.options:
            self.options["name"] = self.options.pop("label")
        docname = self.env.current_document.docname
        label = str(self.options.get("name", "")).lower()
        number = 1 + len(self.page.kept.get("exercises", ()))
        box = self.make_box(self.read_title(), "exercise")
        if not box["ids"]:
            box["ids"] = [nodes.make_id(f"exercise-{docname}-{number}")]
            self.state.document.note_explicit_target(box, box)
        title = box[0].astext()  # type: ignore[attr-defined]
        exercise = Exercise(label, box["ids"][0], title, self.options.get("kind", ""), self.options.get("stars", 0))
        self.domain.keep(docname, "exercises", exercise)
        box["scratchbook_exercise"] = (docname, exercise.anchor)
        return [box]


class Belongs(Box):
    """A hint or a solution: within its exercise, or anywhere with the exercise's label behind it."""

    titles: ClassVar[dict[str, str]] = {"hint": "Hint", "solution": "Solution"}

    def make_nodes(self) -> list[nodes.Node]:
        """Return a folded box, which remembers the exercise where it stands away from it."""
        self.require_content(f"write the {self.name} in it")
        label = self.arguments[0].strip().lower() if self.arguments else ""
        if not label and not self.outer_box:
            raise ScratchbookError(
                f"{{{self.name}}} stands in no exercise: move it into one or write the exercise's label behind it",
                kind="exercise",
            )
        title = "Answer" if self.outer_box == "teach" else self.titles[self.name]
        box = self.make_box([nodes.Text(_(title))], self.name, folds=True)
        if label:
            box["scratchbook_belongs"] = label
            self.domain.keep(self.env.current_document.docname, "belongings", Belonging(label, self.place))
        return [box]


class HintBox(Belongs):
    """As a solution; without a label and outside an exercise, docutils' own {hint}."""

    def run(self) -> list[nodes.Node]:
        """Leave to docutils what is written as for docutils."""
        is_label = bool(self.arguments) and len(self.arguments[0].split()) == 1 and "".join(self.content).strip()
        if is_label or self.outer_box == "exercise":
            return super().run()
        if self.arguments:
            self.content.insert(0, self.arguments[0], self.place.path, self.lineno - 1)
        return PlainHint(
            self.name, [], {}, self.content, self.lineno, self.content_offset, self.block_text, self.state,
            self.state_machine,
        ).run()  # fmt: skip


class ExerciseCode(LiveDirective):
    """Code of an exercise: the {starter} that its reader completes, and the {check} that a solution passes."""

    wanted: ClassVar[dict[str, Converter]] = {"class": directives.class_option}

    def make_nodes(self) -> list[nodes.Node]:
        """Return the code block with its role, for whoever runs it."""
        if not "".join(self.content).strip():
            raise ScratchbookError(f"{{{self.name}}} is empty: write its code in it", kind="exercise")
        caption = {"starter": _("Start with this"), "check": _("It is right when this is true")}[self.name]
        shown = self.code_block(list(self.content), "python", {"class": [f"exercise-{self.name}"]})
        for block in shown:
            if isinstance(block, nodes.literal_block):
                block["scratchbook_role"] = self.name
                block["translatable"] = False
        label = nodes.paragraph("", caption, classes=["exercise-code-label"])
        self.set_source_info(label)
        return [label, *shown]


class ExerciseList(LiveDirective):
    """The place of the list of all exercises of the book."""

    wanted: ClassVar[dict[str, Converter]] = {"class": directives.class_option}

    def make_nodes(self) -> list[nodes.Node]:
        """Return an empty container, filled once all chapters are read."""
        place = nodes.container("", classes=["exercise-list"])
        place["scratchbook_exercises"] = True
        self.set_source_info(place)
        return [place]


def exercise_number(env: BuildEnvironment, docname: str, anchor: str) -> str:
    """Return an exercise's number: that of its chapter, where chapters have one, and its place in it."""
    chapter = (env.toc_secnumbers.get(docname) or {}).get("") or ()
    page = domain_of(env).pages.get(docname)
    anchors = [exercise.anchor for exercise in page.kept.get("exercises", ())] if page else []
    return ".".join(map(str, (*chapter[:1], anchors.index(anchor) + 1)))


def find_exercise(env: BuildEnvironment, label: str) -> tuple[str, Exercise] | None:
    """Return the page and the exercise of a label."""
    kept = domain_of(env).kept("exercises")
    return next(((docname, exercise) for docname, exercise in kept if exercise.label == label), None)


def exercise_name(env: BuildEnvironment, docname: str, anchor: str) -> str:
    """Return what an exercise is called in a sentence."""
    return _("Exercise %s") % exercise_number(env, docname, anchor)


class NumberExercises(SphinxPostTransform):
    """Write number, stars and kind into the titles of exercises, and the exercise's name into far solutions."""

    default_priority = 8

    def run(self, **kwargs: Any) -> None:
        """Complete each title."""
        for box in self.document.findall(nodes.admonition):
            if "scratchbook_exercise" in box:
                self.complete(box)
            elif "scratchbook_belongs" in box:
                found = find_exercise(self.env, box["scratchbook_belongs"])
                if found:
                    name = exercise_name(self.env, found[0], found[1].anchor)
                    text = _("%s to %s") % (box[0].astext(), name)
                    box[0].children = [nodes.Text(text)]

    def complete(self, box: nodes.Element) -> None:
        """Complete the title of one exercise."""
        docname, anchor = box["scratchbook_exercise"]
        kept = domain_of(self.env).pages[docname].kept["exercises"]
        exercise: Exercise = next(item for item in kept if item.anchor == anchor)
        name = nodes.inline("", exercise_name(self.env, docname, anchor), classes=["exercise-number"])
        title = box[0]
        assert isinstance(title, nodes.title)
        if title.astext().strip():
            title.insert(0, nodes.Text(" " if self.app.builder.format == "html" else ". "))
        title.insert(0, name)
        facts = [*self.stars(exercise.stars), *self.kind(exercise.kind)]
        title += [node for fact in facts for node in (nodes.Text(" "), fact)]

    def stars(self, stars: int) -> list[nodes.Node]:
        """Return the stars: words that the style sheet draws as stars in HTML, both elsewhere."""
        if not stars:
            return []
        words = _("difficulty %d of %d") % (stars, MOST_STARS)
        if self.app.builder.format == "html":
            return [nodes.inline("", words, classes=["stars", f"stars-{stars}"])]
        if self.app.builder.format == "latex":
            return [nodes.math("", r"\star" * stars), nodes.inline("", f"({words})")]
        return [nodes.inline("", f"{'★' * stars}{'☆' * (MOST_STARS - stars)} ({words})")]

    def kind(self, kind: str) -> list[nodes.Node]:
        """Return the kind in a word."""
        return [nodes.inline("", _(kind), classes=["exercise-kind"])] if kind else []


class FillExerciseLists(SphinxPostTransform):
    """List all exercises of the book where {exercises} stands."""

    default_priority = 9

    def run(self, **kwargs: Any) -> None:
        """Fill each place."""
        for place in list(self.document.findall(nodes.container)):
            if place.get("scratchbook_exercises"):
                place += self.lists()

    def lists(self) -> list[nodes.Node]:
        """Return a heading and a list for each chapter that has exercises, in the order of the book."""
        pages = domain_of(self.env).pages
        shown: list[nodes.Node] = []
        for docname in self.env.collect_relations():
            exercises = pages[docname].kept.get("exercises", ()) if docname in pages else ()
            if exercises:
                title = self.env.titles[docname].astext()
                shown.append(nodes.paragraph("", title, classes=["exercise-list-chapter"]))
                shown.append(nodes.bullet_list("", *(self.item(docname, exercise) for exercise in exercises), bullet="*"))
        return shown or [nodes.paragraph("", _("This book has no exercises."))]

    def item(self, docname: str, exercise: Exercise) -> nodes.list_item:
        """Return the line of one exercise."""
        name = exercise_name(self.env, docname, exercise.anchor)
        text = nodes.inline("", f"{name}. {exercise.title}" if exercise.title else name)
        link = make_refnode(self.app.builder, self.env.current_document.docname, docname, exercise.anchor, text)
        facts = [exercise.kind, _("difficulty %d of %d") % (exercise.stars, MOST_STARS) if exercise.stars else ""]
        line = nodes.paragraph("", "", link)
        if any(facts):
            line += nodes.inline("", f" ({', '.join(filter(None, facts))})", classes=["exercise-facts"])
        return nodes.list_item("", line)


class SolutionsLast(SphinxPostTransform):
    """On paper, move hints and solutions to the end of their chapter, under their exercise's name."""

    default_priority = 10
    formats: ClassVar[tuple[str, ...]] = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Move the boxes of each chapter."""
        chapters = list(self.document.findall(start_of_file)) or [self.document]
        for chapter in chapters:
            boxes = [box for box in chapter.findall(nodes.admonition) if is_apart(box, chapter)]
            for box in boxes:
                exercise = outer_exercise(box)
                if exercise is not None:
                    docname, anchor = exercise["scratchbook_exercise"]
                    title = _("%s to %s") % (box[0].astext(), exercise_name(self.env, docname, anchor))
                    box[0].children = [nodes.Text(title)]
                box.parent.remove(box)
            if boxes:
                rubric = nodes.rubric("", _("Hints and solutions"))
                section = next(iter(chapter.findall(nodes.section)), chapter)
                section += [rubric, *boxes]


def is_apart(box: nodes.Element, chapter: nodes.Element) -> bool:
    """Whether a box goes to the end of this chapter, and not of one within it."""
    if not {"hint", "solution"} & set(box["classes"]) or "box" not in box["classes"]:
        return False
    parent = box.parent
    while parent is not None and not isinstance(parent, start_of_file):
        if "teach" in parent.get("classes", ()):
            return False
        parent = parent.parent
    return parent is chapter or parent is None


def outer_exercise(box: nodes.Element) -> nodes.Element | None:
    """Return the exercise around a box."""
    parent = box.parent
    while parent is not None and "scratchbook_exercise" not in parent:
        parent = parent.parent
    return parent


def resolve_reference(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> Any:
    """Resolve {ref} and {numref} to an exercise, which Sphinx cannot name."""
    if node.get("reftype") not in ("ref", "numref"):
        return None
    found = find_exercise(env, str(node.get("reftarget", "")).lower())
    if found is None:
        return None
    docname, exercise = found
    text = content.astext() if node.get("refexplicit") else exercise_name(env, docname, exercise.anchor)
    shown = nodes.inline("", text.replace("%s", exercise_number(env, docname, exercise.anchor)))
    return make_refnode(app.builder, node["refdoc"], docname, exercise.anchor, shown)


def check_belongings(app: Sphinx, env: BuildEnvironment) -> None:
    """Keep a mistake for each hint and solution whose exercise no chapter has."""
    domain = domain_of(env)
    labels = sorted(exercise.label for _, exercise in domain.kept("exercises") if exercise.label)
    for page in domain.pages.values():
        page.mistakes = [mistake for mistake in page.mistakes if not mistake.text.startswith(NO_EXERCISE)]
    for docname, belonging in domain.kept("belongings"):
        if belonging.label not in labels:
            text = f"{NO_EXERCISE}'{belonging.label}'; there are {', '.join(labels) or 'none'}"
            domain.page(docname).mistakes.append(Mistake("exercise", text, belonging.place))


def what_pages_show(app: Sphinx, docname: str) -> list[Any]:
    """Tell the incremental build what of other pages' exercises this page may show."""
    env = app.env
    page = domain_of(env).pages.get(docname)
    labels = {name.lower() for name in pages_of(env).targets.get(docname, ())}
    labels |= {item.label for item in page.kept.get("belongings", ())} if page else set()
    shown = [(item.label, exercise_name(env, at, item.anchor)) for at, item in domain_of(env).kept("exercises")]
    return [pair for pair in shown if pair[0] in labels]


def register(app: Sphinx) -> None:
    """Tell Sphinx the exercises."""
    app.add_directive("exercise", ExerciseBox)
    app.add_directive("solution", Belongs)
    app.add_directive("hint", HintBox, override=True)
    for name in ("starter", "check"):
        app.add_directive(name, ExerciseCode)
    app.add_directive("exercises", ExerciseList)
    for transform in (NumberExercises, FillExerciseLists, SolutionsLast):
        app.add_post_transform(transform)
    app.connect("missing-reference", resolve_reference)
    app.connect("env-updated", check_belongings, priority=400)
    if DEPENDS_EVENT in app.events.events:
        app.connect(DEPENDS_EVENT, what_pages_show)
