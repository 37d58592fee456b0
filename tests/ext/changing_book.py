"""A book that changes: a model of its chapters and code, edits of every kind, and which sessions an edit must run."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from pathlib import Path

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000000000500010d0a2db4"
    "0000000049454e44ae426082"
)
CONF = """
extensions = ["myst_parser", "sphinxcontrib.bibtex", "scratchbook"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
project, author, copyright, version, language = "Book", "A", "2026, A", "1", "en"
html_theme = "basic"
numfig = math_numfig = True
bibtex_bibfiles = ["references.bib"]
suppress_warnings = ["bibtex.duplicate_citation", "bibtex.missing_field"]
scratchbook_executor = "concurrent.futures.ThreadPoolExecutor"
scratchbook_print_options = {"precision": %d}
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
    reads_data: bool = False
    includes: bool = False


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
    shared: str = "A shared sentence."
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

    def touch(self) -> None:
        """Change nothing; the time stamps move, see `write`."""

    EDITS = (
        add_page, remove_page, rename_page, edit_prose, edit_code, edit_shown_module, edit_imported_module, edit_data,
        rename_tag, swap_tags, edit_title, edit_label, add_equation, remove_equation, change_order, edit_bibliography,
        edit_citations, add_reference, toggle_figure, edit_shared, change_setting, touch,
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
            "conf.py": CONF % self.precision,
            "references.bib": "\n".join(entries),
            "docs/index.md": f"# Home\n\n```{{toctree}}\n:numbered:\n\n{listing}\n```\n",
            "docs/shared.txt": f"{self.shared}\n",
            "scratch/shown.py": self.module,
            "scratch/helper.py": f"OFFSET = {self.helper}\n",
            "scratch/data.txt": f"{self.data}\n",
            **{f"docs/{name}.md": self.page_text(name, page) for name, page in self.pages.items()},
        }
        return {"docs/picture.png": PICTURE, **{name: text.encode() for name, text in texts.items()}}

    def page_text(self, name: str, page: Page) -> str:
        """Return one chapter."""
        parts = [f"({page.label})=\n# {page.title}", f"```{{index}} entry {name}\n```", *page.paragraphs]
        parts += [f"```{{math}}\n:label: {label}\n\nx = {len(label)}\n```" for label in page.equations]
        parts += [f"See {text}." for text in page.references if self.resolves(text)]
        parts.append(f"```{{live}} shown.py\n:tag: {page.region}\n\n{self.page_code(page)}\n```")
        parts.append("Twice three is {value}`double(3)`.")
        if page.has_figure:
            parts.append(f"```{{figure}} picture.png\n:name: fig-{name}\n\nCaption of {name}\n```")
        if page.includes:
            parts.append("```{include} shared.txt\n```")
        if page.citations:
            parts.append("By " + ", ".join(f"{{cite:t}}`{key}`" for key in page.citations) + ".")
            parts.append("```{bibliography}\n:filter: docname in docnames\n```")
        return "\n\n".join(parts) + "\n"

    @staticmethod
    def page_code(page: Page) -> str:
        """Return the code of one page."""
        reading = "\nprint(open('scratch/data.txt').read())" if page.reads_data else ""
        return page.code + reading

    def resolves(self, text: str) -> bool:
        """Whether a reference still has its target."""
        target = text.partition("`")[2].rstrip("`")
        known = {page.label for page in self.pages.values()} | set(self.pages)
        known |= {label for page in self.pages.values() for label in page.equations}
        known |= {f"fig-{name}" for name, page in self.pages.items() if page.has_figure}
        return target in known

    def session_inputs(self) -> dict[str, tuple[object, ...]]:
        """Return, for each page, all that its session depends on."""
        return {
            name: (
                self.page_code(page),
                page.region,
                self.module,
                self.helper,
                self.precision,
                page.reads_data and self.data,
            )
            for name, page in self.pages.items()
        }


def write_book(book: ChangingBook, root: Path, *, touches: bool = False) -> None:
    """Bring the folder to the state of the book; some changed files keep their time stamps, as after a checkout."""
    files = book.files()
    for path in (root / "docs").glob("*.md"):
        if f"docs/{path.name}" not in files:
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
