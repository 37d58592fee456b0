"""Number the exercises by chapter, write their stars, resolve references to them, list them, gather their solutions.

An exercise's number is not known before all chapters are read, so post-transforms write it.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref, start_of_file
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from scratchbook.ext.domain import domain_of, page_written
from scratchbook.ext.exercises import MOST_STARS, Exercise
from scratchbook.ext.incremental import DEPENDS_EVENT, pages_of


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


def chapter_name(env: BuildEnvironment, docname: str) -> str:
    """Return what a list calls a chapter: its number, where it has one, and its title."""
    number = (env.toc_secnumbers.get(docname) or {}).get("") or ()
    title = env.titles[docname].astext()
    return f"{'.'.join(map(str, number))}. {title}" if number else title


def chapter_link(env: BuildEnvironment, docname: str) -> nodes.reference:
    """Return a link to a chapter."""
    here, text = page_written(env), nodes.inline("", chapter_name(env, docname))
    return make_refnode(domain_of(env).builder, here, docname, "", text)


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
            title.insert(0, nodes.Text(" " if domain_of(self.env).builder.format == "html" else ". "))
        title.insert(0, name)
        facts = [*self.stars(exercise.stars), *self.kind(exercise.kind)]
        title += [node for fact in facts for node in (nodes.Text(" "), fact)]

    def stars(self, stars: int) -> list[nodes.Node]:
        """Return the stars: words that the style sheet draws as stars in HTML, both elsewhere."""
        if not stars:
            return []
        words = difficulty(stars)
        if domain_of(self.env).builder.format == "html":
            return [drawn_stars(stars)]
        if domain_of(self.env).builder.format == "latex":
            return [nodes.math("", r"\star" * stars), nodes.inline("", f"({words})")]
        return [nodes.inline("", f"{'★' * stars}{'☆' * (MOST_STARS - stars)} ({words})")]

    def kind(self, kind: str) -> list[nodes.Node]:
        """Return the kind in a word."""
        return [nodes.inline("", _(kind), classes=["exercise-kind"])] if kind else []


def difficulty(stars: int) -> str:
    """Return stars in words."""
    return _("difficulty %d of %d") % (stars, MOST_STARS)


def drawn_stars(stars: int) -> nodes.inline:
    """Return the words that the style sheets of HTML draw as stars."""
    return nodes.inline("", difficulty(stars), classes=["stars", f"stars-{stars}"])


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
                link = chapter_link(self.env, docname)
                shown.append(nodes.paragraph("", "", link, classes=["exercise-list-chapter"]))
                shown.append(
                    nodes.bullet_list("", *(self.item(docname, exercise) for exercise in exercises), bullet="*")
                )
        return shown or [nodes.paragraph("", _("This book has no exercises."))]

    def item(self, docname: str, exercise: Exercise) -> nodes.list_item:
        """Return the line of one exercise."""
        name = exercise_name(self.env, docname, exercise.anchor)
        text = nodes.inline("", f"{name}. {exercise.title}" if exercise.title else name)
        here = page_written(self.env)
        link = make_refnode(domain_of(self.env).builder, here, docname, exercise.anchor, text)
        line = nodes.paragraph("", "", link)
        if exercise.stars and domain_of(self.env).builder.format == "html":
            line += [nodes.Text(" "), drawn_stars(exercise.stars)]
            if exercise.kind:
                line += nodes.inline("", f" {_(exercise.kind)}", classes=["exercise-facts"])
            return nodes.list_item("", line)
        facts = [_(exercise.kind) if exercise.kind else "", difficulty(exercise.stars) if exercise.stars else ""]
        if any(facts):
            line += nodes.inline("", f" ({', '.join(filter(None, facts))})", classes=["exercise-facts"])
        return nodes.list_item("", line)


class SolutionsLast(SphinxPostTransform):
    """On paper, move hints and solutions to the end of their chapter, under their exercise's name."""

    default_priority = 10
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Move the boxes of each chapter."""
        chapters: list[nodes.Element] = [*self.document.findall(start_of_file)] or [self.document]
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
                heading = nodes.title("", _("Hints and solutions"))
                section: nodes.Element = next(iter(chapter.findall(nodes.section)), chapter)
                section += nodes.section("", heading, *boxes, ids=["hints-and-solutions"])


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


def what_pages_show(app: Sphinx) -> dict[str, list[Any]]:
    """Tell the incremental build what of other pages' exercises each page may show."""
    env, domain = app.env, domain_of(app.env)
    every = [
        (item.label, (at, chapter_name(env, at), exercise_name(env, at, item.anchor), str(item)))
        for at, item in domain.kept("exercises")
    ]
    shown: dict[str, list[Any]] = {}
    for docname, targets in pages_of(env).targets.items() if every else ():
        kept = page.kept if (page := domain.pages.get(docname)) else {}
        labels = {name.lower() for name in targets} | {item.label for item in kept.get("belongings", ())}
        shown[docname] = [told for label, told in every if label in labels or kept.get("exercise-lists")]
    return shown


def register(app: Sphinx) -> None:
    """Tell Sphinx how exercises are numbered and referred to."""
    for transform in (NumberExercises, FillExerciseLists, SolutionsLast):
        app.add_post_transform(transform)
    app.connect("missing-reference", resolve_reference)
    if DEPENDS_EVENT in app.events.events:
        app.connect(DEPENDS_EVENT, what_pages_show)
