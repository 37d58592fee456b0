"""What scrolls, and what the browser passes over until a reader scrolls to it."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

PASSED_OVER = "article .katex-display .katex-html[style], article .highlight pre"


NOT_DRAWN = """(selector) => [...document.querySelectorAll(selector)]
    .filter((box) => box.checkVisibility()).map((box) => box.firstElementChild)
    .filter((part) => !part.checkVisibility({contentVisibilityAuto: true})).length"""


def chapter(site):
    return (site / "chapter.html").as_uri()


def wait_until_all_is_drawn(page):
    """Give the browser five seconds; a function to wait for would be `eval`, which the policy of the page forbids."""
    for _ in range(50):
        if page.evaluate(NOT_DRAWN, PASSED_OVER) == 0:
            return
        page.wait_for_timeout(100)
    raise AssertionError("something is never drawn")


def pass_over_again(page):
    """Take a page back to its first moment, before the browser had time for what is far below."""
    wait_until_all_is_drawn(page)
    page.evaluate("document.querySelectorAll('.drawn').forEach((part) => part.classList.remove('drawn'))")
    page.wait_for_timeout(200)


def test_what_is_passed_over_takes_the_room_that_it_will_need(site, open_page):
    with open_page(chapter(site), width=1366, height=300) as page:
        page.evaluate("document.fonts.ready.then(() => 0)")
        pass_over_again(page)
        moved = page.evaluate(
            """(selector) => [...document.querySelectorAll(selector)].filter((box) => {
                const before = box.getBoundingClientRect().height;
                box.classList.add("drawn");
                return Math.abs(box.getBoundingClientRect().height - before) > 1;
            }).map((box) => box.textContent.slice(0, 80))""",
            PASSED_OVER,
        )

        assert moved == []


def test_something_is_passed_over(site, open_page):
    with open_page(chapter(site), width=390, height=300) as page:
        pass_over_again(page)

        assert page.evaluate(NOT_DRAWN, PASSED_OVER) > 0


def test_the_list_of_all_equations_is_passed_over_but_for_the_first_of_each_font(site, open_page):
    with open_page((site / "second.html").as_uri(), width=390, height=300) as page:
        pass_over_again(page)
        drawings = ".equation-list dt .katex-html"

        assert page.evaluate(NOT_DRAWN, drawings) > page.locator(drawings).count() / 2


def test_a_wide_equation_of_the_list_scrolls_beside_its_number(site, open_page):
    with open_page((site / "second.html").as_uri(), width=320) as page:
        wait_until_all_is_drawn(page)
        term = page.locator(".equation-list dt:has(a)").first
        number, body = term.locator("a").first, term.locator(".equation-body")
        body.evaluate("box => { box.style.fontSize = '400%'; box.scrollLeft = 1000; }")
        box, seen = number.bounding_box(), body.bounding_box()

        assert box["x"] >= 0
        assert seen["x"] >= box["x"] + box["width"]
        assert seen["x"] + seen["width"] <= 320


def test_a_short_equation_of_the_list_begins_right_behind_its_number(site, open_page):
    with open_page((site / "second.html").as_uri(), width=1366) as page:
        term = page.locator(".equation-list dt:has(a)").first
        number, letters = (term.locator(part).first.bounding_box() for part in ("a", ".katex-base"))

        assert 0 < letters["x"] - number["x"] - number["width"] < 24


def test_once_there_is_time_everything_is_drawn_for_pictures_of_the_whole_page(site, open_page):
    with open_page(chapter(site), width=390, height=300) as page:
        wait_until_all_is_drawn(page)


def test_without_scripts_nothing_is_passed_over(site, open_page):
    with open_page(chapter(site), width=390, height=300, java_script_enabled=False) as page:
        style = page.locator("article .highlight pre").last.evaluate("box => getComputedStyle(box).contentVisibility")

        assert style == "visible"


def test_a_wide_box_is_reached_by_the_keyboard_once_it_is_drawn(site, open_page):
    with open_page(chapter(site), width=320, height=300) as page:
        page.evaluate(f"""document.querySelectorAll("{PASSED_OVER}").forEach((box) => (box.style.fontSize = '200%'))""")
        last = page.locator(".equation-body:has(.katex-html[style])").last
        last.scroll_into_view_if_needed()
        page.wait_for_timeout(300)
        is_wide, is_reached = last.evaluate("box => [box.scrollWidth > box.clientWidth + 1, box.tabIndex >= 0]")

        assert is_wide == is_reached


def test_a_wide_box_that_is_drawn_while_there_is_time_is_reached_by_the_next_step(site, open_page):
    """Before all others are drawn, which takes a slow machine a while."""
    idle = "window.requestIdleCallback = (work) => { window.whenIdle = work; };"
    more = 20 * '<div class="highlight"><pre><span>x</span></pre></div>'
    longer = site / "longer.htm"  # which is no page of the site to other tests
    longer.write_text((site / "chapter.html").read_text("utf-8").replace("</article>", f"{more}</article>"), "utf-8")
    with open_page("about:blank", width=320, height=300) as page:
        page.add_init_script(idle)
        page.goto(longer.as_uri())
        wide, unreached = page.evaluate(
            """() => {
                window.whenIdle();
                const drawn = [...document.querySelectorAll("pre.drawn")];
                window.whenIdle();
                const wide = drawn.filter((box) => box.scrollWidth > box.clientWidth);
                return [wide.length, wide.filter((box) => box.tabIndex < 0).length];
            }"""
        )

        assert page.evaluate(NOT_DRAWN, PASSED_OVER) > 0, "else it was the last of them"
        assert wide > 0
        assert unreached == 0
    longer.unlink()


def test_a_finger_finds_the_button_that_copies_below_the_code(site, open_page):
    with open_page(chapter(site), width=390, has_touch=True, is_mobile=True) as page:
        covered = page.evaluate(
            """[...document.querySelectorAll('button.copy-code')].filter((button) => {
                const words = document.createRange();
                words.selectNodeContents(button.previousElementSibling);
                return words.getBoundingClientRect().bottom > button.getBoundingClientRect().top;
            }).length"""
        )

        assert page.locator("button.copy-code").count() > 0
        assert covered == 0


def test_the_list_of_chapters_shows_where_the_reader_is(site, open_page):
    """In a window with room for a line or two of the list, which stands before other lists."""
    where = (site / "second.html").as_uri()
    with open_page(where, height=200) as page, open_page(where, height=200, java_script_enabled=False) as plain:
        entry, box = (page.locator(name).bounding_box() for name in (".current-page", ".sidebar-scroll"))
        start = plain.locator(".sidebar-scroll .current-page").bounding_box()

        assert start["y"] + start["height"] > box["y"] + box["height"], "else there is nothing to scroll"
        assert box["y"] <= entry["y"]
        assert entry["y"] + entry["height"] <= box["y"] + box["height"]
