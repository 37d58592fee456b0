"""An incremental build gives what a clean build without a store gives, byte for byte, and runs what it must."""

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from scratchbook.ext import incremental
from tests.ext.changing_book import CAN_CONVERT, DRAWING, PICTURE, ChangingBook, write_book
from tests.ext.conftest import Project

# Sphinx notes in them which settings this build and the one before had; only one of the two keeps outcomes.
NOT_COMPARED = {".buildinfo", ".buildinfo.bak"}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in NOT_COMPARED
    }


class IncrementalIsClean(RuleBasedStateMachine):
    """Edit a book again and again; after each edit build it incrementally and from nothing."""

    root: Path
    builder = "html"
    jobs = 1

    @initialize(seed=st.integers(0, 10**9))
    def start(self, seed):
        shutil.rmtree(self.root, ignore_errors=True)
        self.book = ChangingBook(random.Random(seed))
        for _ in range(4):
            self.book.add_page()
        self.stored = {}
        self.project = Project(self.root)
        self.compare(touches=False)

    @rule(number=st.integers(0, len(ChangingBook.EDITS) - 1))
    def edit(self, number):
        change = ChangingBook.EDITS[number]
        change(self.book)
        hypothesis.note(change.__name__)
        self.compare(touches=change is ChangingBook.touch)

    @rule(builder=st.sampled_from(["html", "text", "latex"]))
    def build_otherwise(self, builder):
        """Edit, and build with another builder over the same doctrees first."""
        if builder != self.builder:
            self.book.edit_title()
            self.book.add_equation()
            write_book(self.book, self.root)
            built = self.project.build(builder, jobs=self.jobs, doctrees=self.builder)
            assert built.warnings == []
            assert self.sessions_run(built.log) == self.sessions_expected()
            self.compare(touches=False)

    def compare(self, *, touches):
        self.book.remember()
        write_book(self.book, self.root, touches=touches)
        incremental = self.project.build(self.builder, jobs=self.jobs)
        found = contents(Path(incremental.app.outdir))
        assert incremental.warnings == []
        assert self.sessions_run(incremental.log) == self.sessions_expected()
        clean = Project(self.root / "clean")
        shutil.rmtree(clean.root, ignore_errors=True)
        write_book(self.book, clean.root)
        wanted = contents(Path(clean.build(self.builder, scratchbook_cache=None).app.outdir))
        assert sorted(found) == sorted(wanted)
        assert [name for name in wanted if found[name] != wanted[name]] == []

    def sessions_run(self, log):
        return int(re.search(r"sessions?: (\d+) run", log)[1])

    def sessions_expected(self):
        inputs = self.book.session_inputs()
        fresh = [name for name, key in inputs.items() if key not in self.stored.get(name, [])]
        for name, key in inputs.items():
            kept = [known for known in self.stored.get(name, []) if known != key]
            self.stored[name] = [*kept, key][-8:]
        return len(fresh)


def run_machine(root, *, examples, steps, builder="html", jobs=1):
    machine = type("Machine", (IncrementalIsClean,), {"root": root, "builder": builder, "jobs": jobs})
    machine = hypothesis.seed(f"{builder} -j {jobs}")(machine)  # each builder sees edits of its own
    settings = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate],
    )
    hypothesis.stateful.run_state_machine_as_test(machine, settings=settings)


def test_thirty_edits_leave_no_byte_behind(tmp_path):
    run_machine(tmp_path / "book", examples=2, steps=15)


@pytest.mark.parametrize(("builder", "jobs"), [("dirhtml", 2), ("latex", 1)])
def test_so_do_other_builders(tmp_path, builder, jobs):
    run_machine(tmp_path / "book", examples=1, steps=4, builder=builder, jobs=jobs)


@pytest.mark.soak
@pytest.mark.parametrize("builder", ["html", "dirhtml", "latex"])
def test_a_thousand_edits_leave_no_byte_behind(tmp_path, builder):
    run_machine(tmp_path / "book", examples=17, steps=20, builder=builder, jobs=2)


