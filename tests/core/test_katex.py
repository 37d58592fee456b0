"""Drawing TeX: what comes out, what is refused, what is kept."""

import json
import os

import pytest

from scratchbook.core.errors import ScratchbookError
from scratchbook.core.katex import Drawing, Formula, Typesetter, katex_macros, latex_macros
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


def test_a_stored_drawing_needs_no_engine(tmp_path, monkeypatch):
    first = Typesetter(ENGINE, tmp_path)
    drawn = first.draw(Formula("x^2"))
    first.close()
    monkeypatch.setattr(Typesetter, "_ask", lambda *_: pytest.fail("KaTeX was asked"))

    assert Typesetter(ENGINE, tmp_path).draw(Formula("x^2")) == drawn


@pytest.mark.parametrize("damage", [b"", b"{", b'{"markup": 3, "who": 1}', b"\xff\xfe", b"[" * 100000])
def test_a_damaged_drawing_is_drawn_again(tmp_path, damage):
    typesetter = Typesetter(ENGINE, tmp_path)
    drawn = typesetter.draw(Formula("x^2"))
    (stored,) = tmp_path.iterdir()
    stored.write_bytes(damage)

    again = Typesetter(ENGINE, tmp_path)
    assert again.draw(Formula("x^2")) == drawn
    assert Drawing(**json.loads(stored.read_text("utf-8"))) == drawn
    typesetter.close()
    again.close()


def test_a_mistake_is_not_stored(tmp_path):
    typesetter = Typesetter(ENGINE, tmp_path / "store")
    typesetter.draw(Formula(r"\foo"))
    typesetter.close()

    assert not (tmp_path / "store").exists()


def test_a_store_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "file").write_text("in the way")
    typesetter = Typesetter(ENGINE, tmp_path / "file")

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
