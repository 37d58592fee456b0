"""Projects of other shapes: where conf.py, chapters and code may lie, and how the build is called."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from docutils import nodes

from scratchbook.ext.settings import default_store

PAGE = "# Page\n\n```{live} code.py\n```\n"


def last_block(built, docname="index"):
    return [block.astext() for block in built.doctree(docname).findall(nodes.literal_block)][-1]


def run_sphinx(project, *arguments, folder=None):
    command = [sys.executable, "-m", "sphinx", "-q", *arguments]
    return subprocess.run(command, cwd=folder or project.root, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [(), ("-W", "--keep-going"), ("-j", "2"), ("-j", "2", "-W", "--keep-going")])
def test_sphinx_build_exits_with_a_failure_twice(project, arguments):
    project.write({"docs/index.md": "# Book\n\n{claim}`1 > 2`\n"})
    arguments = ("-b", "html", "-c", ".", "docs", "out", *arguments)
    first, second = run_sphinx(project, *arguments), run_sphinx(project, *arguments)

    assert (first.returncode, second.returncode) == (1, 1)
    assert first.stderr == second.stderr
    assert first.stderr.startswith("docs/index.md:3: WARNING: `1 > 2` does not hold")


def test_a_build_called_from_another_folder_is_the_same(project, tmp_path):
    project.write({"docs/index.md": PAGE, "scratch/code.py": "import os\nprint(os.path.basename(os.getcwd()))\n"})
    root = project.root
    run_sphinx(project, "-b", "html", "-c", ".", "docs", "here")
    run_sphinx(project, "-b", "html", "-c", root, root / "docs", root / "there", folder="/")

    assert f">{root.name}\n" in (root / "here/index.html").read_text("utf-8")
    assert (root / "here/index.html").read_bytes() == (root / "there/index.html").read_bytes()


def test_the_root_may_be_above_conf(project):
    conf = (project.root / "conf.py").read_text() + 'scratchbook_root = ".."\nscratchbook_folders = ["code"]\n'
    project.write({"docs/conf.py": conf, "docs/index.md": PAGE, "code/code.py": "1 / 0\n"})
    done = run_sphinx(project, "-b", "dummy", "docs", "out")

    assert done.stderr.startswith("code/code.py:1: WARNING: ZeroDivisionError")
    assert "(run by docs/index.md:3)" in done.stderr


def test_conf_beside_the_chapters_is_a_project_too(project):
    conf = (project.root / "conf.py").read_text()
    project.write({"docs/conf.py": conf, "docs/index.md": PAGE, "docs/code.py": "1 / 0\n"})
    done = run_sphinx(project, "-b", "dummy", "docs", "out")

    assert done.stderr.startswith("code.py:1: WARNING: ZeroDivisionError")
    assert "(run by index.md:3)" in done.stderr


def test_a_chapter_that_is_a_link_counts_from_where_the_link_is(project):
    project.write({"notes/README.md": PAGE, "docs/code.py": "print('beside the link')\n", "scratch/other.py": ""})
    (project.root / "scratch/code.py").unlink()
    (project.root / "docs/index.md").unlink()
    (project.root / "docs/index.md").symlink_to(project.root / "notes/README.md")

    assert last_block(project.build()) == "beside the link"


def test_an_edit_of_a_part_runs_the_page_again(project):
    project.write({"docs/index.md": "# Book\n\n```{include} parts/part.inc\n```\n"})
    project.write({"docs/parts/part.inc": "```{live}\nprint('old')\n```\n"}).build()
    built = project.write({"docs/parts/part.inc": "```{live}\nprint('fresh')\n```\n"}).build()

    assert last_block(built) == "fresh"


def test_a_part_on_two_pages_gives_one_message(project):
    project.write({"docs/parts/part.inc": "```{live}\n1 / 0\n```\n"})
    project.write({"docs/index.md": "# Book\n\n```{include} parts/part.inc\n```\n\n```{toctree}\nmore\n```\n"})
    built = project.write({"docs/more.md": "# More\n\n```{include} parts/part.inc\n```\n"}).build()

    assert built.warnings == ["docs/parts/part.inc:2: WARNING: ZeroDivisionError: division by zero [scratchbook.run]"]


MANY = {f"docs/p{number:02}.md": f"# P\n\n```{{live}}\nprint({number} / ({number} % 7))\n```\n" for number in range(24)}


@pytest.mark.parametrize("jobs", [2, 4])
def test_parallel_reading_finds_the_same_mistakes(new_project, jobs):
    index = "# Book\n\n```{toctree}\n:glob:\n\np*\n```\n"
    projects = [new_project().write({"docs/index.md": index, **MANY}) for _ in range(2)]
    serial, parallel = projects[0].build(), projects[1].build(jobs=jobs)

    assert len(serial.warnings) == 4
    assert parallel.warnings == serial.warnings
    assert parallel.app.env.domaindata["scratchbook"]["pages"] == serial.app.env.domaindata["scratchbook"]["pages"]


def test_a_name_on_two_pages_is_told_however_they_are_shared_out(new_project):
    """And the same page has it; again in the next build, and no more once it is mended."""
    text = "({0})=\n# {1}\n\n$$a$$ (eq-{0})\n\nSee {{eq}}`eq-{0}` and {{ref}}`{0}`.\n"
    pages = {f"docs/p{number:02}.md": text.format(f"own-{number}", number) for number in range(12)}
    pages |= {f"docs/p{number:02}.md": text.format("twice", number) for number in (0, 11)}
    pages["docs/index.md"] = "# Book\n\n```{toctree}\n:glob:\n:numbered:\n\np*\n```\n"
    told, shown = [], []
    for jobs in (1, 2, 3):
        project = new_project().write(pages)
        for built in (project.build("html", jobs=jobs), project.build("html", jobs=jobs)):
            told.append(sorted(re.sub(r".*?(p\d\d).md(:\d*)?: WARNING", r"\1", line) for line in built.warnings))
            told[-1] = [re.sub(r"\S*/docs/", "", line) for line in told[-1]]
            shown.append([built.file(f"p{number:02}.html") for number in (0, 11)])
        project.write({name: text.format(f"own-{name[6:8]}", name) for name in pages if name != "docs/index.md"})
        assert project.build("html", jobs=jobs).warnings == []

    assert len(told[0]) == 2
    assert told == [told[0]] * 6
    assert shown == [shown[0]] * 6


def test_comments_with_our_words_have_no_effect(chapter):
    built = chapter("# Book\n\n<!-- {live} -->\n\n% {live} tag::x[]\n\n<!-- live -->\n\nText.\n")

    assert built.warnings == []
    assert "session" not in built.log


PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</pre><script>alert(1)</script>",
    "javascript:alert(1)",
]


class Elements(HTMLParser):
    """Collect what could run in a reader's browser."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        links = [name for name, value in attributes if name in ("href", "src") and "alert(1)" in (value or "")]
        handlers = [name for name, _ in attributes if name.startswith("on")]
        self.found += [(tag, name) for name in links + handlers]
        self.in_script = tag == "script"

    def handle_data(self, data):
        if getattr(self, "in_script", False) and "alert(1)" in data:
            self.found.append(("script", data))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_page_becomes_markup(project, payload):
    quoted = repr(payload)
    page = f"""\
# Page

```{{live}}
:caption: The {{value}}`{quoted}`
print({quoted})
```

```{{states}} x
{payload.replace(",", "")}, b
```

{{value}}`{quoted}`

```{{live}} {payload}.py
```

```{{live}} code.py
:tag: {payload}
```

```{{live}}
raise ValueError({quoted})
```
"""
    built = project.write({"docs/index.md": page}).build("html")

    assert "alert(1)" in built.file("index.html")
    assert Elements(built.file("index.html")).found == []


