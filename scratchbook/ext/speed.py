"""Make Sphinx do less of what it has done before.  Changes no byte of a page.

Three things cost a build most and give the same every time: looking for garbage where there is little, colouring code
that was coloured before, and compiling templates.  Each is left out here through what Sphinx and Jinja offer for it.
"""

from __future__ import annotations

import atexit
import gc
from functools import cached_property
from typing import Any, Final

import jinja2
from jinja2.bccache import Bucket, BytecodeCache
from pygments.formatter import Formatter
from pygments.lexer import Lexer
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge, lexer_classes, lexers
from sphinx.jinja2glue import BuiltinTemplateLoader

from scratchbook.core.kept import Kept, key_of
from scratchbook.ext.citations import AuthorYearStyle
from scratchbook.ext.incremental import own_digest
from scratchbook.ext.settings import kept_pieces

# A build makes trees that live until its end.  Never to look costs 30 MB more, and the time to make these pages.
OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000


class KeptHighlighter(PygmentsBridge):
    """Colour a block of code once, and take it from the store in every later build."""

    kept: Kept
    _lexers_asked: list[Lexer]
    _formatters: dict[str, Formatter[str]]

    @classmethod
    def of(cls, bridge: PygmentsBridge, kept: Kept) -> KeptHighlighter:
        """Return the same highlighter, with a memory."""
        highlighter = cls.__new__(cls)
        highlighter.__dict__.update(bridge.__dict__)
        highlighter.kept, highlighter._lexers_asked, highlighter._formatters = kept, [], {}
        return highlighter

    @cached_property
    def colours(self) -> str:
        """Return a digest of what styles and lexers the project has: all its styles decide what is left plain."""
        styles = [self.formatter_args["style"], *self.formatter_args.get("beside", ())]
        looks = [[(str(kind), sorted(look.items())) for kind, look in style] for style in styles]
        return key_of(looks, sorted(map(str, [*lexers.items(), *lexer_classes.items()])))

    def get_formatter(self, **kwargs: Any) -> Formatter[str]:
        """Make a formatter, with the whole style sheet in it, once and not for every block."""
        options = repr(sorted(kwargs.items()))
        if options not in self._formatters:
            self._formatters[options] = super().get_formatter(**kwargs)
        return self._formatters[options]

    def get_lexer(self, *args: Any, **kwargs: Any) -> Lexer:
        """Choose a lexer, and note that one was chosen."""
        lexer = super().get_lexer(*args, **kwargs)
        self._lexers_asked.append(lexer)
        return lexer

    def highlight_block(
        self,
        source: str,
        lang: str,
        opts: dict[str, Any] | None = None,
        force: bool = False,
        location: Any = None,
        **kwargs: Any,
    ) -> str:
        """Colour a block of code; one that Sphinx has something to say about is coloured anew each time."""
        if lang == "none":  # there is nothing to colour, and asking the store takes longer
            return super().highlight_block(source, lang, opts, force, location, **kwargs)
        key = key_of("code", own_digest(), self.dest, self.colours, self.latex_engine, source, lang,
                     sorted((opts or {}).items()), force, sorted(kwargs.items()))  # fmt: skip
        if (known := self.kept.get(key)) is not None:
            return known.decode()
        self._lexers_asked.clear()
        coloured = super().highlight_block(source, lang, opts, force, location, **kwargs)
        if self._is_plain_case(lang):
            self.kept.put(key, coloured.encode())
        return coloured

    def _is_plain_case(self, lang: str) -> bool:
        """Tell whether the first lexer was the right one, so that there was no message to repeat; and Pygments' own.

        What a lexer of the project does may be another thing in the next build.
        """
        lexer = self._lexers_asked[0]
        is_known = lang in lexers or lang in lexer_classes or not isinstance(lexer, TextLexer)
        return is_known and len(self._lexers_asked) == 1 and type(lexer).__module__.startswith("pygments.")


class KeptTemplates(BytecodeCache):
    """Give Jinja its compiled templates back; it compares the template's text itself."""

    def __init__(self, kept: Kept) -> None:
        self.kept = kept

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket, or leave it empty."""
        if (known := self.kept.get(self._key(bucket))) is not None:
            bucket.bytecode_from_string(known)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what the bucket holds."""
        self.kept.put(self._key(bucket), bucket.bytecode_to_string())

    def _key(self, bucket: Bucket) -> str:
        return key_of("template", jinja2.__version__, bucket.key)


class KeptLoader(BuiltinTemplateLoader):
    """Take style sheets and scripts that are templates from the store too: Jinja asks it for named templates only."""

    @classmethod
    def of(cls, loader: BuiltinTemplateLoader) -> KeptLoader:
        """Return the same loader; its environment has a memory."""
        kept = cls.__new__(cls)
        kept.__dict__.update(loader.__dict__)
        return kept

    def render_string(self, source: str, context: dict[str, Any]) -> str:
        """Fill in a template that is given as text."""
        environment, memory = self.environment, self.environment.bytecode_cache
        assert memory is not None
        extensions = ",".join(sorted(environment.extensions))  # what its words mean
        bucket = memory.get_bucket(environment, memory.get_source_checksum(source), extensions, source)
        if bucket.code is None:
            bucket.code = environment.compile(source)
            memory.set_bucket(bucket)
        globals_ = environment.make_globals(None)
        return environment.template_class.from_code(environment, bucket.code, globals_).render(context)


def on_builder_inited(app: Sphinx) -> None:
    """Give the builder a memory."""
    kept = AuthorYearStyle.kept = kept_pieces(app)
    if kept is None:
        return
    app.connect("build-finished", lambda app, exception: end(kept), priority=950)  # once nothing is drawn any more
    for name in ("highlighter", "dark_highlighter"):
        if type(bridge := getattr(app.builder, name, None)) is PygmentsBridge:
            setattr(app.builder, name, KeptHighlighter.of(bridge, kept))
    loader = getattr(app.builder, "templates", None)
    environment = getattr(loader, "environment", None)
    if environment is not None and environment.bytecode_cache is None:
        environment.bytecode_cache = KeptTemplates(kept)
    if type(loader) is BuiltinTemplateLoader:
        app.builder.templates = KeptLoader.of(loader)


def end(kept: Kept) -> None:
    """Make room for the next build, and leave the file alone."""
    AuthorYearStyle.kept = None
    kept.sweep()
    kept.close()


def register(app: Sphinx) -> None:
    """Let the collector look rarely until the build is over, and connect the memory."""
    app.add_config_value("scratchbook_fast", True, "", types=frozenset({bool}))
    if gc.isenabled() and gc.get_threshold()[0] < OBJECTS_BETWEEN_COLLECTIONS:
        before = gc.get_threshold()
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 20, 100)
        app.connect("build-finished", lambda app, exception: gc.set_threshold(*before), priority=999)
        atexit.register(gc.freeze)  # a process that ends gives all back by itself
    app.connect("config-inited", connect_memory)


def connect_memory(app: Sphinx, config: Any) -> None:
    """Connect the memory, if the project wants it."""
    if config.scratchbook_fast:
        app.connect("builder-inited", on_builder_inited)