def output(built):
    return sorted(contents(Path(built.app.outdir)))


@pytest.mark.parametrize(("builder", "name"), [("html", "_images/picture.png"), ("latex", "picture.png")])
def test_a_picture_that_no_page_shows_any_more_leaves_the_output(project, builder, name):
    two = "# One\n\n![p](picture.png)\n\n```{toctree}\ntwo\n```\n"
    project.write({"docs/index.md": two, "docs/two.md": "# Two\n\n![p](picture.png)\n", "docs/picture.png": PICTURE})
    project.build(builder)
    project.write({"docs/two.md": "# Two\n"})
    shown_once = output(project.build(builder))
    project.write({"docs/index.md": two.replace("![p](picture.png)", "")})

    assert name in shown_once
    assert name not in output(project.build(builder))


def test_a_download_that_no_page_offers_any_more_leaves_the_output(project):
    project.write({"docs/index.md": "# One\n\n{download}`data.txt`\n", "docs/data.txt": "1\n"})
    before = output(project.build("html"))
    project.write({"docs/index.md": "# One\n"})

    assert any(name.endswith("/data.txt") for name in before)
    assert not any(name.endswith("/data.txt") for name in output(project.build("html")))


def test_a_static_file_that_is_gone_leaves_the_output_or_gives_way_to_the_theme_s(project):
    settings = {"html_static_path": ["static"]}
    plain = project.build("html", **settings, scratchbook_fast=False).file("_static/basic.css")
    project.write({"static/own/a.css": "p {}\n", "static/basic.css": "q {}\n"})
    before = project.build("html", **settings)
    assert (before.file("_static/basic.css"), before.file("_static/own/a.css")) == ("q {}\n", "p {}\n")
    (project.root / "static" / "own" / "a.css").unlink()
    (project.root / "static" / "basic.css").unlink()
    after = project.build("html", **settings)

    assert after.file("_static/basic.css") == plain
    assert "_static/own/a.css" not in output(after)


def test_a_copied_file_that_is_gone_leaves_the_output(project):
    project.write({"extra/own/a.txt": "a"})
    assert project.build("html", html_extra_path=["extra"]).file("own/a.txt") == "a"
    (project.root / "extra" / "own" / "a.txt").unlink()

    assert "own/a.txt" not in output(project.build("html", html_extra_path=["extra"]))


def test_a_copied_file_takes_the_place_of_no_page_in_any_build(project):
    project.write({"extra/index.html": "in its place"})
    pages = [project.build("html", html_extra_path=["extra"]).file("index.html") for _ in range(2)]
    (project.root / "extra" / "index.html").unlink()
    pages.append(project.build("html", html_extra_path=["extra"]).file("index.html"))

    assert ["<h1>Book" in page for page in pages] == [True, True, True]


def test_a_page_that_is_no_chapter_leaves_the_output_unless_a_chapter_takes_its_name(project):
    project.write({"templates/more.html": "more"})
    pages = {"more": "more.html", "less": "more.html"}
    before = project.build("html", templates_path=["templates"], html_additional_pages=pages)
    assert {"more.html", "less.html"} <= set(output(before))
    project.write({"docs/more.md": "# More\n", "docs/index.md": "# Book\n\n```{toctree}\nmore\n```\n"})
    after = project.build("html")

    assert "<h1>More" in after.file("more.html")
    assert "less.html" not in output(after)


BY_STAMP = """
def pages_by_stamp(app):
    if not (app.outdir / "code.html").exists():  # as viewcode leaves pages alone that are newer than their module
        yield "code", {"title": "Code", "body": "code"}, "page.html"

def setup(app):
    app.connect("html-collect-pages", pages_by_stamp)
"""


def test_a_page_that_its_maker_leaves_alone_while_it_is_new_stays(project):
    project.write({"conf.py": (project.root / "conf.py").read_text("utf-8") + BY_STAMP}).build("html")

    assert "code.html" in output(project.write({"docs/index.md": "# Book\n\nMore.\n"}).build("html"))
    assert "code.html" in output(project.build("html"))


