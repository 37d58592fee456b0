"""Sessions begin while Sphinx still reads, and nothing that a page shows depends on it."""

import os

import pytest

from scratchbook.core.runner import ForkServer
from tests.ext.conftest import make_project

PAGE = "# {name}\n\n```{{live}}\nprint('{name}', len(open('log').read()))\nopen('log', 'a').write('{name}')\n```\n"
INDEX = "# Book\n\n```{toctree}\none\ntwo\nthree\n```\n"


@pytest.fixture
def book(tmp_path):
    """Three pages that each say how much the others have run, and that run with our own server."""
    project = make_project(tmp_path)
    project.settings |= {"scratchbook_executor": "", "scratchbook_jobs": 1}
    pages = {f"docs/{name}.md": PAGE.format(name=name) for name in ("one", "two", "three")}
    return project.write({"docs/index.md": INDEX, "log": "", **pages})


@pytest.fixture
def asked(monkeypatch):
    """The names of the sessions that begin before all pages are read, and of those that are asked for later."""
    begun, run = [], []
    begin = ForkServer.begin

    def noted_begin(self, session):
        begun.append(session.name)
        return begin(self, session)

    def noted_run(self, session):
        run.append(session.name)
        return begin(self, session).outcome()

    monkeypatch.setattr(ForkServer, "begin", noted_begin)
    monkeypatch.setattr(ForkServer, "run", noted_run)
    return begun, run


def test_the_first_page_runs_while_others_are_read_and_none_runs_twice(book, asked):
    build = book.build("text")
    begun, run = asked

    assert build.warnings == []
    assert begun[:1] == ["one"]
    assert sorted(begun + run) == ["one", "three", "two"]
    assert "3 run, 0 cached, 0 failed" in build.log
    assert len((book.root / "log").read_text()) == len("onetwothree")


def test_a_stored_page_does_not_begin(book, asked):
    book.write({"docs/one.md": "# One\n\n```{live}\nprint(1)\n```\n"})
    book.build("text")
    asked[0].clear()
    book.write({"docs/one.md": "# One, again\n\n```{live}\nprint(1)\n```\n"})

    assert "one" not in (book.build("text"), asked[0])[1]


def test_no_process_starts_for_a_stored_page_with_checked_equations(book, monkeypatch):
    """What a branch is given is known only once all is read; after a small edit it is most likely what it was."""
    code = "# tag::twice[]\ndef twice(x):\n    return 2 * x\n# end::twice[]\n"
    plain = {f"docs/{name}.md": f"# {name}\n" for name in ("two", "three")}
    book.write({"scratch/code.py": code, "docs/one.md": CHECKED, **plain})
    starts = []
    start = ForkServer._started
    monkeypatch.setattr(ForkServer, "_started", lambda *args, **kinds: (starts.append(1), start(*args, **kinds))[1])

    assert "1 checked" in book.build("text").log
    assert starts
    starts.clear()
    book.write({"docs/one.md": CHECKED + "\nMore.\n"})
    assert "More." in book.build("text").text("one")
    assert starts == []


CHECKED = """
# One

```{notation}
x: vector(d) -- what goes in
y: vector(d) -- what comes out
```

```{live} code.py
:tag: twice
```

```{math}
:label: eq-twice
:check: twice

y = 2 x
```
"""


def test_a_page_that_is_another_when_all_are_read_runs_as_it_is_then(book, asked, monkeypatch):
    monkeypatch.chdir(os.getcwd())
    book.write({"scratch/code.py": "print('before')\n", "docs/one.md": "# One\n\n```{live} code.py\n```\n"})
    book.write({"docs/two.md": "# Two\n\n```{change}\n```\n"})
    book.write({"conf.py": (book.root / "conf.py").read_text() + CHANGES})
    build = book.build("text")

    assert "after" in build.text("one")
    assert "before" not in build.text("one")


CHANGES = """
import os
from pathlib import Path
from docutils.parsers.rst import Directive

class Change(Directive):
    def run(self):
        Path("scratch/code.py").write_text("print('after')\\n")
        return []

def setup(app):
    app.add_directive("change", Change)
    os.chdir(app.confdir)
"""


def test_reading_that_fails_leaves_no_process(book, asked, monkeypatch):
    monkeypatch.chdir(os.getcwd())
    book.write({"conf.py": (book.root / "conf.py").read_text() + CHANGES.replace("return []", "raise KeyError('x')")})
    book.write({"docs/two.md": "# Two\n\n```{change}\n```\n"})
    servers = []
    start = ForkServer.close
    monkeypatch.setattr(ForkServer, "close", lambda self: (servers.append(dict(self._servers)), start(self))[1])
    with pytest.raises(Exception, match="x"):
        book.build("text")

    assert [server.process.poll() is not None for one in servers for server in one.values()] == [True]


def test_code_that_changes_while_pages_are_read_makes_what_was_stored_old(book, monkeypatch):
    monkeypatch.chdir(os.getcwd())
    page = "# One\n\n```{live}\nimport code_of_book\n```\n"
    book.write({"scratch/code_of_book.py": "print('before')\n", "docs/one.md": page})
    book.write({"conf.py": (book.root / "conf.py").read_text() + CHANGES.replace("code.py", "code_of_book.py")})
    assert "before" in book.build("text").text("one")
    book.write({"docs/one.md": page + "\nMore.\n", "docs/two.md": "# Two\n\n```{change}\n```\n"})

    assert "after" in book.build("text").text("one")
