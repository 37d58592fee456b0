"""What a reader with a narrow window, large letters or a finger would call awkward."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

EBOOK_STYLE = Path(__file__).parents[2] / "scratchbook/ext/static-ebook/scratchbook-ebook.css"
LARGE_LETTERS = "document.documentElement.style.fontSize = '200%'"
DRAWN = (
    "document.querySelectorAll('.katex-html, .highlight pre').forEach((it) => (it.style.contentVisibility = 'visible'))"
)
LINES = """(box) => {
    const words = document.createRange();
    words.selectNodeContents(box);
    return [...words.getClientRects()].map((line) => [line.top, line.width]);
}"""


def chapter(site):
    return (site / "chapter.html").as_uri()


@pytest.mark.parametrize("kind", [".scratchbook-drawing", ".scratchbook-figure:not(.scratchbook-drawing)"])
def test_a_drawing_grows_with_the_letters(site, open_page, kind):
    with open_page(chapter(site), width=1366) as page:
        drawing = page.locator(f"{kind} svg").first
        before = drawing.bounding_box()
        page.evaluate(LARGE_LETTERS)
        after = drawing.bounding_box()

        assert after["width"] == pytest.approx(2 * before["width"], rel=0.02)
        assert after["height"] == pytest.approx(2 * before["height"], rel=0.02)


def test_a_title_of_two_lines_is_balanced(site, open_page):
    with open_page(chapter(site), width=1366) as page:
        title = page.locator("h1")
        title.evaluate("it => { it.childNodes[1].data = 'Running pages on an engine of your own'; }")
        tops = title.evaluate(LINES)
        first, last = (max(width for top, width in tops if top == end) for end in (tops[0][0], tops[-1][0]))

        assert first < 1.6 * last


def test_large_letters_leave_the_title_within_the_header_of_a_phone(site, open_page):
    with open_page(chapter(site), width=390) as page:
        page.evaluate(LARGE_LETTERS)
        page.locator(".mobile-header .brand").evaluate("it => (it.textContent = 'The Transformer from Scratch')")
        brand, header = (page.locator(name).bounding_box() for name in (".mobile-header .brand", ".mobile-header"))

        assert brand["y"] >= header["y"]
        assert brand["y"] + brand["height"] <= header["y"] + header["height"]


def test_large_letters_leave_the_buttons_of_the_header_on_the_phone(site, large_letters):
    page = large_letters.new_context(viewport={"width": 390, "height": 900}).new_page()
    page.goto(chapter(site))
    page.locator(".mobile-header .brand").evaluate("it => (it.textContent = 'The Transformer from Scratch')")

    assert page.locator(".mobile-header").evaluate("header => header.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("title", "lines"), [("Bibliography", 1), ("Exercises and solutions", 2)])
def test_large_letters_leave_the_words_of_a_title_whole_on_a_phone(site, open_page, title, lines):
    """And the hidden link at its end takes no line of its own."""
    with open_page(chapter(site), width=390) as page:
        page.evaluate(LARGE_LETTERS)
        heading = page.locator("h1")
        heading.evaluate("(it, title) => { it.childNodes[1].data = title; it.firstChild.remove(); }", title)
        high, line = heading.evaluate("it => [it.offsetHeight, parseFloat(getComputedStyle(it).lineHeight)]")

        assert round(high / line) == lines


def test_large_letters_make_no_phone_scroll_sideways(site, open_page):
    """However near the edge a title ends, with its hidden link behind it."""
    wider = "() => document.querySelector('.content').scrollWidth - document.querySelector('.content').clientWidth"
    with open_page(chapter(site), width=390) as page:
        page.evaluate(LARGE_LETTERS)
        assert page.evaluate(wider) == 0

        for count in range(1, 30):
            page.locator("h2").first.evaluate("(it, count) => { it.childNodes[1].data = 'i'.repeat(count); }", count)
            assert page.evaluate(wider) == 0


def test_large_letters_leave_room_for_words_in_the_field_of_the_search(site, open_page):
    with open_page((site / "search.html").as_uri(), width=390) as page:
        page.evaluate(LARGE_LETTERS)

        assert page.locator(".search-form input").bounding_box()["width"] > 300


def test_a_key_equation_has_the_room_of_its_box_on_a_phone(site, open_page):
    with open_page(chapter(site), width=390) as page:
        box, body, link = (
            page.locator(f".key-equations{part}").first for part in ("", " .equation-body", " .key-equation-link")
        )
        inside = box.evaluate("it => it.clientWidth - 2 * parseFloat(getComputedStyle(it).paddingLeft)")
        below = body.bounding_box()

        assert below["width"] == pytest.approx(inside, abs=1)
        assert link.bounding_box()["y"] >= below["y"] + below["height"] - 4


def test_a_finger_finds_the_mark_of_an_equation(site, open_page):
    for width in (390, 1366):
        with open_page(chapter(site), width=width) as page:
            assert page.locator("a.equation-mark").first.bounding_box()["height"] >= 24


def test_a_name_in_a_table_stays_whole_where_there_is_room(site, open_page):
    name = "td code:has-text('a_setting')"
    with open_page(chapter(site), width=1366) as wide, open_page(chapter(site), width=320) as narrow:
        assert len({top for top, _ in wide.locator(name).evaluate(LINES)}) == 1
        assert len({top for top, _ in narrow.locator(name).evaluate(LINES)}) > 1


def test_no_line_of_a_phone_begins_with_the_comma_of_a_formula(site, open_page):
    """Wherever in its line the formula stands, and however long it is."""
    torn = """(paragraph) => {
        const [formula, comma] = [paragraph.querySelector("span.math"), document.createRange()];
        comma.setStart(formula.nextSibling, 0);
        comma.setEnd(formula.nextSibling, 1);
        const shifts = [...Array(300).keys()];
        return shifts.filter((shift) => {
            paragraph.style.textIndent = `${shift}px`;
            const last = [...formula.querySelectorAll(".katex-base")].at(-1);
            return comma.getBoundingClientRect().left < last.getBoundingClientRect().left;
        });
    }"""
    with open_page(chapter(site), width=390) as page:
        page.evaluate("document.fonts.ready.then(() => 0)")
        paragraph = page.locator("p:has(> span.math)").filter(has_text="A first paragraph")

        assert paragraph.locator("span.math").evaluate("it => it.nextSibling.data[0]") == ","
        assert paragraph.evaluate(torn) == []


def test_a_citation_in_a_table_is_not_torn(site, open_page):
    with open_page(chapter(site), width=1366) as page:
        cited = page.locator("td .bibtex-citation").all()

        assert [len({top for top, _ in one.evaluate(LINES)}) for one in cited] == [1, 1]


def test_a_table_of_eight_columns_is_seen_on_a_wide_page(site, open_page):
    with open_page(chapter(site), width=1366) as page:
        table = page.locator(".table-wrapper:has(th:nth-child(8))")

        assert table.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_a_page_without_contents_stands_in_the_middle(site, open_page):
    with open_page((site / "search.html").as_uri(), width=1366) as page:
        box, room = (page.locator(name).bounding_box() for name in (".content", ".main"))

        assert box["x"] - room["x"] == pytest.approx(room["x"] + room["width"] - box["x"] - box["width"], abs=1)


def test_three_columns_of_words_are_seen_on_the_smallest_phone(site, open_page):
    with open_page(chapter(site), width=320) as page:
        table = page.locator(".table-wrapper:has(td:has-text('the output disappears'))")

        assert table.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_long_code_at_the_left_of_a_table_leaves_room_at_its_right(site, open_page):
    with open_page(chapter(site), width=1366) as page:
        assert page.locator("td:has-text('np.where')").bounding_box()["width"] > 150


def test_when_a_frozen_block_ran_is_one_sentence_with_the_label(site, open_page):
    with open_page(chapter(site), width=390) as page:
        label = page.locator("p.scratchbook-label").first
        label.evaluate("it => (it.innerHTML = '<a>Output</a><span class=scratchbook-frozen>, run on a machine')")
        word, note = (label.locator(part).bounding_box() for part in ("a", "span"))

        assert note["x"] == pytest.approx(word["x"] + word["width"], abs=1)
        assert label.locator("span").evaluate("it => getComputedStyle(it).textTransform") == "none"


def test_rows_of_an_equation_stand_apart_in_an_ebook(open_page):
    row = "<mtr><mtd><mfrac><mn>1</mn><msqrt><mn>2</mn></msqrt></mfrac></mtd></mtr>"
    table = f'<math display="block"><mtable rowspacing="0.25em" columnalign="right left">{2 * row}</mtable></math>'
    with open_page("about:blank") as page:
        page.set_content(f"<style>{EBOOK_STYLE.read_text('utf-8')}</style>{table}")
        upper, lower = (page.locator("mfrac").nth(number).bounding_box() for number in (0, 1))

    assert lower["y"] - upper["y"] - upper["height"] >= 8


@pytest.mark.skipif(not os.environ.get("SITE"), reason="SITE names no built book")
def test_on_a_wide_page_no_equation_hides_its_end(site, pages, open_page):
    hidden = []
    for address in pages:
        if address.startswith(site.as_uri()):
            continue  # the sample has one that is too wide on purpose
        with open_page(address, width=1366) as page:
            page.evaluate(DRAWN)
            page.evaluate("document.fonts.ready.then(() => 0)")
            wide = "(all) => all.filter((it) => it.scrollWidth > it.clientWidth + 1).map((it) => it.textContent)"
            hidden += page.locator("section > div.equation .equation-body").evaluate_all(wide)

    assert hidden == []