@pytest.mark.parametrize(
    ("setting", "value", "file"),
    [
        ("html_theme", "alabaster", "_static/alabaster.css"),
        ("language", "de", "_static/translations.js"),
        ("html_copy_source", True, "_sources/index.md.txt"),
    ],
)
def test_what_another_setting_put_beside_the_pages_leaves_the_output_and_comes_back(project, setting, value, file):
    before = {"html_copy_source": False}
    files = [output(project.build("html", **settings)) for settings in (before, before | {setting: value}, before)]

    assert [file in present for present in files] == [False, True, False]


# Those that only sessions know are in their keys.
OURS = {
    "source": "https://x.example/{path}#L{first}",
    "macros": {"foo": "c"},
    "policy": True,
    "equations": "all",
    "folders": ["other"],
    "execute": "never",
}


def test_a_setting_of_ours_that_changes_leaves_what_a_clean_build_would(project):
    page = "# B\n\n$$\n\\foo\n$$\n\n```{live} a.py\n```\n"
    project.write({"docs/b.md": page, "docs/index.md": "# A\n\n```{toctree}\nb\n```\n\n```{api} a.py\n```\n"})
    project.write({"scratch/a.py": "print(1)\n", "other/a.py": "print(2)\n"})
    project.settings["scratchbook_macros"] = {"foo": "a + b"}
    pages = [project.build("html").file("b.html")]
    for name, value in OURS.items():
        built = project.build("html", **{f"scratchbook_{name}": value})
        found, told = contents(Path(built.app.outdir)), built.messages
        project.clean()
        clean = project.build("html", **{f"scratchbook_{name}": value})

        assert (told, found) == (clean.messages, contents(Path(clean.app.outdir))), name
        pages.append(clean.file("b.html") + clean.messages)
    assert len(set(pages)) == len(OURS) + 1  # or a value would change nothing


@pytest.mark.parametrize("builder", ["html", "epub"])
def test_a_file_that_is_gone_from_the_output_comes_back(project, builder):
    drawing = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><path d='M0 0h5'/></svg>"
    block = f'```{{live}}\n:figure: a line\n"{drawing}"\n```\n'
    project.write({"docs/index.md": f"# A\n\n$x$\n\n{block}\n```{{toctree}}\nb\n```\n", "docs/b.svg": drawing})
    project.write({"docs/b.md": "# B\n\n```{figure} b.svg\nB\n```\n\n{download}`b.svg`\n"})
    folder = Path(project.build(builder, html_copy_source=True).app.outdir)
    whole = contents(folder)
    files = [name for name in whole if "_static/" not in name and not name.startswith("META-INF")]
    for name in files:
        (folder / name).unlink()
        project.build(builder, html_copy_source=True)

        assert contents(folder).keys() == whole.keys(), name
        if builder != "epub":  # whose files say when they were made
            assert contents(folder) == whole, name


def test_a_setting_that_only_the_theme_knows_writes_every_page(project):
    """Furo keeps what it knows of styles in its module, so the builds of one process would share it."""
    conf = (project.root / "conf.py").read_text("utf-8").replace('"basic"', '"furo"')

    def build(style):
        project.write({"conf.py": f"{conf}pygments_dark_style = '{style}'\n"})
        words = ["-q", "-b", "html", "-c", ".", "docs", "-d", "build/doctrees", "build/html"]
        subprocess.run([sys.executable, "-W", "ignore", "-m", "sphinx", *words], cwd=project.root, check=True)
        return (project.root / "build" / "html" / "index.html").read_text("utf-8")

    build("bw")
    rebuilt = build("monokai")
    project.clean()

    assert rebuilt == build("monokai")


