"""{exercise} with its {hint}, {solution}, {starter} and {check}: leaves boxes, and branches that judge their code.

Numbers, stars and references are written by `numbering` once all chapters are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.parsers.rst.directives.admonitions import Hint as PlainHint
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _

from scratchbook.core.cells import BranchCell, Code
from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.core.records import to_json
from scratchbook.ext.boxes import Box
from scratchbook.ext.directive import Converter, LiveDirective, required, whole_number
from scratchbook.ext.domain import domain_of, in_ids

KINDS: Final = ("explain", "derive", "count", "implement")
MOST_STARS: Final = 3
ROLES: Final = ("starter", "check")
NO_EXERCISE: Final = "there is no exercise "
UNSOLVED: Final = "has a {check} and no {solution} with Python in it; write the code there in a fence ```python"
FAR: Final = "is_far"  # in the payload of a branch that judges a solution away from its exercise


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
class Task:
    """What judges the code of an exercise, wherever its solutions stand.

    name: what messages call the exercise.   checks: as JSON.   is_solved: whether a solution stands within it.
    """

    label: str
    anchor: str
    name: str
    checks: tuple[Any, ...]
    is_solved: bool
    place: Place


@dataclass(frozen=True)
class Belonging:
    """A hint or solution that stands away from its exercise.  codes: its Python, as JSON."""

    label: str
    place: Place
    codes: tuple[Any, ...] = ()


def read_stars(text: str) -> int:
    """Read 1, 2 or 3, or as many stars."""
    stars = text.strip().count("★") or whole_number(text)
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
            box["ids"] = [nodes.make_id(f"exercise-{in_ids(docname)}-{number}")]
            self.state.document.note_explicit_target(box, box)
        title = box[0].astext()
        exercise = Exercise(label, box["ids"][0], title, self.options.get("kind", ""), self.options.get("stars", 0))
        self.domain.keep(docname, "exercises", exercise)
        box["scratchbook_exercise"] = (docname, exercise.anchor)
        self._leave_checks(box, label, f"exercise '{label or title or number}'")
        return [box]

    def _leave_checks(self, box: nodes.Element, label: str, name: str) -> None:
        """Leave branches that run the starter and the solution against the check."""
        codes = {role: [block["scratchbook_code"] for block in code_blocks(box, has_role(role))] for role in ROLES}
        solution = [solution_code(block, self.place.path) for block in code_blocks(box, is_solution_code)]
        if not codes["check"]:
            if codes["starter"]:
                text = f"{name} has a {{starter}} and no {{check}}: nobody knows when it is done"
                self.note("exercise", text)
            return
        if not codes["starter"]:
            self.note("exercise", f"{name} has a {{check}} and no {{starter}}")
        checks = tuple(map(to_json, codes["check"]))
        task = Task(label, box["ids"][0], name, checks, bool(solution), self.place)
        self.domain.keep(self.env.current_document.docname, "tasks", task)
        for role, pieces in (("starter", codes["starter"]), ("solution", solution)):
            if pieces:
                cell = self.page.fresh_id(f"{box['ids'][0]}-{role}")
                place = Place(pieces[0].path, max(pieces[0].numbers[0] - 1, 1))
                self.page.cells.append(branch(cell, place, role, task, tuple(map(to_json, pieces))))


def branch(cell: str, place: Place, role: str, task: Task, codes: tuple[Any, ...]) -> BranchCell:
    """Return the branch that runs the code of a starter or a solution, and then the checks of its exercise."""
    payload = {"name": task.name, "codes": list(codes), "checks": list(task.checks)}
    return BranchCell(cell, place, f"scratchbook.core.practice:judge_{role}", payload)


def code_blocks(box: nodes.Element, condition: Callable[[nodes.literal_block], bool]) -> list[nodes.literal_block]:
    """Return the code blocks of a box that fulfil a condition, in page order."""
    return [block for block in box.findall(nodes.literal_block) if condition(block)]


def has_role(role: str) -> Callable[[nodes.literal_block], bool]:
    """Return a condition for code blocks of that role."""
    return lambda block: block.get("scratchbook_role") == role


def is_solution_code(block: nodes.literal_block) -> bool:
    """Whether a block is plain Python within a solution."""
    if block.get("language") not in ("python", "py", "python3"):
        return False
    if "scratchbook_role" in block or "scratchbook-input" in block["classes"] or "scratchbook" in block:
        return False
    parent = block.parent
    while parent is not None and "solution" not in parent.get("classes", ()):
        parent = parent.parent
    return parent is not None


def solution_code(block: nodes.literal_block, path: str) -> Code:
    """Return a block of Python as it stands in the chapter; its first line is the one below its fence."""
    text = block.astext().rstrip("\n")
    first = (block.line or 0) + 1
    return Code(path, text, tuple(range(first, first + 1 + text.count("\n"))))


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
        box = self.make_box(self.make_words(nodes.title, _(title))[0], self.name, folds=True)
        if label:
            box["scratchbook_belongs"] = label
            blocks = code_blocks(box, is_solution_code) if self.name == "solution" else []
            codes = tuple(to_json(solution_code(block, self.place.path)) for block in blocks)
            self.domain.keep(self.env.current_document.docname, "belongings", Belonging(label, self.place, codes))
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
        return list(PlainHint(
            self.name, [], {}, self.content, self.lineno, self.content_offset, self.block_text, self.state,
            self.state_machine,
        ).run())  # fmt: skip


class ExerciseCode(LiveDirective):
    """Code of an exercise: the {starter} that its reader completes, and the {check} that a solution passes."""

    wanted: ClassVar[dict[str, Converter]] = {"class": directives.class_option}

    def make_nodes(self) -> list[nodes.Node]:
        """Return the code block with its role, for whoever runs it."""
        if not "".join(self.content).strip():
            raise ScratchbookError(f"{{{self.name}}} is empty: write its code in it", kind="exercise")
        caption = {"starter": _("Start with this"), "check": _("It is right when this is true")}[self.name]
        shown_code, code = self.page_code()
        shown = self.code_block(shown_code.text.split("\n"), "python", {"class": [f"exercise-{self.name}"]})
        for block in shown:
            if isinstance(block, nodes.literal_block):
                block["scratchbook_role"] = self.name
                block["scratchbook_code"] = code
                block["translatable"] = False
        label = nodes.paragraph("", caption, classes=["exercise-code-label"])
        self.set_source_info(label)
        return [label, *shown]


class ExerciseList(LiveDirective):
    """The place of the list of all exercises of the book."""

    wanted: ClassVar[dict[str, Converter]] = {"class": directives.class_option}

    def make_nodes(self) -> list[nodes.Node]:
        """Return an empty container, filled once all chapters are read."""
        self.domain.keep(self.env.current_document.docname, "exercise-lists", True)
        place = nodes.container("", classes=["exercise-list"])
        place["scratchbook_exercises"] = True
        self.set_source_info(place)
        return [place]


def keep_titles(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the titles of a chapter's exercises as they are once they are translated, for the list of all."""
    page = domain_of(app.env).pages.get(app.env.current_document.docname)
    boxes = [box for box in doctree.findall(nodes.admonition) if "scratchbook_exercise" in box]
    titles = {box["scratchbook_exercise"][1]: box[0].astext() for box in boxes}
    if page and titles:
        known = page.kept["exercises"]
        page.kept["exercises"] = [replace(one, title=titles.get(one.anchor, one.title)) for one in known]


