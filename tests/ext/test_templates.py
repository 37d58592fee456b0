"""A template is compiled once, also one that is given as text; what it is filled with is never kept."""

from jinja2 import Environment
from sphinx.jinja2glue import BuiltinTemplateLoader

from scratchbook.core.kept import Kept
from scratchbook.ext.speed import KeptLoader, KeptTemplates


def loader(tmp_path, **options):
    """Return a theme's loader as a new build has it, over a store that stays."""
    plain = BuiltinTemplateLoader()
    plain.environment = Environment(
        loader=plain, bytecode_cache=KeptTemplates(Kept(tmp_path / "kept.sqlite")), **options
    )
    return KeptLoader.of(plain)


def test_a_style_sheet_is_compiled_in_the_first_build_only(project, monkeypatch):
    project.write({"docs/index.md": "# One\n"})
    fast = project.build("html")
    compiled = []
    compile_anew = Environment.compile
    monkeypatch.setattr(
        Environment, "compile", lambda self, text, *a, **k: compiled.append(text) or compile_anew(self, text, *a, **k)
    )
    project.write({"docs/index.md": "# Two\n"})
    project.build("html")
    kept = compiled.copy()
    slow = project.build("html", scratchbook_fast=False)

    assert kept == []
    assert any("body" in text for text in compiled)  # the style sheet of the theme
    assert fast.file("_static/basic.css") == slow.file("_static/basic.css")


def test_what_a_template_is_filled_with_is_each_build_s_own(tmp_path):
    assert loader(tmp_path).render_string("{{ width }} px", {"width": 1}) == "1 px"
    assert loader(tmp_path).render_string("{{ width }} px", {"width": 2}) == "2 px"


def test_two_texts_are_two_templates(tmp_path):
    texts = loader(tmp_path)

    assert [texts.render_string(text, {}) for text in ("a", "b", "a")] == ["a", "b", "a"]


def test_the_same_text_is_compiled_anew_where_other_extensions_read_it(tmp_path, monkeypatch):
    compiled = []
    compile_anew = Environment.compile
    monkeypatch.setattr(Environment, "compile", lambda self, text: compiled.append(text) or compile_anew(self, text))
    for extensions in ([], ["jinja2.ext.do"], []):
        loader(tmp_path, extensions=extensions).render_string("a", {})

    assert compiled == ["a", "a"]
