"""Hand-made SVG inside the page: valid where it stands, and its words as they were written."""

from html.parser import HTMLParser

import pytest

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="3"><text x="1.23456">e is 2.71828</text></svg>'


class Ancestors(HTMLParser):
    """Which elements stand around the first drawing of a page."""

    def __init__(self, page):
        super().__init__()
        self.open, self.found = [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "svg" and self.found is None:
            self.found = self.open[:-1]

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass


@pytest.fixture
def shown(chapter, project):
    """Return a function that builds a chapter with a drawing and returns the page."""
    project.write({"docs/drawing.svg": DRAWING})
    return lambda markdown: chapter(markdown, builder="html").file("index.html")


def test_a_drawing_alone_is_no_paragraph(shown):
    around = Ancestors(shown("# Book\n\n![Words](drawing.svg)\n")).found

    assert around[-1] == "div"
    assert "p" not in around


def test_a_drawing_in_a_sentence_stays_in_it(shown):
    assert Ancestors(shown("# Book\n\nA word ![Words](drawing.svg) and more.\n")).found[-2:] == ["p", "span"]


def test_a_drawing_can_be_a_link(shown):
    page = shown("# Book\n\n[![Words](drawing.svg)](https://example.org)\n")

    assert Ancestors(page).found[-3:] == ["p", "a", "span"]


def test_a_number_that_a_reader_sees_keeps_its_digits(shown):
    page = shown("# Book\n\n![Words](drawing.svg)\n")

    assert "e is 2.71828" in page
    assert 'x="1.23"' in page