def check_belongings(app: Sphinx, env: BuildEnvironment) -> None:
    """Keep a mistake for each hint and solution whose exercise no chapter has."""
    domain = domain_of(env)
    labels = sorted(exercise.label for _, exercise in domain.kept("exercises") if exercise.label)
    for page in domain.pages.values():
        page.mistakes = [mistake for mistake in page.mistakes if not mistake.text.startswith(NO_EXERCISE)]
    for docname, belonging in domain.kept("belongings"):
        if belonging.label not in labels:
            text = f"{NO_EXERCISE}'{belonging.label}'; there are {', '.join(labels) or 'none with a label'}"
            domain.page(docname).mistakes.append(Mistake("exercise", text, belonging.place))


def judge_far_solutions(app: Sphinx, env: BuildEnvironment) -> None:
    """Let each solution with Python away from its exercise be run on the exercise's page, whose code it may use."""
    domain = domain_of(env)
    solutions = [belonging for _, belonging in domain.kept("belongings") if belonging.codes]
    for page in domain.pages.values():
        tasks: list[Task] = page.kept.get("tasks", [])
        if not tasks:
            continue
        page.cells = [cell for cell in page.cells if not (isinstance(cell, BranchCell) and cell.payload.get(FAR))]
        page.mistakes = [mistake for mistake in page.mistakes if UNSOLVED not in mistake.text]
        for task in tasks:
            found = [solution for solution in solutions if solution.label == task.label]
            for solution in found:
                cell = branch(page.fresh_id(f"{task.anchor}-far"), solution.place, "solution", task, solution.codes)
                page.cells.append(replace(cell, payload={**cell.payload, FAR: True}))
            if not found and not task.is_solved:
                page.mistakes.append(Mistake("exercise", f"{task.name} {UNSOLVED}", task.place))


def register(app: Sphinx) -> None:
    """Tell Sphinx the exercises."""
    app.add_directive("exercise", ExerciseBox)
    app.add_directive("solution", Belongs)
    app.add_directive("hint", HintBox, override=True)
    for name in ("starter", "check"):
        app.add_directive(name, ExerciseCode)
    app.add_directive("exercises", ExerciseList)
    app.connect("doctree-read", keep_titles)
    app.connect("env-updated", check_belongings, priority=400)
    app.connect("env-updated", judge_far_solutions, priority=400)
