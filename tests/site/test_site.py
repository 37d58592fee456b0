"""What a reader meets in a real browser, on every kind of page, opened from a folder."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

OPEN_ALL = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
WIDER = """() => {
    const content = document.querySelector('.content') || document.body;
    return [document.documentElement.scrollWidth - innerWidth, content.scrollWidth - content.clientWidth];
}"""
FIRST_VIEW_BYTES = 160 * 1024
MOST_REQUESTS = 30


class Anchors(HTMLParser):
    """Collect the ids of a page."""

    def __init__(self, html):
        super().__init__()
        self.found = Counter()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.update(value for name, value in attrs if name == "id")


def file_of(address):
    return Path(url2pathname(urlsplit(address).path))


def read(address):
    return file_of(address).read_text("utf-8")


@pytest.fixture
def chapter(site):
    return (site / "chapter.html").as_uri()


def test_no_page_asks_another_host_for_anything(pages, open_page):
    asked = []
    for address in pages:
        with open_page("about:blank") as page:
            page.on("request", lambda request: asked.append(request.url))
            page.goto(address, wait_until="load")

    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_no_page_says_anything_to_the_console(pages, open_page):
    said = []
    for address in pages:
        with open_page("about:blank") as page:
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.goto(address)

    assert said == []


def test_no_formula_is_drawn_as_an_error(pages):
    wrong = [address for address in pages if "katex-error" in read(address) or "#cc0000" in read(address)]

    assert wrong == []


def test_every_anchor_is_there_once(pages):
    doubled = {address: [name for name, n in Anchors(read(address)).found.items() if n > 1] for address in pages}

    assert {address: names for address, names in doubled.items() if names} == {}


def test_every_page_says_once_what_it_is_for(site):
    described = re.compile(r'<meta (?=[^>]*name="description")[^>]*content="[^"]{20,}"')

    assert {page.name for page in site.rglob("*.html") if len(described.findall(page.read_text("utf-8"))) != 1} == set()


def test_we_write_no_script_into_pages(chapter):
    inline = re.findall(r"<script>(.*?)</script>", read(chapter), re.DOTALL)

    assert [code.strip() for code in inline] == [
        'document.body.dataset.theme = localStorage.getItem("theme") || "auto";'  # Furo's own
    ]


@pytest.mark.parametrize("width", [1366, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(pages, open_page, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = []
    for address in pages:
        with open_page(address, width=width, color_scheme=scheme) as page:
            page.evaluate(OPEN_ALL)
            page.keyboard.press("Tab")  # which draws what was passed over, and tells of what scrolls
            for violation in axe.run(page).response["violations"]:
                found += [(address, violation["id"], node["html"][:200]) for node in violation["nodes"]]

    assert found == []


def test_axe_finds_nothing_wrong_with_the_links_to_a_repository(site, open_page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    links = '<div class="edit-this-page"><a href="#"><span class="visually-hidden">Edit this page</span></a></div>'
    page = (site / "chapter.html").read_text("utf-8")
    marked = page.replace('<div class="content-icon-container">', f'<div class="content-icon-container">{links}')
    assert marked != page
    (site / "hosted.html").write_text(marked, "utf-8")
    with open_page((site / "hosted.html").as_uri(), width=390) as opened:
        found = [violation["id"] for violation in axe.run(opened).response["violations"]]
    (site / "hosted.html").unlink()

    assert found == []


@pytest.mark.parametrize("width", [320, 683])  # 683 is a wide screen at 200 % zoom
def test_no_page_scrolls_sideways(pages, open_page, width):
    wide = []
    for address in pages:
        with open_page(address, width=width) as page:
            page.evaluate(OPEN_ALL)
            if max(page.evaluate(WIDER)) > 0:
                wide.append(address)

    assert wide == []


def test_the_number_of_a_wide_equation_stands_beside_it_on_a_phone(chapter, open_page):
    with open_page(chapter, width=390) as page:
        page.locator("#equation-eq-wide").scroll_into_view_if_needed()
        page.wait_for_timeout(100)
        body = page.locator("#equation-eq-wide .equation-body").bounding_box()
        number = page.locator("#equation-eq-wide .eqno").bounding_box()
        scrolls = page.locator("#equation-eq-wide .equation-body").evaluate("box => box.scrollWidth > box.clientWidth")

    assert scrolls
    assert body["x"] + body["width"] <= number["x"]
    assert number["x"] + number["width"] <= 390


def test_the_mark_of_an_equation_takes_none_of_its_width_on_a_phone(chapter, open_page):
    with open_page(chapter, width=390) as page:
        page.locator("#equation-eq-norm .equation-side").evaluate(
            'side => { side.innerHTML += \'<a class="equation-mark" href="#">✓ a.function.with.a.long.name</a>\'; }'
        )
        body = page.locator("#equation-eq-norm .equation-body").bounding_box()
        mark = page.locator("#equation-eq-norm .equation-mark").bounding_box()

    assert body["width"] > 280
    assert mark["y"] >= body["y"] + body["height"]


def test_the_caption_of_a_wide_table_stays_in_view_on_a_phone(chapter, open_page):
    with open_page(chapter, width=390) as page:
        caption = page.locator("table caption")
        width = caption.evaluate("caption => caption.getBoundingClientRect().width")
        page.locator(".table-wrapper:has(caption)").evaluate("box => { box.scrollLeft = 120; }")
        left = caption.evaluate("caption => caption.getBoundingClientRect().left")

    assert width <= 390
    assert left >= 0


def test_the_control_of_states_stays_in_view_on_a_phone(chapter, open_page):
    with open_page(chapter, width=390) as page:
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
        page.wait_for_timeout(100)
        below_header = page.evaluate(
            """() => [".mobile-header", ".scratchbook-states"].map((part) => document.querySelector(part))
               .map((part, place) => part.getBoundingClientRect()[place ? "top" : "bottom"])"""
        )

        assert below_header[1] == pytest.approx(below_header[0], abs=1)


def test_an_answer_keeps_its_distance_from_the_line_that_opens_it(chapter, open_page):
    with open_page(chapter) as page:
        page.evaluate(OPEN_ALL)
        gaps = page.evaluate(
            """[...document.querySelectorAll('article details[open]')].map((fold) => {
                const bottom = fold.querySelector('summary').getBoundingClientRect().bottom;
                const inside = fold.lastElementChild.getBoundingClientRect();
                return [fold.children[1].getBoundingClientRect().top - bottom,
                        fold.getBoundingClientRect().bottom - inside.bottom];
            })"""
        )

    assert len(gaps) >= 7
    assert [pair for pair in gaps if min(pair) < 8] == []


def test_without_script_everything_can_be_read_and_opened(chapter, open_page):
    with open_page(chapter, java_script_enabled=False) as page:
        page.get_by_text("Why does this fold?").click()
        page.get_by_text("Solution", exact=True).click()
        page.locator(".quiz-option summary").first.click()

        assert page.get_by_text("So that a reader can think first").is_visible()
        assert page.get_by_text("letters = len(last_token)").is_visible()
        assert page.get_by_text("By its root mean square.").is_visible()
        assert page.locator(".scratchbook-text", has_text="the last token is cat").is_visible()
        assert page.locator("#equation-eq-norm .katex-html").is_visible()


def test_without_script_the_states_of_a_page_can_be_chosen(chapter, open_page):
    with open_page(chapter, java_script_enabled=False) as page:
        page.get_by_label("dog").check()

        assert page.locator(".scratchbook-text", has_text="the last token is dog").is_visible()
        assert not page.locator(".scratchbook-text", has_text="the last token is cat").is_visible()


def preview_of(page):
    page.wait_for_selector(".book-preview")
    return page.locator(".book-preview")


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("a[href='#equation-eq-norm']", ".katex-html"),
        ("a[href='#code-scale']", ".code-block-caption"),
        ("a[href='#fig-line']", "figcaption"),
        ("a[href='#ex-sample-count']", ".stars"),
        (".bibtex-citation a", ".citation-label"),
    ],
)
def test_a_link_shows_what_it_leads_to_when_pointed_at(chapter, open_page, link, shown):
    with open_page(chapter) as page:
        page.locator(f"section > p {link}").first.hover()

        assert preview_of(page).locator(shown).first.is_visible()


def test_a_link_to_another_page_shows_the_equation_from_a_folder(site, open_page):
    with open_page((site / "second.html").as_uri()) as page:
        page.locator("a[href='chapter.html#equation-eq-norm']").first.hover()

        assert preview_of(page).locator(".katex-html").is_visible()


def test_a_link_to_another_page_shows_the_listing_from_a_folder(site, open_page):
    with open_page((site / "index.html").as_uri()) as page:
        page.locator("a[href='chapter.html#code-scale']").first.hover()

        assert "def scale(rows" in preview_of(page).inner_text()


def test_the_keyboard_opens_a_preview_and_escape_closes_it(chapter, open_page):
    with open_page(chapter) as page:
        page.locator("section > p a[href='#ch-sample'], section > p .bibtex-citation a").first.focus()
        page.keyboard.press("Tab")  # on to the equation, as a keyboard would
        assert preview_of(page).is_visible()

        page.keyboard.press("Escape")
        assert page.locator(".book-preview").count() == 0


def test_the_keyboard_reaches_everything_and_shows_where_it_is(chapter, open_page):
    reachable = """[...document.querySelectorAll('a[href], button, summary, input, [tabindex]')]
        .filter((element) => element.tabIndex >= 0 && element.checkVisibility({visibilityProperty: true}))
        .filter((element) => element.type !== 'radio' || element.checked).length"""
    shown = """() => {
        const style = getComputedStyle(document.activeElement), box = document.activeElement.getBoundingClientRect();
        const isFramed = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
        const isInside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.width > 1;
        return isFramed && isInside && style.opacity > 0;
    }"""
    with open_page(chapter, bypass_csp=True) as page:  # for the style that holds everything still
        page.add_style_tag(content="* { scroll-behavior: auto !important; transition: none !important; }")
        page.wait_for_timeout(100)
        unseen, count = [], 0
        page.keyboard.press("Tab")
        while not page.evaluate("document.activeElement === document.body") and count < 500:
            count += 1
            if not page.evaluate(shown):
                unseen.append(page.evaluate("document.activeElement.outerHTML.slice(0, 120)"))
            page.keyboard.press("Tab")
        expected = page.evaluate(reachable)

    assert count > 40
    assert unseen == []
    assert count == expected


def test_the_keyboard_operates_what_opens_and_switches(chapter, open_page):
    with open_page(chapter) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash") == "#furo-main-content"

        page.get_by_label("cat").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator(".scratchbook-text", has_text="the last token is dog").is_visible()

        page.locator(".quiz-option summary").first.focus()
        page.keyboard.press("Enter")
        assert page.get_by_text("By its root mean square.").is_visible()


def test_a_slash_goes_to_the_search_box(chapter, open_page):
    with open_page(chapter) as page:
        page.keyboard.press("/")

        assert page.evaluate("document.activeElement.name") == "q"


def test_a_slash_opens_the_drawer_of_a_phone(chapter, open_page):
    with open_page(chapter, width=390) as page:
        page.keyboard.press("/")
        page.wait_for_timeout(400)

        assert page.locator("input[name=q]").bounding_box()["x"] >= 0


def test_what_scrolls_sideways_can_be_reached_by_the_keyboard(chapter, open_page):
    with open_page(chapter, width=390) as page:
        page.keyboard.press("Tab")  # boxes that are still passed over are drawn and measured at the first key
        unreached = page.evaluate(
            """[...document.querySelectorAll('.equation-body, .highlight pre, .table-wrapper')]
               .filter((box) => box.scrollWidth > box.clientWidth + 1 && box.tabIndex < 0).length"""
        )

    assert unreached == 0


def test_code_can_be_copied_by_the_keyboard(chapter, open_page):
    with open_page(chapter) as page:
        button = page.get_by_role("button", name=re.compile("copy", re.IGNORECASE)).first
        button.focus()

        assert button.evaluate("button => document.activeElement === button")


@pytest.mark.parametrize(
    "words",
    ["another_parameter_with_a_long_name", "asarray", "rmsnorm", "volume knob", "letters", "0.7071", "124439808"],
    ids=["code", "call", "equation", "prose", "exercise", "decimal", "number"],
)
def test_search_from_a_folder_finds(site, open_page, words):
    with open_page((site / "search.html").as_uri() + "?q=" + words.replace(" ", "+")) as page:
        page.wait_for_selector("#search-results ul.search li")

        assert "Everything on one page" in page.locator("#search-results").inner_text()


def test_search_finds_what_code_printed(site, open_page):
    with open_page((site / "search.html").as_uri() + "?q=scrolls") as page:
        page.wait_for_selector("#search-results ul.search li")

        assert "Everything on one page" in page.locator("#search-results").inner_text()


@pytest.mark.parametrize("width", [1366, 390])
def test_the_page_of_the_search_waits_for_words(site, open_page, width):
    with open_page((site / "search.html").as_uri(), width=width) as page:
        page.keyboard.type("knob")
        page.keyboard.press("Enter")
        page.wait_for_selector("#search-results ul.search li")

        assert page.url.endswith("?q=knob")
        assert not page.locator("#search-results > h2").is_visible()


def test_a_page_whose_term_was_found_is_found_once(site, open_page):
    results = [["glossary", "", "", None, 5, "", "text"], ["glossary", "", "#t", None, 9, "", "index"]]
    results += [["other", "", "", None, 7, "", "text"], ["other", "", "#f", "a function", 3, "", "object"]]
    with open_page((site / "search.html").as_uri()) as page:
        found = page.evaluate(
            """(results) => {
                Search._index = {filenames: [], docnames: [], titles: [], alltitles: {}, indexentries: {}, terms: {},
                    objects: {}, objnames: {}, objtypes: {}, titleterms: {}};
                Search.performObjectSearch = () => [];
                Search.performTermsSearch = () => results;
                const none = new Set();
                return Search._performSearch("t", none, none, none, none).map((item) => item[0] + item[2]);
            }""",
            results,
        )

    assert sorted(found) == ["glossary#t", "other", "other#f"]


def test_an_excerpt_keeps_a_term_apart_from_what_it_means(site, open_page):
    html = '<div role="main"><dl><dt id="t">norm</dt><dt>RMSNorm</dt><dd>A scale.</dd></dl></div>'
    with open_page((site / "search.html").as_uri()) as page:
        read = "([html, anchor]) => Search.htmlToText(html, anchor)"

        assert page.evaluate(read, [html, "#t"]) == "norm: A scale."
        assert page.evaluate(read, [html, ""]) == "norm, RMSNorm: A scale."


def test_the_index_of_the_search_holds_no_tex(site):
    index = (site / "searchindex.js").read_text("utf-8")

    assert not {"frac", "boldsymbol", "mathbf", "operatornam", "begin", "pmatrix"} & set(re.findall(r"\w+", index))


def test_on_paper_all_answers_are_open_and_nothing_else_is_there(chapter, open_page):
    with open_page(chapter) as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")

        assert page.get_by_text("letters = len(last_token)").is_visible()
        assert page.get_by_text("As many numbers come out as went in.").is_visible()
        for chrome in (".sidebar-drawer", ".toc-drawer", ".mobile-header", ".related-pages", ".skip-to-content"):
            assert not page.locator(chrome).first.is_visible()


def test_on_paper_a_long_listing_and_a_long_table_go_on_over_the_page(chapter, open_page):
    with open_page(chapter) as page:
        page.emulate_media(media="print")
        inside = "(boxes) => [...new Set(boxes.map((box) => getComputedStyle(box).breakInside))]"

        assert page.locator("article :is(pre, table)").evaluate_all(inside) == ["auto"]
        assert page.locator(".table-wrapper").first.evaluate("box => getComputedStyle(box).overflowX") == "visible"


def test_on_paper_a_long_box_goes_on_over_the_page_and_no_label_stays_behind(chapter, open_page):
    with open_page(chapter) as page:
        page.emulate_media(media="print")
        inside = "(boxes) => [...new Set(boxes.map((box) => getComputedStyle(box).breakInside))]"
        after = "(labels) => [...new Set(labels.map((label) => getComputedStyle(label).breakAfter))]"

        assert page.locator("article .admonition.box:not(.key-equations)").evaluate_all(inside) == ["auto"]
        assert page.locator("article :is(.exercise-code-label, .admonition-title)").evaluate_all(after) == ["avoid"]


def test_on_paper_the_border_of_a_box_lies_within_the_frame_of_the_page(chapter, open_page):
    with open_page(chapter, width=794) as page:
        page.emulate_media(media="print")
        box = page.locator("article .admonition.box").first.bounding_box()

        assert box["x"] >= 1
        assert box["x"] + box["width"] <= 793


def test_a_formula_is_as_high_as_the_words_beside_it(chapter, open_page):
    with open_page(chapter) as page:
        formula, words = page.locator("p > span.math > .katex").first.evaluate(
            "formula => [formula, formula.closest('p')].map((box) => parseFloat(getComputedStyle(box).fontSize))"
        )
        assert formula / words == pytest.approx(1.08, abs=0.01)


def test_a_finger_finds_what_leads_to_an_output(chapter, open_page):
    with open_page(chapter, width=390) as page:
        assert page.locator(".scratchbook-label a").first.bounding_box()["height"] >= 24


def test_without_script_paper_has_all_answers_too(chapter, open_page):
    with open_page(chapter, java_script_enabled=False) as page:
        page.emulate_media(media="print")

        assert page.get_by_text("So that a reader can think first").bounding_box()["height"] > 0


def test_the_first_view_of_a_chapter_is_light(chapter, open_page):
    asked = []
    with open_page("about:blank") as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto(chapter)
        page.wait_for_load_state("networkidle")
    weights = [len(gzip.compress(file_of(url).read_bytes())) for url in asked if url.startswith("file:")]

    assert len(weights) <= MOST_REQUESTS
    assert sum(weights) <= FIRST_VIEW_BYTES


def test_nothing_jumps_while_a_page_loads(chapter, open_page):
    watch = """window.shift = 0;
        new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.shift += entry.value; }))
            .observe({type: 'layout-shift', buffered: true});"""
    with open_page("about:blank") as page:
        page.add_init_script(watch)
        page.goto(chapter)
        page.wait_for_timeout(600)

        assert page.evaluate("window.shift") <= 0.02


def test_a_screen_reader_gets_the_formulas_far_below_too(chapter, open_page):
    with open_page(chapter, height=300) as page:
        page.evaluate(OPEN_ALL)
        tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
        spoken = sum(node.get("role", {}).get("value") in ("MathMLMath", "math") for node in tree)

        assert spoken == page.locator("article .katex").count()


def test_the_script_stays_under_five_kilobytes(site):
    assert (site / "_static" / "scratchbook.js").stat().st_size < 5 * 1000


def test_formulas_are_copied_as_tex(chapter, open_page):
    with open_page(chapter) as page:
        copied = page.evaluate(
            """() => {
                getSelection().selectAllChildren(document.querySelector('#equation-eq-norm'));
                const event = new ClipboardEvent('copy', {clipboardData: new DataTransfer(), bubbles: true});
                dispatchEvent(event);
                return event.clipboardData.getData('text/plain');
            }"""
        )

    assert r"$$\operatorname{RMSNorm}(\vx)_i" in copied
