"""Two quiet colour schemes for code: ink on paper, and the same in the dark; and pages that name no colour in vain.

Every colour has a contrast of at least 4.5 to 1 (WCAG AA) with its own background, with that of an output, and with an
emphasized line, which a test holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final

from pygments.formatters import HtmlFormatter
from pygments.style import Style
from pygments.token import Comment, Error, Generic, Keyword, Literal, Name, Number, Operator, String, Token
from sphinx.application import Sphinx

PAPER: Final = "#f6f4ef"
NIGHT: Final = "#1d2024"


class Paper(Style):  # type: ignore[misc]  # Pygments has no types
    """For light pages."""

    name = "paper"
    background_color = PAPER
    highlight_color = "#ebe4cf"
    line_number_color = "#66625a"
    styles: ClassVar[dict[object, str]] = {
        Token: "#24262b",
        Comment: "italic #615d55",
        Keyword: "#7a2d5f",
        Keyword.Constant: "#8a4500",
        Operator.Word: "#7a2d5f",
        Name: "#24262b",
        Name.Function: "#1b4f8a",
        Name.Class: "#1b4f8a",
        Name.Decorator: "#1b4f8a",
        Name.Builtin: "#1d5a63",
        Name.Builtin.Pseudo: "#8a4500",
        Name.Exception: "#1d5a63",
        Literal: "#8a4500",
        Number: "#8a4500",
        String: "#2d6136",
        String.Doc: "italic #4d5f4e",
        String.Interpol: "#8a4500",
        String.Escape: "#8a4500",
        Generic.Heading: "bold #24262b",
        Generic.Error: "#a3262a",
        Generic.Traceback: "#a3262a",
        Generic.Prompt: "#615d55",
        Error: "#a3262a",
    }


class Night(Style):  # type: ignore[misc]
    """For dark pages."""

    name = "night"
    background_color = NIGHT
    highlight_color = "#33342c"
    line_number_color = "#a09b90"
    styles: ClassVar[dict[object, str]] = {
        Token: "#dcd9d2",
        Comment: "italic #a8a296",
        Keyword: "#e0a3cb",
        Keyword.Constant: "#e5b378",
        Operator.Word: "#e0a3cb",
        Name: "#dcd9d2",
        Name.Function: "#8dbdf0",
        Name.Class: "#8dbdf0",
        Name.Decorator: "#8dbdf0",
        Name.Builtin: "#83c6cf",
        Name.Builtin.Pseudo: "#e5b378",
        Name.Exception: "#83c6cf",
        Literal: "#e5b378",
        Number: "#e5b378",
        String: "#9ecb9f",
        String.Doc: "italic #a9bfa9",
        String.Interpol: "#e5b378",
        String.Escape: "#e5b378",
        Generic.Heading: "bold #dcd9d2",
        Generic.Error: "#f29a95",
        Generic.Traceback: "#f29a95",
        Generic.Prompt: "#a8a296",
        Error: "#f29a95",
    }


class QuietFormatter(HtmlFormatter):  # type: ignore[misc]
    """Write no element around what every style of the site shows as plain text: a third of a listing's elements.

    A listing says how many lines it has, so that a browser may draw it later: in its frame, since there are extensions
    that look for a bare <pre> in it, such as viewcode.
    """

    def __init__(self, **options: Any) -> None:
        """Take Pygments' options, and `beside`: the site's other styles."""
        super().__init__(**options)
        self.looks = [dict(style) for style in (self.style, *options.get("beside", ()))]
        self.plain: dict[Any, bool] = {}

    def format(self, tokensource: Iterable[tuple[Any, str]], outfile: Any) -> None:
        """Write code whose plain kinds of words are plain text."""
        tokens = [(Token.Text if self.is_plain(kind) else kind, text) for kind, text in tokensource]
        self.cssstyles = f"--lines:{sum(text.count(chr(10)) for _, text in tokens)}"
        super().format(tokens, outfile)

    def is_plain(self, kind: Any) -> bool:
        """Whether all styles show a kind of word as any other text."""
        if kind not in self.plain:
            known = kind
            while known not in self.looks[0]:  # lexers have kinds of their own
                known = known.parent
            self.plain[kind] = all(look[known] == look[Token] for look in self.looks)
        return self.plain[kind]


def quieten(app: Sphinx) -> None:
    """Let the builder's highlighter write quietly."""
    highlighter = getattr(app.builder, "highlighter", None)
    if highlighter is None or app.builder.format != "html":
        return
    beside = getattr(app.config, "pygments_dark_style", None)
    highlighter.formatter = QuietFormatter
    highlighter.formatter_args["beside"] = [highlighter.get_style(beside)] if beside else []


def register(app: Sphinx) -> None:
    """Connect the quiet formatter."""
    app.connect("builder-inited", quieten)
