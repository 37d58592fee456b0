"""The book as EPUB: a style of its own, no scripts, and a package that says what its pages hold.

Sphinx writes the pages and the package; this room mends the package, which EPUB's own checker then accepts.
"""

from __future__ import annotations

import os
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from sphinx.application import Sphinx

from scratchbook.ext.drawings import SCHEME
from scratchbook.ext.policy import OTHERS

HERE: Final = Path(__file__).parent
STYLE: Final = "scratchbook-ebook.css"
ITEM: Final = re.compile(r'\s*<item id="[^"]*" href="([^"]+)" media-type="[^"]*"( properties="[^"]*")? ?/>')
# What a page holds that its package has to declare.
PROPERTIES: Final = {"mathml": "<math", "svg": "<svg"}
COVER: Final = re.compile(r'<meta name="cover" content="([^"]+)"')
IMAGE: Final = re.compile(r"<img\b[^>]*>")
REFERENCE: Final = re.compile(r"""(?:href|src)="([^"#:]+)|url\(["']?([^"')#:]+)""")
# Matplotlib writes a blank as a path without a way, which SVG's grammar does not know.
BARE_PATH: Final = re.compile(r"<path (?![^>]*\bd=)")
TABLE: Final = re.compile(r"<table\b.*?</table>", re.DOTALL)
CODE: Final = re.compile(r'<code class="[^"]*\bliteral\b.*?</code>', re.DOTALL)
UNDERSCORE: Final = re.compile(r"_(?=[^<>]*<)")  # in what is read, not within a tag
LETTER: Final = re.compile(r'<(m[in]) mathvariant="(bold|double-struck|script|fraktur|sans-serif)">(.)</\1>')
OLDEST: Final = (1980, 1, 1, 0, 0, 0)  # before which no ZIP has a date


def prepare(app: Sphinx) -> None:
    """Bring the style, and take away the cover of the last build: Sphinx would list it as a page like others too."""
    if app.builder.name == "epub":
        (Path(app.outdir) / app.builder.coverpage_name).unlink(missing_ok=True)  # type: ignore[attr-defined]
        app.config.html_static_path.append(str(HERE / "static-ebook"))
        app.add_css_file(STYLE)


