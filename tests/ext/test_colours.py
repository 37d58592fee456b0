"""A listing names the colour of a word only where a style gives it one."""

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer, YamlLexer
from pygments.style import Style
from pygments.token import Name
from sphinx.highlighting import PygmentsBridge

from scratchbook.core.kept import Kept
from scratchbook.ext.colours import Night, Paper, QuietFormatter
from scratchbook.ext.speed import KeptHighlighter


class Loud(Style):
    """A style with a colour for names."""

    styles = {Name: "#ff0000"}  # noqa: RUF012  # as Pygments declares it


CODE = "scores = abs(query)  # a name is ink\n"


def quiet(code, lexer, beside=(Night,)):
    return highlight(code, lexer, QuietFormatter(style=Paper, beside=list(beside)))


def test_a_name_that_looks_like_plain_text_is_plain_text():
    page = quiet(CODE, PythonLexer())

    assert '<span class="n">' in highlight(CODE, PythonLexer(), HtmlFormatter(style=Paper))
    assert '<span class="n">' not in page
    assert "scores " in page


def test_what_has_a_colour_keeps_it():
    page = quiet(CODE, PythonLexer())

    assert '<span class="nb">abs</span>' in page
    assert '<span class="c1"># a name is ink</span>' in page


def test_a_word_that_another_style_colours_keeps_its_mark():
    page = quiet(CODE, PythonLexer(), beside=[Loud])

    assert '<span class="n">scores</span>' in page


def test_kinds_of_words_that_only_one_lexer_knows_are_written():
    assert "name" in quiet("name: value\n", YamlLexer())


def test_code_is_coloured_anew_once_another_style_of_the_project_colours_its_names(tmp_path):
    def coloured(beside):
        bridge = PygmentsBridge("html", "scratchbook.ext.colours.Paper")
        bridge.formatter = QuietFormatter
        bridge.formatter_args["beside"] = [beside]
        return KeptHighlighter.of(bridge, Kept(tmp_path / "kept.sqlite")).highlight_block(CODE, "python")

    assert '<span class="n">' not in coloured(Night)
    assert '<span class="n">' in coloured(Loud)


def test_a_listing_tells_its_lines_and_leaves_its_pre_as_other_extensions_look_for_it():
    assert '<div class="highlight" style="--lines:1"><pre>' in quiet(CODE, PythonLexer())


VIEWCODE = """
extensions += ["sphinx.ext.viewcode"]
viewcode_follow_imported_members = False  # nothing is imported for this

def setup(app):
    found = ("def double(x):\\n    return 2 * x\\n", {"double": ("def", 1, 2)})
    app.connect("viewcode-find-source", lambda app, module: found)
"""


def test_viewcode_shows_the_code_of_a_module(project):
    page = "# Book\n\n```{eval-rst}\n.. py:module:: shown\n\n.. py:function:: double(x)\n```\n"
    conf = (project.root / "conf.py").read_text("utf-8") + VIEWCODE
    built = project.write({"conf.py": conf, "docs/index.md": page}).build("html")

    assert 'id="double"' in built.file("_modules/shown.html")


LEXER = """
from pygments.lexer import RegexLexer
from pygments.token import Keyword, Name

pygments_style = "default"

class Lexer(RegexLexer):
    tokens = {{"root": [(r".", {})]}}

def setup(app):
    app.add_lexer("our-own", Lexer)
"""


def test_code_is_coloured_anew_once_the_lexer_of_the_project_is_another(project):
    conf = (project.root / "conf.py").read_text("utf-8")
    page = "# Book\n\n```our-own\nabc\n```\n"
    project.write({"conf.py": conf + LEXER.format("Name.Class"), "docs/index.md": page}).build("html")
    built = project.write({"conf.py": conf + LEXER.format("Keyword"), "docs/index.md": f"{page}\nMore.\n"}).build(
        "html"
    )

    assert '<span class="k">abc</span>' in built.file("index.html")
