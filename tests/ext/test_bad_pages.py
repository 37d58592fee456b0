"""Sixteen mistakes that authors make, each on a page of its own: one message at its line, and every page is built."""

import re
from pathlib import Path

import pytest

FILES = {
    "scratch/regions.py": """
        # tag::good[]
        GOOD = 1
        # end::good[]
        """,
    "scratch/open.py": """
        A = 1
        # tag::open[]
        B = 2
        """,
    "scratch/crossing.py": """
        # tag::a[]
        A = 1
        # tag::b[]
        B = 2
        # end::a[]
        # end::b[]
        """,
    "scratch/broken.py": "def f(:\n    pass\n",
    "scratch/deep.py": """
        # tag::deep[]
        def outer():
            return middle()


        def middle():
            return inner()


        def inner():
            return 1 / 0
        # end::deep[]
        """,
}


def live(code, *options, file=""):
    lines = [f"```{{live}} {file}".rstrip(), *options, "", *code.splitlines(), "```"]
    return "# Page\n\n" + "\n".join(lines) + "\n"


# page -> its text, and what its message begins with; every directive stands on line 3.
PAGES = {
    "missing_file": (
        live("", ":no-output: a test", file="nothere.py"),
        "docs/missing_file.md:3: WARNING: no file 'nothere.py'; looked for scratch/nothere.py and docs/nothere.py",
    ),
    "missing_tag": (live("", ":tag: goood", file="regions.py"), "docs/missing_tag.md:3: WARNING: no region 'goood'"),
    "unclosed_tag": (live("", ":tag: open", file="open.py"), "scratch/open.py:2: WARNING: "),
    "crossing_tags": (live("", ":tag: a", file="crossing.py"), "scratch/crossing.py:"),
    "syntax_error": (live("", ":no-output: a test", file="broken.py"), "scratch/broken.py:1: WARNING: SyntaxError"),
    "deep_exception": (live("outer()", ":tag: deep", file="deep.py"), "scratch/deep.py:11: WARNING: ZeroDivisionError"),
    "exit": (live("print(1)\nimport sys\nsys.exit(0)"), "docs/exit.md:7: WARNING: "),
    "os_exit": (live("print(1)\nimport os\nos._exit(0)"), "docs/os_exit.md:3: WARNING: "),
    "input": (live("x = input('n? ')"), "docs/input.md:5: WARNING: EOFError"),
    "endless": (live("while True:\n    pass", ":timeout: 1"), "docs/endless.md:"),
    "child": (
        live("import subprocess\nprint(subprocess.Popen(['sleep', '600']).args)"),
        "docs/child.md:3: WARNING: ",
    ),
    "huge": (live("for _ in range(600_000):\n    print('x' * 100)"), "docs/huge.md:"),
    "bytes": (live("import sys\nsys.stdout.buffer.write(b'\\xff\\xfe')"), "docs/bytes.md:3: WARNING: "),
    "killed": (live("import os\nos.kill(os.getpid(), 9)"), "docs/killed.md:"),
    "option": (
        live("print(1)", ":tagg: x"),
        "docs/option.md:4: WARNING: {live} has no option 'tagg'; did you mean tag",
    ),
    "undefined": (
        "# Page\n\nIt is\n{value}`nothing`.\n",
        "docs/undefined.md:4: WARNING: `nothing` cannot be evaluated: NameError",
    ),
}


@pytest.fixture(scope="module")
def built(module_project):
    index = "# Book\n\n```{toctree}\n" + "\n".join(["good", *PAGES]) + "\n```\n"
    pages = {f"docs/{name}.md": text for name, (text, _) in PAGES.items()}
    module_project.write({**FILES, **pages, "docs/index.md": index, "docs/good.md": live("print('good')")})
    return module_project.build("html", jobs=2)


def test_each_bad_page_gives_one_message(built):
    assert len(built.warnings) == len(PAGES), "\n".join(built.warnings)


@pytest.mark.parametrize("page", PAGES)
def test_the_message_names_the_line(built, page):
    start = PAGES[page][1]
    found = [warning for warning in built.warnings if warning.startswith(start)]
    assert len(found) == 1, built.messages


def test_every_page_is_built_and_the_good_one_is_right(built):
    assert ">good\n" in built.file("good.html")
    assert all("</html>" in built.file(f"{page}.html") for page in PAGES)


@pytest.mark.parametrize("page", ["missing_file", "missing_tag", "deep_exception", "exit", "endless", "killed"])
def test_a_failure_is_a_box_on_its_page(built, page):
    assert "scratchbook-failure" in built.file(f"{page}.html")


def test_what_was_printed_before_a_failure_stays(built):
    assert ">1\n" in built.file("exit.html")


def test_a_huge_output_is_cut_on_the_page(built):
    assert len(built.file("huge.html")) < 200_000
    assert "bytes more are not shown" in built.file("huge.html")


def test_a_traceback_with_short_paths_follows_the_message(built):
    assert '  File "scratch/deep.py", line 11, in inner\n    return 1 / 0' in built.messages


def test_the_build_fails_and_says_how_many_sessions_did(built):
    assert built.status == 1
    assert re.search(r"17 sessions: 17 run, 0 cached, 1[45] failed · \d+\.\d s", built.log)


def test_no_page_takes_a_second_and_a_half_more_than_its_limit(built):
    outcomes = built.app.env.domains["scratchbook"].outcomes
    limits = {"endless": 1.0}  # the others do not wait for one

    late = {page: outcome.seconds for page, outcome in outcomes.items() if outcome.seconds > limits.get(page, 0) + 1.5}
    assert len(outcomes) == 1 + len(PAGES)
    assert late == {}


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs Linux to look for processes")
def test_no_process_is_left(built):
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.is_file()]

    assert b"sleep\x00600\x00" not in lines


def test_the_next_build_says_all_of_it_again_and_fails_again(built, module_project):
    again = module_project.build("html")

    # Where endless code is stopped is a matter of chance; that it is stopped is not.
    first, second = (re.sub(r"(endless|huge)\.md:\d+", r"\1.md", "\n".join(it.warnings)) for it in (built, again))
    assert second == first
    assert again.status == 1
    assert "0 added, 0 changed, 0 removed" in again.log
