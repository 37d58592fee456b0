"""The command `scratchbook`: what it prints, its exit status, and what it refuses."""

import os
import pty
import re
import subprocess
import sys
import warnings

import pytest
from sphinx import locale
from sphinx.deprecation import RemovedInSphinx11Warning

from scratchbook.cli import main

PAGE = "# Page\n\n```{{live}}\nprint({0})\n```\n\nText.\n"


@pytest.fixture
def book(project, monkeypatch):
    """Two pages that print a number each; outcomes are accepted in `pins`."""
    monkeypatch.delenv("CI", raising=False)
    project.settings["scratchbook_pins"] = "pins"
    conf = (project.root / "conf.py").read_text()
    return project.write(
        {
            "conf.py": conf + "scratchbook_pins = 'pins'\n",
            "docs/index.md": "# Book\n\n```{toctree}\none\ntwo\n```\n",
            "docs/one.md": PAGE.format("1.5"),
            "docs/two.md": PAGE.format("2.5"),
        }
    )


@pytest.fixture
def ask(book, capsys, monkeypatch):
    """Return a function that runs a command with answers and returns its exit status and all that it printed."""

    def run(*words, answers=None):
        if answers is not None:
            left = iter(answers)
            monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
            monkeypatch.setattr("builtins.input", lambda question: next(left))
        locale.translators.clear()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=RemovedInSphinx11Warning, module="myst_parser")
            status = main([*words, "--conf", str(book.root), "--build", str(book.root / "build")])
        said = capsys.readouterr()
        return status, said.out + said.err

    return run


def pins(book, page="one"):
    path = book.root / "pins" / f"{page}.toml"
    return path.read_text() if path.exists() else None


@pytest.mark.parametrize("command", ["new", "cache", "twice", "review", "mutate", "doctest"])
def test_help_says_what_a_command_is_for(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])

    assert re.search(r"^[A-Z][a-z]+ (the|every) ", capsys.readouterr().out, re.MULTILINE)


# A first book.


