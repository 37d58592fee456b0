"""A listing names the colour of a word only where a style gives it one."""

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer, YamlLexer
from pygments.style import Style
from pygments.token import Name

from scratchbook.ext.colours import Night, Paper, QuietFormatter


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
