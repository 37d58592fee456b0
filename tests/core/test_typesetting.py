"""What LaTeX's log tells of losses, and which Debian packages a PDF needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scratchbook import typesetting
from scratchbook.typesetting import losses, main, missing_packages


def test_a_log_without_losses_tells_nothing():
    assert list(losses("This is XeTeX\nOverfull \\hbox (2.5pt too wide) in paragraph at lines 4--5\n")) == []


def test_a_character_that_no_font_has_is_told():
    log = "Missing character: There is no ☃ (U+2603) in font TeXGyrePagella-Regular/OT:script=latn!\n"

    assert list(losses(log)) == ["no character ☃ in TeXGyrePagella-Regular"]


def test_a_link_to_nothing_is_told_once():
    log = "LaTeX Warning: Hyper reference `a:b' on page 3 undefined on input line 7.\n" * 2

    assert list(losses(log)) == ["link to nothing: a:b"]


def test_a_line_that_tex_broke_at_79_characters_is_read_whole():
    name = "transformer-block:equation-eq-residual"
    line = f"LaTeX Warning: Hyper reference `{name}' on page 3 undefined on input line 7."
    log = f"{line[:79]}\n{line[79:]}\n"

    assert list(losses(log)) == [f"link to nothing: {name}"]


def test_a_line_that_leaves_the_page_is_told():
    (told,) = losses("Overfull \\hbox (81.85pt too wide) detected at line 4920\n")

    assert told == "a line is 82 points too wide detected at line 4920"


def test_a_page_that_is_too_high_is_told_by_its_number():
    log = "[102]\nOverfull \\vbox (632.74588pt too high) has occurred while \\output is active []\n\n\n[103]\n"

    assert list(losses(log)) == ["page 103 is 633 points too high"]


def test_every_missing_package_is_named_once():
    found = missing_packages(None, lambda command: None, lambda command: "")

    assert "texlive-xetex" in found
    assert "fonts-texgyre-math" in found
    assert len(found) == len(set(found))


def test_nothing_is_missing_where_all_is_there():
    fonts = "TeX Gyre Pagella\nTeX Gyre Pagella Math\nDejaVu Sans Mono\nFreeSerif\n"

    assert missing_packages(None, lambda command: command, lambda command: fonts) == []


def test_a_book_needs_the_fonts_that_it_names_and_no_others():
    tex = "\\setmainfont{FreeSerif}[\n  UprightFont = *,\n]"
    answers = {"fc-list": "", "kpsewhich": "/texmf/it.sty"}

    found = missing_packages(tex, lambda command: command, lambda command: answers[command[0]])

    assert found == ["fonts-freefont-otf"]


def test_missing_packages_end_the_run_with_the_command_that_mends_it(monkeypatch, capsys):
    monkeypatch.setattr(typesetting, "missing_packages", lambda tex: ["latexmk"])

    assert main("build/latex", "build/pdf") == 2
    assert "apt-get install --no-install-recommends latexmk" in capsys.readouterr().out


@pytest.mark.skipif(bool(missing_packages()), reason="LaTeX is missing: make pdf names the packages")
def test_texs_own_words_are_told_when_it_stops(tmp_path, capsys):
    (tmp_path / "book.tex").write_text("\\documentclass{article}\\begin{document}\\nosuchcommand\\end{document}")

    assert main(str(tmp_path), str(tmp_path / "pdf")) == 1
    assert "Undefined control sequence" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.log", "book.tex"]


def test_a_folder_without_tex_is_told(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(typesetting, "missing_packages", lambda tex: [])

    assert main(str(tmp_path), str(tmp_path / "pdf")) == 1
    assert "has 0 files of TeX, not one" in capsys.readouterr().out


def test_the_module_runs_as_a_command():
    made = subprocess.run(["python3", "-m", "scratchbook.typesetting"], capture_output=True, check=False)

    assert made.returncode in (0, 2)


def test_it_says_what_it_takes():
    command = [sys.executable, "-m", "scratchbook.typesetting", "--help"]

    assert "[FOLDER] [TARGET]" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
