"""A book that changes: a model of its chapters and code, edits of every kind, and which sessions an edit must run."""

from __future__ import annotations

import os
import random
import shutil
from copy import deepcopy
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from scratchbook.ext.figures import CONVERTER

# For LaTeX a drawing is made a PDF, which takes a program that a machine may not have.
CAN_CONVERT = shutil.which(CONVERTER) is not None
# One point in PNG; what stands behind its end is not drawn.
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000000000500010d0a2db4"
    "0000000049454e44ae426082"
)
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="{}" height="1"/></svg>\n'
CONF = """
extensions = ["myst_parser", "sphinxcontrib.bibtex", "scratchbook"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
project, author, copyright, version, language = "Book", "A", "2026, A", "1", "en"
html_theme, html_title, html_static_path, html_css_files = "basic", "%s", ["static"], ["own%d.css"]
scratchbook_macros = {"step": r"%s"}
numfig = math_numfig = True
bibtex_bibfiles = ["references.bib"]
suppress_warnings = ["bibtex.duplicate_citation", "bibtex.missing_field"]
scratchbook_executor = "concurrent.futures.ThreadPoolExecutor"
scratchbook_print_options = {"precision": %d}
"""


# What depends on every page: lists, counts, and what is told of code with the pages that show it.
LISTS = """# Lists

```{exercises}
```

```{equations}
```

{tally}`sessions` sessions, {tally}`cells` cells, {tally}`exercises` exercises, {tally}`equations` equations.

```{api} shown.py
```

"""


@dataclass
class Page:
    """One chapter: what stands on it."""

    title: str
    label: str
    equations: list[str]
    code: str
    paragraphs: list[str] = field(default_factory=lambda: ["One sentence."])
    references: list[str] = field(default_factory=list)
    citations: list[str] = field(default_factory=list)
    region: str = ""
    has_figure: bool = True
    has_drawing: bool = False
    has_states: bool = False
    is_checked: bool = False
    reads_data: bool = False
    includes: bool = False
    exercises: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)


