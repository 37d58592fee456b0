"""Drawing TeX: what comes out, what is refused, what is kept."""

import json
import os
import signal
import subprocess
import sys

import pytest

from scratchbook.core.errors import ScratchbookError
from scratchbook.core.katex import Drawing, Formula, Typesetter, katex_macros, latex_macros
from scratchbook.core.kept import Kept
from scratchbook.ext.mathematics import ENGINE


@pytest.fixture(scope="module")
def typesetter():
    made = Typesetter(ENGINE)
    yield made
    made.close()


def error(typesetter, tex, **options):
    return typesetter.draw(Formula(tex, **options)).error


def test_a_formula_is_drawn_with_its_tex_beside_it(typesetter):
    markup = typesetter.draw(Formula(r"\frac{a}{b}")).markup

    assert '<span class="katex-html"' in markup
    assert '<annotation encoding="application/x-tex">\\frac{a}{b}</annotation>' in markup


def test_mathml_alone_has_no_html_for_a_screen(typesetter):
    markup = typesetter.draw(Formula("x", form="mathml")).markup

    assert "<math" in markup
    assert "katex-html" not in markup


def test_a_comparison_is_escaped(typesetter):
    markup = typesetter.draw(Formula("y_{<t} & z")).markup or typesetter.draw(Formula("y_{<t}")).markup

    assert "y_{&lt;t}" in markup


def test_macros_take_arguments(typesetter):
    macros = katex_macros({"vx": r"\mathbf{x}", "norm": [r"\lVert #1 \rVert", 1]})

    assert error(typesetter, r"\norm{\vx}", macros=macros) == ""


def test_a_mistake_names_the_character_where_it_was_seen(typesetter):
    drawing = typesetter.draw(Formula(r"a + \foo"))

    assert (drawing.error, drawing.position) == (r"Undefined control sequence: \foo", 4)


@pytest.mark.parametrize(
    "tex",
    [
        r"\href{javascript:alert(1)}{x}", r"\url{https://example.org}", r"\htmlData{a=b}{x}", r"\htmlClass{a}{x}",
        r"\htmlStyle{color:red}{x}", r"\htmlId{a}{x}", r"\includegraphics{x.png}", r"\unicode{<img src=x onerror=a>}",
        r"\class{a}{x}", r"\style{a}{x}", r"\require{html}",
    ],
)  # fmt: skip
def test_what_could_carry_a_link_a_script_or_a_picture_is_refused(typesetter, tex):
    drawing = typesetter.draw(Formula(tex))

    assert drawing.error
    assert drawing.markup == ""


@pytest.mark.parametrize("tex", [r"\def\a{\a\a}\a", "{" * 5000 + "}" * 5000])
def test_what_never_ends_or_nests_too_deep_is_a_mistake_and_no_crash(typesetter, tex):
    assert error(typesetter, tex)
    assert error(typesetter, "x") == ""


def test_latex_gets_the_same_macros():
    definitions = latex_macros({"T": r"\mathsf{T}", "norm": [r"\lVert #1 \rVert", 1]})

    assert r"\renewcommand{\T}{\mathsf{T}}" in definitions
    assert r"\renewcommand{\norm}[1]{\lVert #1 \rVert}" in definitions


@pytest.mark.parametrize("macros", [{"v1": "x"}, {"v": ["x", "one"]}, {"v": ["#1", 1, "default"]}, {"v": 3}])
def test_a_macro_that_cannot_be_one_is_a_mistake_in_the_settings(macros):
    with pytest.raises(ScratchbookError) as caught:
        katex_macros(macros)

    assert caught.value.kind == "setting"


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path / "kept.sqlite")


def test_a_kept_drawing_needs_no_engine(kept, monkeypatch):
    first = Typesetter(ENGINE, kept)
    drawn = first.draw(Formula("x^2"))
    first.close()
    monkeypatch.setattr(Typesetter, "_ask", lambda *_: pytest.fail("KaTeX was asked"))

    assert Typesetter(ENGINE, Kept(kept.path)).draw(Formula("x^2")) == drawn


@pytest.mark.parametrize(
    "other",
    [Formula("x^3"), Formula("x^2", True), Formula("x^2", form="mathml"), Formula("x^2", macros=(("\\R", "x"),))],
)
def test_what_was_kept_of_one_formula_is_not_taken_for_another(kept, monkeypatch, other):
    first = Typesetter(ENGINE, kept)
    first.draw(Formula("x^2"))
    first.close()
    monkeypatch.setattr(Typesetter, "_ask", lambda *_: Drawing("drawn anew"))

    assert Typesetter(ENGINE, kept).draw(other) == Drawing("drawn anew")


def test_another_engine_draws_anew(kept, tmp_path, monkeypatch):
    first = Typesetter(ENGINE, kept)
    first.draw(Formula("x^2"))
    first.close()
    engine = tmp_path / "katex.js"
    engine.write_bytes(ENGINE.read_bytes() + b"// of another version")
    monkeypatch.setattr(Typesetter, "_ask", lambda *_: Drawing("drawn anew"))

    assert Typesetter(engine, kept).draw(Formula("x^2")) == Drawing("drawn anew")


def test_a_mistake_is_not_kept(kept):
    typesetter = Typesetter(ENGINE, kept)
    typesetter.draw(Formula(r"\foo"))
    typesetter.close()

    assert kept.get(typesetter._key(Formula(r"\foo"))) is None


def test_a_file_of_the_project_is_not_taken_for_a_module_of_python(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise ImportError('of the project')\n")
    monkeypatch.chdir(tmp_path)
    typesetter = Typesetter(ENGINE)

    assert typesetter.draw(Formula("x")).markup
    typesetter.close()


def test_a_forked_process_draws_with_an_engine_of_its_own(typesetter):
    typesetter.draw(Formula("x"))
    child = os.fork()
    if child == 0:  # pytest must not end twice
        status = 1
        try:
            status = 0 if typesetter.draw(Formula("y + forked")).markup else 1
            typesetter.close()
        finally:
            os._exit(status)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert typesetter.draw(Formula("z + parent")).markup


@pytest.fixture
def server():
    """The process that draws, as a build starts it."""
    command = [sys.executable, "-m", "scratchbook.core.katex", str(ENGINE)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        yield process
        process.kill()


REQUEST = json.dumps(["x^2", False, "mathml", "{}"]).encode() + b"\n"


def test_the_engine_ends_when_the_build_was_killed_before_its_answer(server):
    server.stdout.close()
    server.stdin.write(REQUEST)
    server.stdin.close()

    assert server.wait(timeout=60) == 1
    assert server.stderr.read() == b""


def test_an_interrupt_that_ends_the_build_leaves_the_engine_to_its_end(server):
    server.stdin.write(REQUEST)
    assert b"markup" in server.stdout.readline()
    server.send_signal(signal.SIGINT)
    server.stdin.write(REQUEST)
    server.stdin.close()

    assert b"markup" in server.stdout.readline()
    assert server.wait(timeout=60) == 0