def keep_styles(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Load what a reading device knows: our style for it and the author's, nothing made for browsers."""
    if app.builder.name == "epub":
        wanted = {STYLE, *(file if isinstance(file, str) else file[0] for file in app.config.epub_css_files)}
        styles = context.get("css_files", ())
        context["css_files"] = [file for file in styles if str(file.filename).rsplit("/", 1)[-1] in wanted]


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Mend the drawings and the package, and pack the book anew."""
    if app.builder.name != "epub" or exception:
        return
    folder = Path(app.outdir)
    for drawing in sorted(folder.rglob("*.svg")):
        svg = SCHEME.sub("", drawing.read_text("utf-8", OTHERS))  # it stands on white in the dark too
        drawing.write_text(BARE_PATH.sub('<path d="M0 0" ', svg), "utf-8", OTHERS)
    for page in sorted(folder.rglob("*.xhtml")):
        page.write_text(mend_page(page.read_text("utf-8"), app.config.language), "utf-8")
    package = folder / "content.opf"
    package.write_text(mend_package(package.read_text("utf-8"), folder), "utf-8")
    pack(folder, folder / f"{app.config.epub_basename}.epub")


def mend_page(page: str, language: str) -> str:
    """Say in which language a page is, let wide tables scroll, and let long names in code break behind underscores.

    >>> mend_page('<html xmlns="a"><code class="literal"><span id="b_c">d_e</span></code>', "en")
    '<html lang="en" xml:lang="en" xmlns="a"><code class="literal"><span id="b_c">d_<wbr/>e</span></code>'
    """
    if " lang=" not in page.partition("<head")[0]:
        page = page.replace("<html ", f'<html lang="{language}" xml:lang="{language}" ', 1)
    page = CODE.sub(lambda found: UNDERSCORE.sub("_<wbr/>", found[0]), page)
    return spell_letters(TABLE.sub(lambda found: f'<div class="table-scroll">{found[0]}</div>', page))


def spell_letters(page: str) -> str:
    """Write letters of another face as characters of their own, since today's MathML knows no faces."""
    return LETTER.sub(lambda found: f"<{found[1]}>{letter_of(found[2], found[3])}</{found[1]}>", page)


def letter_of(face: str, letter: str) -> str:
    """Return a letter in another face, as it was where that has no character.

    >>> letter_of("bold", "x"), letter_of("double-struck", "R")
    ('𝐱', 'ℝ')
    """
    name = unicodedata.name(letter, "").removeprefix("LATIN ").replace(" LETTER", "")
    face = face.replace("-italic", " italic").upper()
    for whole in (f"MATHEMATICAL {face} {name}", f"{face} {name}"):
        try:
            return unicodedata.lookup(whole)
        except KeyError:
            continue
    return letter


def mend_package(text: str, folder: Path) -> str:
    """Declare what pages hold, the cover and how the book can be read; leave out what no page uses, such as scripts."""
    wanted = used_files(folder)
    cover = COVER.search(text)

    def mend(item: re.Match[str]) -> str:
        name = file_of(item[1])
        path = folder / name
        if cover and f'id="{cover[1]}"' in item[0]:
            return item[0].replace("/>", 'properties="cover-image" />')
        if path.suffix != ".xhtml":
            return item[0] if name in wanted or path.suffix == ".ncx" else ""
        page = path.read_text("utf-8")
        found = [name for name, mark in PROPERTIES.items() if mark in page]
        if not found or item[2]:
            return item[0]
        return item[0].replace("/>", f'properties="{" ".join(found)}" />')

    return ITEM.sub(mend, text).replace("</metadata>", f"{access(folder)}</metadata>", 1)


def access(folder: Path) -> str:
    """Return what the package says of access: how the book can be read, and what helps."""
    pages = [page.read_text("utf-8") for page in sorted(folder.rglob("*.xhtml"))]
    images = [image for page in pages for image in IMAGE.findall(page)]
    said = [("accessMode", "textual"), *([("accessMode", "visual")] if images else [])]
    said += [("accessibilityFeature", "tableOfContents"), ("accessibilityFeature", "structuralNavigation")]
    said += [("accessibilityFeature", "MathML")] if any("<math" in page for page in pages) else []
    if all('alt="' in image and 'alt=""' not in image for image in images):
        said += [("accessibilityFeature", "alternativeText"), ("accessModeSufficient", "textual")]
    said += [("accessibilityHazard", "unknown")]
    return "".join(f'  <meta property="schema:{name}">{value}</meta>\n  ' for name, value in said)


def used_files(folder: Path) -> set[str]:
    """Return the files that pages use, and those that their styles use, as paths within the book."""
    found: set[str] = set()
    waiting = sorted(folder.rglob("*.xhtml"))
    while waiting:
        path = waiting.pop()
        for name in references(path):
            target = Path(os.path.normpath(path.parent / name))
            inside = target.relative_to(folder).as_posix() if target.is_relative_to(folder) else ""
            if inside and inside not in found and target.is_file():
                found.add(inside)
                waiting += [target] if target.suffix == ".css" else []
    return found


def references(path: Path) -> Iterator[str]:
    """Yield what a page or a style names."""
    for match in REFERENCE.finditer(path.read_text("utf-8", OTHERS)):
        yield file_of(match[1] or match[2])


def file_of(address: str) -> str:
    """Return the path that an address within the book means: blanks and letters beyond ASCII are written as numbers."""
    return unquote(unescape(address))


def pack(folder: Path, book: Path) -> None:
    """Write the ZIP, in the order of names and with one date, so that equal books are equal bytes."""
    package = (folder / "content.opf").read_text("utf-8")
    names = sorted({file_of(match[1]) for match in ITEM.finditer(package)} | {"META-INF/container.xml", "content.opf"})
    with zipfile.ZipFile(book, "w") as archive:
        write(archive, folder, "mimetype", zipfile.ZIP_STORED)  # first and plain, so that its bytes tell the format
        for name in names:
            write(archive, folder, name, zipfile.ZIP_DEFLATED)


def write(archive: zipfile.ZipFile, folder: Path, name: str, method: int) -> None:
    """Add one file."""
    entry = zipfile.ZipInfo(name, date_of_build())
    entry.compress_type = method
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, (folder / name).read_bytes())


def date_of_build() -> tuple[int, int, int, int, int, int]:
    """Return the date that SOURCE_DATE_EPOCH names, or the oldest that a ZIP can have."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        return OLDEST
    moment = datetime.fromtimestamp(int(epoch), UTC)
    return max(OLDEST, (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second))


def register(app: Sphinx) -> None:
    """Connect the steps."""
    app.connect("builder-inited", prepare)
    app.connect("html-page-context", keep_styles, priority=900)
    app.connect("build-finished", finish)