@dataclass
class ChangingBook:
    """A whole book and the chances by which it changes."""

    chance: random.Random
    pages: dict[str, Page] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    names: int = 0
    regions: list[str] = field(default_factory=lambda: ["first", "second"])
    factor: int = 2
    helper: int = 1
    data: int = 3
    precision: int = 4
    picture: int = 0
    drawing: int = 5
    style: int = 1
    site: str = "A site"
    macro: str = "k"
    meaning: str = "a number"
    shared: str = "A shared sentence."
    earlier: list[dict[str, Any]] = field(default_factory=list)
    authors: dict[str, str] = field(
        default_factory=lambda: {"alpha2000": "Alpha", "beta2001": "Beta", "gamma2002": "Gamma"}
    )

    def fresh(self, stem: str) -> str:
        """Return a name that was never used."""
        self.names += 1
        return f"{stem}{self.names}"

    def some_page(self) -> Page:
        """Return any page."""
        return self.pages[self.chance.choice(sorted(self.pages))]

    def add_page(self) -> None:
        """Add a chapter anywhere."""
        name = self.fresh("page")
        self.pages[name] = Page(
            title=f"Title of {name}",
            label=f"sec-{name}",
            equations=[self.fresh("eq-")],
            code=f"print('{name}', double({self.names}))",
            citations=[self.chance.choice(sorted(self.authors))],
            region=self.chance.choice(self.regions),
            reads_data=self.chance.random() < 0.4,
            includes=self.chance.random() < 0.5,
            has_drawing=self.chance.random() < 0.3 and CAN_CONVERT,
            has_states=self.chance.random() < 0.3,
            is_checked=self.chance.random() < 0.4,
            exercises=[self.fresh("ex-")] if self.chance.random() < 0.5 else [],
        )
        self.order.insert(self.chance.randrange(len(self.order) + 1), name)

    def remove_page(self) -> None:
        """Remove a chapter, unless few are left."""
        if len(self.pages) > 2:
            name = self.chance.choice(sorted(self.pages))
            del self.pages[name]
            self.order.remove(name)

    def rename_page(self) -> None:
        """Give a chapter another file name."""
        name, new = self.chance.choice(sorted(self.pages)), self.fresh("renamed")
        self.pages[new] = self.pages.pop(name)
        self.order[self.order.index(name)] = new

    def edit_prose(self) -> None:
        """Change a sentence."""
        self.some_page().paragraphs.append(self.fresh("Word "))

    def edit_code(self) -> None:
        """Change a block of one page."""
        self.some_page().code = f"print(double({self.fresh('')}))"

    def edit_shown_module(self) -> None:
        """Change the function that all pages show or import."""
        self.factor += 1

    def edit_imported_module(self) -> None:
        """Change a module that the shown one imports."""
        self.helper += 1

    def edit_data(self) -> None:
        """Change a file that some pages read."""
        self.data += 1

    def rename_tag(self) -> None:
        """Give a region another name, in the file and on the pages."""
        old, new = self.regions[0], self.fresh("region")
        self.regions[0] = new
        for page in self.pages.values():
            page.region = new if page.region == old else page.region

    def swap_tags(self) -> None:
        """Move the marks of two regions."""
        self.regions.reverse()

    def edit_title(self) -> None:
        """Change a chapter's title."""
        self.some_page().title = self.fresh("Title ")

    def edit_label(self) -> None:
        """Change a section's label and the references to it."""
        page = self.some_page()
        old, page.label = page.label, self.fresh("sec-")
        for other in self.pages.values():
            other.references = [text.replace(f"`{old}`", f"`{page.label}`") for text in other.references]

    def add_equation(self) -> None:
        """Put an equation before the others of a page."""
        self.some_page().equations.insert(0, self.fresh("eq-"))

    def remove_equation(self) -> None:
        """Remove the first equation of a page."""
        page = self.some_page()
        page.equations = page.equations[1:] or page.equations

    def change_order(self) -> None:
        """Put the chapters into another order."""
        self.chance.shuffle(self.order)

    def edit_bibliography(self) -> None:
        """Change an author's name."""
        self.authors[self.chance.choice(sorted(self.authors))] = self.fresh("Name")

    def edit_citations(self) -> None:
        """Change what a page cites."""
        self.some_page().citations = self.chance.sample(sorted(self.authors), self.chance.randrange(3))

    def add_reference(self) -> None:
        """Refer to something on some page."""
        target = self.chance.choice(sorted(self.pages))
        page = self.pages[target]
        self.some_page().references.append(
            self.chance.choice(
                [
                    f"{{eq}}`{page.equations[0]}`",
                    f"{{ref}}`{page.label}`",
                    f"{{doc}}`{target}`",
                    f"{{numref}}`fig-{target}`",
                    f"{{ref}}`code-{target}`",
                    *(f"{{ref}}`{name}`" for name in page.exercises),
                ]
            )
        )

    def toggle_figure(self) -> None:
        """Add or remove a figure, which moves the numbers of others."""
        page = self.some_page()
        page.has_figure = not page.has_figure

    def edit_shared(self) -> None:
        """Change a text that some chapters include."""
        self.shared = self.fresh("Shared ")

    def change_setting(self) -> None:
        """Change how numbers are printed, which every session sees."""
        self.precision = 3 + (self.precision + 1) % 5

    def edit_picture(self) -> None:
        """Change a picture that pages show."""
        self.picture += 1

    def edit_drawing(self) -> None:
        """Change a drawing that stands inside pages."""
        self.drawing += 1

    def edit_style(self) -> None:
        """Give the site another style sheet."""
        self.style += 1

    def rename_site(self) -> None:
        """Change a setting that every page shows."""
        self.site = self.fresh("Site ")

    def edit_macro(self) -> None:
        """Change what a macro of mathematics stands for."""
        self.macro = self.chance.choice(["k", "k_0", r"\\kappa"])

    def edit_notation(self) -> None:
        """Change the words of a symbol, or check an equation or not."""
        self.meaning = self.fresh("number ")
        page = self.some_page()
        page.is_checked = not page.is_checked

    def edit_exercises(self) -> None:
        """Add or remove an exercise, which moves the numbers of others."""
        page = self.some_page()
        page.exercises = page.exercises[1:] if self.chance.random() < 0.4 else [self.fresh("ex-"), *page.exercises]

    def repeat_equation(self) -> None:
        """Let a page repeat another page's equations, or none."""
        other = self.some_page()
        self.some_page().repeated = self.chance.choice([[], other.equations[-1:], other.equations[:2]])

    def toggle_states(self) -> None:
        """Let the reader of a page choose a value, or not."""
        page = self.some_page()
        page.has_states = not page.has_states

    def go_back(self) -> None:
        """Return to an earlier state of the whole book, as a checkout does."""
        if self.earlier:
            self.__dict__.update(deepcopy(self.chance.choice(self.earlier)))

    def remember(self) -> None:
        """Keep this state, to go back to."""
        names = {item.name for item in fields(self)} - {"chance", "names", "earlier"}
        self.earlier.append(deepcopy({name: self.__dict__[name] for name in names}))

    def touch(self) -> None:
        """Change nothing; the time stamps move, see `write`."""

    EDITS = (
        add_page, remove_page, rename_page, edit_prose, edit_code, edit_shown_module, edit_imported_module, edit_data,
        rename_tag, swap_tags, edit_title, edit_label, add_equation, remove_equation, change_order, edit_bibliography,
        edit_citations, add_reference, toggle_figure, edit_shared, change_setting, edit_picture, edit_drawing,
        edit_style, rename_site, edit_macro, edit_notation, edit_exercises, repeat_equation, toggle_states, go_back,
        touch,
    )  # fmt: skip

    @property
    def module(self) -> str:
        """The file that pages show."""
        first, second = self.regions
        return (
            f"from helper import OFFSET\n\n\n# tag::{first}[]\ndef double(x):\n    return {self.factor} * x + OFFSET\n"
            f"# end::{first}[]\n\n\n# tag::{second}[]\nNUMBERS = [1, 2, 3]\n# end::{second}[]\n"
        )

    def files(self) -> dict[str, bytes]:
        """Return every file of the project."""
        listing = "\n".join(self.order)
        entries = [
            f"@book{{{key}, author={{{name}, X.}}, title={{T}}, year={{{key[-4:]}}}}}"
            for key, name in self.authors.items()
        ]
        texts = {
            "conf.py": CONF % (self.site, self.style, self.macro, self.precision),
            "references.bib": "\n".join(entries),
            "docs/index.md": f"# Home\n\n```{{toctree}}\n:numbered:\n\n{listing}\nlists\n```\n",
            "docs/lists.md": LISTS + self.notation,
            "docs/drawing.svg": DRAWING.format(self.drawing),
            f"static/own{self.style}.css": f"p {{ margin: {self.style}px }}\n",
            "docs/shared.txt": f"{self.shared}\n",
            "scratch/shown.py": self.module,
            "scratch/helper.py": f"OFFSET = {self.helper}\n",
            "scratch/data.txt": f"{self.data}\n",
            **{f"docs/{name}.md": self.page_text(name, page) for name, page in self.pages.items()},
        }
        picture = PICTURE + bytes([self.picture % 256])
        return {"docs/picture.png": picture, **{name: text.encode() for name, text in texts.items()}}

    @property
    def notation(self) -> str:
        """What symbols mean, for the reader and for the checks."""
        return f"```{{notation}}\n:book:\n\nx: scalar -- {self.meaning}\n```\n"

    def page_text(self, name: str, page: Page) -> str:
        """Return one chapter."""
        parts = [f"({page.label})=\n# {page.title}", f"```{{index}} entry {name}\n```", *page.paragraphs]
        if page.has_states:
            parts.append("```{states} chosen\none, two\n```")
        parts += [f"```{{math}}\n:label: {label}\n\nx = {len(label)} \\step\n```" for label in page.equations]
        if page.is_checked:
            tex = rf"\operatorname{{double}}(x) = {self.factor} x + {self.helper}"
            parts.append(f"```{{math}}\n:label: eq-check-{name}\n:check: double\n\n{tex}\n```")
        if repeated := [label for label in page.repeated if self.resolves(f"{{eq}}`{label}`")]:
            parts.append(":::{key-equations}\n" + "\n".join(repeated) + "\n:::")
        parts += [f"See {text}." for text in page.references if self.resolves(text)]
        options = f":tag: {self.region_of(page)}\n:name: code-{name}\n:caption: Twice one is {{value}}`double(1)`"
        parts.append(f"```{{live}} shown.py\n{options}\n\n{self.page_code(page)}\n```")
        parts.append("Twice three is {value}`double(3)`.")
        if page.has_figure:
            parts.append(f"```{{figure}} picture.png\n:name: fig-{name}\n\nCaption of {name}\n```")
        if page.has_drawing:
            parts.append("```{figure} drawing.svg\n:alt: A bar\n```")
        parts += [exercise_text(label) for label in page.exercises]
        if page.includes:
            parts.append("```{include} shared.txt\n```")
        if page.citations:
            parts.append("By " + ", ".join(f"{{cite:t}}`{key}`" for key in page.citations) + ".")
            parts.append("```{bibliography}\n:filter: docname in docnames\n```")
        return "\n\n".join(parts) + "\n"

    def region_of(self, page: Page) -> str:
        """Return the region that a page shows; what an equation is checked against must be shown."""
        return self.regions[0] if page.is_checked else page.region

    @staticmethod
    def page_code(page: Page) -> str:
        """Return the code of one page."""
        reading = "\nprint(open('scratch/data.txt').read())" if page.reads_data else ""
        return page.code + reading + ("\nprint(chosen)" if page.has_states else "")

    def resolves(self, text: str) -> bool:
        """Whether a reference still has its target."""
        target = text.partition("`")[2].rstrip("`")
        known = {page.label for page in self.pages.values()} | set(self.pages)
        known |= {label for page in self.pages.values() for label in page.equations}
        known |= {f"fig-{name}" for name, page in self.pages.items() if page.has_figure}
        known |= {f"code-{name}" for name in self.pages}
        known |= {label for page in self.pages.values() for label in page.exercises}
        return target in known

    def session_inputs(self) -> dict[str, tuple[object, ...]]:
        """Return all that each session depends on.  A page has one for each value that its reader can choose."""
        return {
            f"{name} {state}": (
                self.page_code(page),
                self.region_of(page),
                self.module,
                self.helper,
                self.precision,
                page.is_checked and self.macro,
                tuple(page.exercises),
                page.reads_data and self.data,
            )
            for name, page in self.pages.items()
            for state in (("one", "two") if page.has_states else ("",))
        }


def exercise_text(label: str) -> str:
    """Return an exercise whose starter fails its check and whose solution passes it."""
    check = f"```{{check}}\nanswer == {len(label)}\n```"
    solution = f":::{{solution}}\n```python\nanswer = {len(label)}\n```\n:::"
    starter = "```{starter}\nanswer = 0\n```"
    head = f":::::{{exercise}} How long is {label}\n:name: {label}\n:kind: implement\n:stars: 1"
    return "\n\n".join([head, "Count its letters.", starter, check, solution]) + "\n:::::"


def write_book(book: ChangingBook, root: Path, *, touches: bool = False) -> None:
    """Bring the folder to the state of the book; some changed files keep their time stamps, as after a checkout."""
    files = book.files()
    for path in [*root.glob("docs/*.md"), *root.glob("static/*")]:
        if path.relative_to(root).as_posix() not in files:
            path.unlink()
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.stat() if path.exists() else None
        if before is None or path.read_bytes() != content:
            path.write_bytes(content)
            if before and book.chance.random() < 0.4:
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        elif touches:
            os.utime(path)