def test_an_environment_of_another_version_is_read_anew(project):
    from scratchbook.ext.domain import LiveDomain

    project.write({"docs/index.md": "# Book\n\n{value}`1`\n"}).build()
    version = LiveDomain.data_version
    try:
        LiveDomain.data_version = version + 1
        assert re.search(r"updating environment: .*1 added", project.build().log)
    finally:
        LiveDomain.data_version = version


# Where what is kept for the next build lies.


@pytest.mark.parametrize(
    ("outdir", "doctreedir", "store"),
    [
        ("build/html", "build/html/.doctrees", "build"),
        ("build/html", "build/doctrees", "build"),
        ("public", "public/.doctrees", "."),
        ("build/live", "build/doctrees-live", "build"),
        ("public", "build/doctrees", "build/doctrees"),
        ("docs/_build", "docs/_build/.doctrees", "docs/_build/.doctrees"),
        ("docs/_build/html", "docs/_build/html/.doctrees", "docs/_build/html/.doctrees"),
        ("docs/_build/html", "docs/_build/doctrees", "docs/_build/doctrees"),
    ],
)
def test_the_store_lies_where_it_is_not_published_and_not_watched(tmp_path, outdir, doctreedir, store):
    found = default_store(tmp_path / outdir, tmp_path / doctreedir, tmp_path / "docs", "html")

    assert found == tmp_path / store / ".scratchbook"


def test_builders_and_commands_share_a_store_beside_the_output(project):
    project.write({"docs/index.md": "# Book\n\n```{live}\nprint(1)\n```\n"})
    run_sphinx(project, "-b", "html", "-c", ".", "docs", "public")
    published = sorted(path.name for path in (project.root / "public").iterdir())
    paper = [sys.executable, "-m", "sphinx", "-b", "latex", "-c", ".", "docs", "paper"]
    explain = [sys.executable, "-W", "ignore", "-m", "scratchbook.cli", "cache", "--explain", "index"]
    said = [
        subprocess.run(words, cwd=project.root, capture_output=True, text=True, check=False).stdout
        for words in (paper, [*explain, "--build", "public"])
    ]

    assert "0 run, 1 cached" in said[0]
    assert said[1] == "index:\n    stored: nothing that it used has changed\n"
    assert ".scratchbook" not in published
    assert sorted(path.name for path in (project.root / "public").iterdir()) == published
    assert (project.root / ".scratchbook" / ".gitignore").read_text() == "*\n"
