"""Build a small book in this process and look at what came out.

`chapter(markdown, code)` is one page `docs/index.md` and one file `scratch/code.py`, built with the dummy builder.
`project` is a folder that a test fills with more files and builds as often as it likes.
"""

from __future__ import annotations

import io
import logging
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from docutils import nodes
from sphinx import locale
from sphinx.application import Sphinx
from sphinx.deprecation import RemovedInSphinx11Warning
from sphinx.util.docutils import docutils_namespace, patch_docutils

from scratchbook.core import katex

CONF = """
extensions = ["myst_parser", "scratchbook"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
project, author, copyright, version, language = "Book", "A", "2026, A", "1", "en"
exclude_patterns = ["parts"]
html_theme = "basic"
# Threads over one server that this process keeps: a build starts none of its own.
scratchbook_executor = "concurrent.futures.ThreadPoolExecutor"
"""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class Build:
    """What one build left.

    status: what sphinx-build would exit with.   warnings: one a message, first lines only.   log: all that was said.
    """

    app: Sphinx
    status: int
    messages: str
    log: str

    @property
    def warnings(self) -> list[str]:
        """The first line of each message."""
        return [line for line in self.messages.splitlines() if re.match(r"\S+: (WARNING|ERROR)|WARNING", line)]

    def doctree(self, docname: str = "index") -> nodes.document:
        """Return a page as the writer sees it."""
        with patch_docutils():
            return self.app.env.get_and_resolve_doctree(docname, self.app.builder, tags=self.app.tags)

    def text(self, docname: str = "index") -> str:
        """Return the words of a page."""
        return self.doctree(docname).astext()

    def file(self, name: str) -> str:
        """Return a file of the output folder."""
        return (Path(self.app.outdir) / name).read_text("utf-8")


@dataclass
class Project:
    """A folder with conf.py, docs/ and scratch/."""

    root: Path
    settings: dict[str, Any] = field(default_factory=dict)

    def write(self, files: dict[str, str | bytes]) -> Project:
        """Write files by their path from the root; texts lose their common indent."""
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else dedent(content).removeprefix("\n").encode())
        return self

    def build(
        self,
        builder: str = "dummy",
        *,
        jobs: int = 1,
        strict: bool = False,
        verbosity: int = 0,
        doctrees: str = "",
        **settings: Any,
    ) -> Build:
        """Build once; outputs and doctrees of earlier builds stay where they were.

        doctrees: the builder whose doctrees it shares, its own if left out.
        """
        status, warning = io.StringIO(), io.StringIO()
        locale.translators.clear()  # Sphinx keeps those of the build before
        logging.disable(logging.DEBUG if verbosity < 2 else logging.NOTSET)  # a thousand records that nobody reads
        with patch_docutils(), docutils_namespace(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=RemovedInSphinx11Warning, module="myst_parser")
            app = Sphinx(
                self.root / "docs",
                self.root,
                self.root / "build" / builder,
                self.root / "build" / f"doctrees-{doctrees or builder}",
                builder,
                confoverrides={**self.settings, **settings},
                status=status,
                warning=warning,
                parallel=jobs,
                warningiserror=strict,
                verbosity=verbosity,
            )
            app.build()
        plain = COLOUR.sub("", warning.getvalue())
        return Build(app, app.statuscode, plain, COLOUR.sub("", status.getvalue()))

    def clean(self) -> None:
        """Forget all earlier builds."""
        shutil.rmtree(self.root / "build", ignore_errors=True)


def make_project(root: Path) -> Project:
    """Return an empty project."""
    return Project(root).write({"conf.py": CONF, "scratch/code.py": "", "docs/index.md": "# Book\n"})


@pytest.fixture(scope="session", autouse=True)
def one_katex() -> Iterator[None]:
    """Let all builds of a process ask one KaTeX, since to start it takes longer than most tests."""
    engines: dict[int, subprocess.Popen[bytes]] = {}

    def of_this_process(typesetter: katex.Typesetter) -> subprocess.Popen[bytes]:
        if os.getpid() not in engines:
            engines[os.getpid()] = katex.start(typesetter.engine)
        return engines[os.getpid()]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(katex.Typesetter, "_process", of_this_process)
        yield
    for engine in engines.values():
        engine.communicate()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return an empty project of this test."""
    return make_project(tmp_path)


@pytest.fixture
def chapter(project: Project) -> Callable[..., Build]:
    """Return a function that builds one chapter over one file of code."""

    def build(markdown: str, code: str = "", builder: str = "dummy", **settings: Any) -> Build:
        project.write({"docs/index.md": markdown, "scratch/code.py": code})
        return project.build(builder, **settings)

    return build


@pytest.fixture(scope="module")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Project]:
    """Return a function that makes an empty project, for tests of a module that share builds."""
    return lambda: make_project(tmp_path_factory.mktemp("book") / "project")


@pytest.fixture(scope="module")
def module_project(new_project: Callable[[], Project]) -> Project:
    """Return an empty project that the tests of a module share."""
    return new_project()