def test_a_book_that_is_there_is_not_overwritten(tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Mine\n")

    assert main(["new", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"scratchbook: {tmp_path}/docs/index.md is there already; name a folder without it\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]


@pytest.mark.parametrize("place", ["docs", "", "..", "conf.py"])
@pytest.mark.parametrize("is_link", [False, True])
def test_a_book_that_cannot_be_whole_is_not_begun(tmp_path, capsys, place, is_link):
    """A file stands where a folder must be, or a link that leads nowhere where anything must be."""
    folder = tmp_path / "outer" / "book"
    path = (folder / place).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_link:
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.write_text("mine")

    assert main(["new", str(folder)]) == 2
    assert capsys.readouterr().err.startswith(f"scratchbook: {path} is ")
    assert [found for found in tmp_path.rglob("*") if found.is_file()] == ([] if is_link else [path])


# The store.


def test_explain_says_that_a_page_never_ran(ask):
    status, said = ask("cache", "--explain", "one")

    assert status == 0
    assert said.startswith(
        "one:\n    never stored: it has not run here, it failed, or what it used could not be recorded\n"
        "scratchbook: nothing is stored in "
    )
    assert said.endswith("/build/.scratchbook; say with --build where\n")


def test_explain_says_that_nothing_changed(ask, book):
    book.build()

    assert ask("cache", "--explain", "one") == (0, "one:\n    stored: nothing that it used has changed\n")


def test_explain_names_the_cell_that_changed(ask, book):
    book.build()
    book.write({"docs/one.md": PAGE.format("3")})

    assert ask("cache", "--explain", "one") == (0, "one:\n    cell 1 (code-1): changed\n")


def test_explain_of_a_page_without_code_names_those_with(ask):
    assert ask("cache", "--explain", "index") == (2, "scratchbook: no page 'index' runs code; these do: one, two\n")


def test_verify_finds_nothing_when_code_gives_the_same_again(ask, book):
    book.build()

    assert ask("cache", "--verify") == (0, "2 stored outcomes compared, 0 differences\n")


def test_verify_says_of_how_many_pages_nothing_is_stored(ask, book):
    said = ask("cache", "--verify")[1]

    assert said.splitlines()[0] == "2 pages without a stored outcome that is up to date; a build makes it"
    assert said.splitlines()[-1] == "0 stored outcomes compared, 0 differences"


def test_verify_finds_an_outcome_that_was_not_a_function_of_what_was_recorded(ask, book):
    book.write({"docs/one.md": PAGE.format("__import__('time').time_ns()")}).build()

    status, said = ask("cache", "--verify")

    assert status == 1
    assert said.startswith("docs/one.md:3: output line 1: '")
    assert said.endswith("2 stored outcomes compared, 1 difference\n")


def test_clear_forgets_every_outcome(ask, book):
    book.build()

    assert ask("cache", "--clear") == (0, "2 outcomes forgotten\n")
    assert ask("cache", "--clear") == (0, "0 outcomes forgotten\n")
    assert "2 run, 0 cached" in book.build().log


def test_a_project_without_a_store_has_nothing_to_ask(ask, book):
    book.write({"conf.py": (book.root / "conf.py").read_text() + "scratchbook_cache = None\n"})

    assert ask("cache", "--clear") == (
        2,
        "scratchbook: this project keeps no outcomes: scratchbook_cache is None in conf.py\n",
    )


# Where the project is.


def test_a_folder_without_a_project_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["cache", "--clear", "--conf", str(tmp_path)])

    assert f"there is no conf.py in {tmp_path}; say where it is with --conf" in capsys.readouterr().err


def test_chapters_that_are_not_there_are_refused(book, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["cache", "--clear", "--conf", str(book.root), "--source", str(book.root / "chapters")])

    assert f"there is no folder {book.root / 'chapters'}; say where" in capsys.readouterr().err


def test_a_conf_that_fails_is_told_in_one_line(ask, book):
    book.write({"conf.py": "1 / 0\n"})

    status, said = ask("cache", "--clear")

    assert status == 2
    assert said.startswith("scratchbook: the project cannot be opened: ")


def test_a_project_without_the_extension_is_told_so(ask, book):
    book.write({"conf.py": "extensions = ['myst_parser']\n"})

    assert ask("cache", "--clear") == (2, "scratchbook: conf.py does not load the extension 'scratchbook'\n")


# Twice.


def test_code_that_gives_the_same_twice_is_well(ask):
    assert ask("twice") == (0, "2 sessions run twice, 0 differences\n")


def test_the_order_of_a_set_of_texts_is_told_by_line(ask, book):
    book.write({"docs/one.md": PAGE.format("*({'alpha', 'beta', 'gamma', 'delta'}), sep='\\n'")})

    status, said = ask("twice", "one")

    assert status == 1
    assert said.startswith("docs/one.md:3: output line 1: '")
    assert said.splitlines()[-1].startswith("1 session run twice, ")


def test_last_digits_of_a_drawing_are_told_though_no_pin_tells_them(ask, book):
    drawing = """f'<svg xmlns="http://www.w3.org/2000/svg" width="{1 + hash("a") % 997 / 1e6:.9f}"/>'"""
    book.write({"docs/one.md": f"# Page\n\n```{{live}}\n:figure: A dot\n\n{drawing}\n```\n"})

    assert ask("twice", "one") == (
        1,
        "docs/one.md:3: figure: its drawing is another one\n1 session run twice, 1 difference\n",
    )


def test_code_that_fails_is_told(ask, book):
    book.write({"docs/one.md": PAGE.format("1 / 0")})

    assert ask("twice", "one") == (
        1,
        "one: ZeroDivisionError: division by zero\n1 session run twice, 1 difference\n",
    )


def test_a_page_that_runs_nothing_cannot_run_twice(ask):
    assert ask("twice", "index") == (2, "scratchbook: no page 'index' runs code; these do: one, two\n")


def test_without_an_equation_there_is_nothing_to_change(ask):
    text = "scratchbook: none of these pages has a checked equation, so nothing can be changed\n"

    assert ask("mutate", "one")[1].endswith(text)
    assert ask("mutate")[0] == 2


# The review.


def test_without_a_terminal_the_review_shows_and_writes_nothing(ask, book):
    status, said = ask("review")

    assert status == 1
    assert "docs/one.md:3: output has no accepted outcome: '1.5'\n    --- accepted\n    +++ now\n" in said
    assert said.endswith("2 outcomes differ from the accepted ones\n")
    assert pins(book) is None


def test_accept_writes_every_page(ask, book):
    status, said = ask("review", "--accept")

    assert status == 0
    assert said.endswith("0 outcomes differ from the accepted ones\n")
    assert "text = '''\n1.5\n'''\n" in pins(book)
    assert "text = '''\n2.5\n'''\n" in pins(book, "two")
    assert sorted(path.name for path in (book.root / "pins").iterdir()) == ["one.toml", "two.toml"]


def test_what_was_accepted_is_not_asked_again(ask):
    ask("review", "--accept")

    assert ask("review") == (0, "0 outcomes differ from the accepted ones\n")


def test_yes_accepts_one_and_no_leaves_the_other(ask, book):
    status, said = ask("review", answers=["y", "n"])

    assert status == 1
    assert said.endswith("1 outcome differs from the accepted ones\n")
    assert pins(book) is not None
    assert pins(book, "two") is None


def test_a_page_is_accepted_in_parts(ask, book):
    book.write({"docs/one.md": PAGE.format("1") + PAGE.format("2") + PAGE.format("3")})

    ask("review", "one", answers=["n", "y", "n"])

    assert "[code-2]" in pins(book)
    assert "[code-1]" not in pins(book)
    assert "[code-3]" not in pins(book)


def test_all_accepts_the_rest_of_the_page_and_asks_again_for_the_next(ask, book):
    book.write({"docs/one.md": PAGE.format("1") + PAGE.format("2") + PAGE.format("3")})

    status, _ = ask("review", answers=["n", "a", "n"])

    assert status == 1
    assert "[code-2]" in pins(book)
    assert "[code-3]" in pins(book)
    assert pins(book, "two") is None


def test_an_answer_that_is_none_is_asked_again(ask, book):
    ask("review", "one", answers=["perhaps", "", "y"])

    assert pins(book) is not None


def test_a_tolerance_that_was_written_by_hand_stays(ask, book):
    ask("review", "--accept")
    path = book.root / "pins" / "one.toml"
    path.write_text(path.read_text().replace("text =", "rtol = 0.5\ntext ="))
    book.write({"docs/one.md": PAGE.format("1.6")})
    assert ask("review", "one") == (0, "0 outcomes differ from the accepted ones\n")
    book.write({"docs/one.md": PAGE.format("9.5")})
    ask("review", "--accept")

    assert "rtol = 0.5\ntext = '''\n9.5\n" in pins(book)


def test_quit_asks_nothing_more(ask, book):
    status, said = ask("review", answers=["q"])

    assert status == 1
    assert said.endswith("2 outcomes differ from the accepted ones\n")
    assert pins(book) is None


def test_an_author_who_interrupts_keeps_what_was_accepted_before(ask, book, monkeypatch):
    def answer(question):
        if said:
            raise KeyboardInterrupt
        return said.append("y") or "y"

    said = []
    book.write({"docs/one.md": PAGE.format("1.5") + "\n```{live}\nprint('more')\n```\n"})
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", answer)
    status, _ = ask("review", "one")

    assert status == 1
    assert "1.5" in pins(book)
    assert "more" not in pins(book)


def test_a_refused_difference_keeps_the_accepted_outcome(ask, book):
    ask("review", "--accept")
    before = pins(book)
    book.write({"docs/one.md": PAGE.format("1.7")})

    status, said = ask("review", answers=["n"])

    assert status == 1
    assert "docs/one.md:3: output was '1.5' when it was accepted and is '1.7'" in said
    assert pins(book) == before


def test_the_outcome_of_a_cell_that_is_gone_leaves_the_file_when_that_is_accepted(ask, book):
    book.write({"docs/one.md": PAGE.format("1") + PAGE.format("2")})
    ask("review", "--accept")
    book.write({"docs/one.md": PAGE.format("1")})

    ask("review", answers=["y"])

    assert "code-2" not in pins(book)


def test_code_that_failed_is_not_accepted(ask, book):
    book.write({"docs/one.md": PAGE.format("1 / 0") + PAGE.format("2")})

    status, said = ask("review", "--accept")

    assert status == 1
    assert said.endswith(
        "docs/one.md:3: this failed, and a failure cannot be accepted: ZeroDivisionError: division by zero\n"
        "one: 1 cell did not run, and what did not run cannot be accepted\n"
    )
    assert pins(book) is None


@pytest.mark.parametrize("words", [["review", "--accept"], ["review", "--refresh"]])
def test_nothing_is_accepted_in_ci(ask, book, monkeypatch, words):
    monkeypatch.setenv("CI", "true")

    assert ask(*words) == (
        2,
        "scratchbook: outcomes are accepted by a person, and CI is set: run the review on your machine\n",
    )
    assert pins(book) is None


def test_nobody_is_asked_in_ci(ask, book, monkeypatch):
    monkeypatch.setenv("CI", "true")

    assert ask("review", answers=[])[0] == 2
    assert pins(book) is None


def test_ci_may_look(ask, monkeypatch):
    monkeypatch.setenv("CI", "true")

    assert ask("review")[0] == 1


@pytest.mark.parametrize("command", ["review", "twice", "mutate"])
def test_an_unknown_page_is_refused_with_those_there_are(ask, command):
    assert ask(command, "one", "three") == (2, "scratchbook: no page 'three' runs code; these do: one, two\n")


def test_doctest_says_what_it_needs(ask):
    status, said = ask("doctest")

    assert status == 2
    assert said.endswith("; add 'sphinx.ext.doctest' to the extensions\n")


def test_a_project_without_accepted_outcomes_is_told_how_to_begin(ask, book):
    book.write({"conf.py": (book.root / "conf.py").read_text() + "scratchbook_pins = ''\n"})

    assert ask("review") == (
        2,
        "scratchbook: this project keeps no accepted outcomes: name a folder in scratchbook_pins of conf.py\n",
    )


def test_a_torn_file_of_accepted_outcomes_is_told_and_left_as_it_is(ask, book):
    book.write({"pins/one.toml": "format = 1\n[code-1\n"})

    status, said = ask("review", "--accept")

    assert status == 2
    assert said.startswith("scratchbook: pins/one.toml cannot be read as accepted outcomes: ")
    assert pins(book) == "format = 1\n[code-1\n"


def test_a_file_that_cannot_be_written_keeps_what_it_held(ask, book, monkeypatch):
    ask("review", "--accept")
    before = pins(book)
    book.write({"docs/one.md": PAGE.format("1.7")})

    def refuse(source, target, move=os.replace):
        if str(target).endswith(".toml"):
            raise OSError(28, "No space left on device")
        move(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("scratchbook.review.os.replace", refuse)
        status, said = ask("review", "one", "--accept")

    assert status == 2
    assert said.endswith("one.toml cannot be written: No space left on device; nothing in it has changed\n")
    assert pins(book) == before
    assert sorted(path.name for path in (book.root / "pins").iterdir()) == ["one.toml", "two.toml"]


def test_at_a_terminal_the_command_asks(book):
    near, far = pty.openpty()
    os.write(near, b"y\nn\n")
    words = ["--conf", str(book.root), "--build", str(book.root / "build")]
    code = "import sys; from scratchbook.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, "review", *words],
        stdin=far, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    os.close(near)
    os.close(far)

    assert done.returncode == 1, done.stderr
    assert "accept? [y]es, [n]o, [a]ll of this page, [q]uit: " in done.stdout
    assert pins(book) is not None
    assert pins(book, "two") is None


def test_a_terminal_that_does_not_say_how_wide_it_is_shows_which_page_is_at_work(book):
    near, far = pty.openpty()  # its width is 0
    words = ["--conf", str(book.root), "--build", str(book.root / "build")]
    code = "import sys; from scratchbook.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, "twice", *words],
        stdout=subprocess.PIPE, stderr=far, text=True, check=False, timeout=60,
    )  # fmt: skip
    said = os.read(near, 10_000).decode()
    os.close(near)
    os.close(far)

    assert "1 of 2: one" in said
    assert done.stdout == "2 sessions run twice, 0 differences\n"


def test_the_review_says_of_which_state_an_outcome_is(ask, book):
    book.write({"docs/one.md": "# One\n\n```{states} mode\na, b\n```\n\n```{live}\nprint(mode)\n```\n"})
    _, said = ask("review", "one")

    told = [line for line in said.splitlines() if line.startswith("docs/one.md:7: ")]
    assert told == [
        "docs/one.md:7: output has no accepted outcome: 'a' (where mode = a)",
        "docs/one.md:7: output has no accepted outcome: 'b' (where mode = b)",
    ]
