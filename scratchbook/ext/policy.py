"""A content security policy that each page obeys: nothing from elsewhere, and inline only what the build put there.

`scratchbook_policy = True` in conf.py switches it on.  Scripts and styles within a page are allowed by their hash;
style attributes, which KaTeX and drawings need, only on pages that have them.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx

# A page in a folder is its own host by the scheme alone; over the net, no page can load a file.
OWN: Final = "'self' file:"
OTHERS: Final = "surrogateescape"  # a page that the project only copies may be in any encoding, and keeps its bytes
PLACES: Final = (re.compile(r"<meta charset=[^>]*>"), re.compile(r"<head[^>]*>"))
MARK: Final = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n?')
SCRIPTS: Final = ("", "text/javascript", "application/javascript", "module")
EVENT: Final = re.compile(r"on[a-z]+")
ATTRIBUTES: Final = r"""(?:[^<>"']|"[^"]*"|'[^']*')*"""
ATTRIBUTE: Final = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?""")
# A comment; a script or a style with all that stands in it; any other start of an element.
# Compiled at its first use: few builds write a policy.
PIECE: Final = (
    rf"(?is)<!--.*?-->|<(?P<raw>script|style)\b(?P<raw_attributes>{ATTRIBUTES})>(?P<text>.*?)</(?P=raw)\s*>"
    rf"|<[a-z][^\s<>/]*(?P<attributes>{ATTRIBUTES})>"
)


@dataclass
class Inline:
    """What a page holds within itself: its scripts and styles in page order, and whether elements carry styles.

    events: attributes such as onclick, which the policy forbids.
    """

    scripts: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    has_style_attributes: bool = False


def read_inline(page: str) -> Inline:
    """Return what a page holds within itself.

    Python's own parser takes as long for a page full of formulas as all the rest of its writing; a test compares.
    """
    found = Inline()
    for match in re.finditer(PIECE, page):
        raw, attributes, text = match["raw"], match["raw_attributes"] or match["attributes"] or "", match["text"]
        if not raw and "style" not in attributes and " on" not in attributes:
            continue
        names = {name.lower(): value.strip("\"'") for name, value in ATTRIBUTE.findall(attributes)}
        found.has_style_attributes |= "style" in names
        found.events += [name for name in names if EVENT.fullmatch(name)]
        if raw and raw.lower() == "style":
            found.styles.append(text)
        elif raw and "src" not in names and names.get("type", "") in SCRIPTS:
            found.scripts.append(text)
    return found


def policy_of(page: str) -> str:
    """Return the policy that a page needs and no more, the same for the same page."""
    found = read_inline(page)
    rules = [
        "default-src 'none'",
        f"script-src {OWN}{hashes(found.scripts)}",
        f"style-src {OWN}{hashes(found.styles)}",
        *(["style-src-attr 'unsafe-inline'"] if found.has_style_attributes else []),
        f"img-src {OWN} data:",
        f"font-src {OWN}",
        "connect-src 'self'",
        f"form-action {OWN}",
        "base-uri 'none'",
    ]
    return "; ".join(rules)


def hashes(texts: list[str]) -> str:
    """Return the hash of each text as a policy writes it, in page order, none twice."""
    digests = (sha256(text.encode("utf-8", OTHERS)).digest() for text in texts if text)
    return "".join(dict.fromkeys(f" 'sha256-{b64encode(digest).decode()}'" for digest in digests))


def with_policy(page: str) -> str:
    """Return a page with its policy, before anything that the policy rules; a second time changes nothing."""
    page = MARK.sub("", page)
    place = next((found for pattern in PLACES if (found := pattern.search(page))), None)
    if place is None:
        return page
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy_of(page)}">\n'
    return page[: place.end()] + meta + page[place.end() :].removeprefix("\n")


def write_policies(app: Sphinx, exception: Exception | None) -> None:
    """Complete every page of the site that lacks its policy."""
    is_site = app.builder.format == "html" and app.builder.name != "epub"
    if exception or not app.config.scratchbook_policy or not is_site:
        return
    for path in sorted(Path(app.outdir).rglob("*.html")):
        page = path.read_text("utf-8", OTHERS)
        if MARK.search(page) is None:
            path.write_text(with_policy(page), "utf-8", OTHERS)


def register(app: Sphinx) -> None:
    """Add the setting and the last step of a build."""
    app.add_config_value("scratchbook_policy", False, "html", (bool,))
    app.connect("build-finished", write_policies, priority=900)