def test_the_list_of_equations_follows_the_listing_of_their_code(project):
    module = "# tag::{}[]\ndef double(x):\n    return 2 * x\n# end::{}[]\n\n\n# tag::{}[]\nN = 1\n# end::{}[]\n"
    equation = "```{math}\n:label: eq-double\n:check: double\n\n\\operatorname{double}(x) = 2 x\n```\n"
    listings = "```{live} m.py\n:tag: a\n\nprint(1)\n```\n\n```{live} m.py\n:tag: b\n\nprint(1)\n```\n"
    lists = "# Lists\n\n```{notation}\n:book:\n\nx: scalar -- a number\n```\n\n```{equations}\n```\n"
    index = f"# One\n\n{equation}\n{listings}\n```{{toctree}}\nlists\n```\n"
    project.write({"docs/index.md": index, "docs/lists.md": lists, "scratch/m.py": module.format(*"aabb")})
    before = project.build("html", strict=True).file("lists.html")
    project.write({"scratch/m.py": module.format(*"bbaa")})
    after = project.build("html").file("lists.html")

    link = re.compile(r'href="index.html#listing-([^"]*)"')
    assert link.findall(before) == ["index-m-a"]
    assert link.findall(after) == ["index-m-b"]


@pytest.mark.skipif(not CAN_CONVERT, reason="needs rsvg-convert")
def test_a_drawing_on_paper_does_not_say_when_it_was_made(project):
    project.write({"docs/index.md": "# One\n\n![p](drawing.svg)\n", "docs/drawing.svg": DRAWING.format(3)})
    built = project.build("latex")

    assert b"CreationDate (1970" in (Path(built.app.outdir) / "drawing.pdf").read_bytes()


def test_half_a_figure_that_a_killed_build_left_is_written_whole(project):
    project.write({"docs/index.md": f"# One\n\n```{{live}}\n:figure: A bar\n\n{DRAWING.format(3)!r}\n```\n"})
    (figure,) = contents(Path(project.build("text").app.doctreedir) / "scratchbook").items()
    (project.root / "build" / "doctrees-text" / "scratchbook" / figure[0]).write_bytes(figure[1][:20])
    project.write({"docs/index.md": (project.root / "docs" / "index.md").read_text() + "\nMore.\n"})

    assert contents(Path(project.build("text").app.doctreedir) / "scratchbook") == dict([figure])


def test_the_list_of_exercises_follows_the_exercises(project):
    exercise = "\n:::{{exercise}} {}\n:kind: explain\n\nWhy?\n:::\n"
    index = "# One\n\n```{toctree}\nlists\n```\n"
    project.write({"docs/index.md": index + exercise.format("A"), "docs/lists.md": "# Lists\n\n```{exercises}\n```\n"})
    project.build("html")
    project.write({"docs/index.md": index + exercise.format("New") + exercise.format("A")})
    project.build("html")
    project.write({"docs/index.md": index + exercise.format("Newer") + exercise.format("A")})

    assert "Newer" in project.build("html").file("lists.html")


def test_a_table_of_contents_forgets_a_chapter_that_was_renamed(project):
    exercise = "# Two\n\n:::{exercise} A\n:name: ex-a\n\nWhy?\n:::\n\n```{live}\n:caption: One\n\nprint(1)\n```\n"
    index = "# One\n\n```{toctree}\n:numbered:\n\ntwo\n```\n"
    project.write({"docs/index.md": index, "docs/two.md": exercise})
    project.build("html", numfig=True)
    (project.root / "docs" / "two.md").rename(project.root / "docs" / "three.md")

    (warning,) = [line for line in project.build("html", numfig=True).warnings if "'two'" in line]
    assert "docs/index.md:3: WARNING: toctree contains reference to nonexisting document 'two'" in warning


def test_a_book_is_read_anew_by_another_version_of_ours(project, monkeypatch):
    project.write({"docs/index.md": "# One\n\n```{toctree}\ntwo\n```\n", "docs/two.md": "# Two\n"})
    project.build("html")
    kept = project.build("html").log
    monkeypatch.setattr(incremental, "own_digest", lambda: "1234abcd" * 8)
    other = project.build("html").log

    assert "0 added, 0 changed, 0 removed" in kept
    assert "2 added" in other
