"""Every link within the site leads to a page and a place that are there.  `SITE=build/html` looks at the book too."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import pytest


class Page(HTMLParser):
    """Collect what a page can be reached by, and what it leads to."""

    def __init__(self, html):
        super().__init__()
        self.anchors, self.links = {"", "top"}, []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


@cache
def read(path):
    return Page(path.read_text("utf-8"))


def leads_nowhere(path, link):
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or parts.path.startswith("/"):
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return True
    return target.suffix == ".html" and unquote(parts.fragment) not in read(target).anchors


@pytest.fixture(scope="module")
def files(pages):
    return [Path(url2pathname(urlsplit(page).path)) for page in pages]


def test_no_link_leads_nowhere(files):
    broken = {path.name: [link for link in read(path).links if leads_nowhere(path, link)] for path in files}

    assert {name: links for name, links in broken.items() if links} == {}


def test_every_page_can_be_reached_from_the_first(site):
    found, waiting = set(), [site / "index.html"]
    while waiting:
        path = waiting.pop()
        found.add(path)
        targets = {(path.parent / urlsplit(link).path).resolve() for link in read(path).links if ".html" in link}
        waiting += [target for target in targets - found if target.is_file()]

    assert {path.name for path in site.rglob("*.html")} - {path.name for path in found} == {"404.html"}


def test_a_broken_link_would_be_found(tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<p id="here"><a href="#here">1</a><a href="#gone">2</a><a href="other.html">3</a></p>')

    assert [link for link in read(page).links if leads_nowhere(page, link)] == ["#gone", "other.html"]
