"""What a class on the page makes the browser compute again, with the style sheet of the theme as the site has it."""

from __future__ import annotations

import pytest

from scratchbook.ext.restyling import name_elements


def restyled(browser, page, change):
    """Return of how many elements the browser computes the style after a change, and how many the page has."""
    page.wait_for_timeout(300)
    found, ended = [], []
    session = browser.new_browser_cdp_session()
    session.on("Tracing.dataCollected", lambda part: found.extend(part["value"]))
    session.on("Tracing.tracingComplete", lambda end: ended.append(end))
    categories = {"includedCategories": ["devtools.timeline"]}
    session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": categories})
    page.evaluate(f"() => {{ {change}; document.body.offsetHeight; }}")
    session.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(20)
    counts = [event["args"].get("elementCount", 0) for event in found if event["name"] == "UpdateLayoutTree"]
    return max(counts), page.evaluate("document.querySelectorAll('*').length")


@pytest.mark.browser
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("element", ["documentElement", "querySelector('section')"])
def test_a_class_on_the_page_restyles_a_part_of_it(site, browser, open_page, element):
    with open_page((site / "chapter.html").as_uri()) as page:
        few, all_ = restyled(browser, page, f"document.{element}.className = 'one'")

    assert few < all_ / 3


def test_selectors_for_definitions_end_in_named_elements():
    css = "dl[class]:not(.simple) dd,dl[class]:not(.simple) dd>:first-child{margin:0}"

    assert name_elements(css) == (
        "dl[class]:not(.simple) dd,dl[class]:not(.simple) dd>:is(div,dl,ol,p,ul):first-child{margin:0}"
    )
