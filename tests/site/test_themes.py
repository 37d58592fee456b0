"""Our boxes beside the style sheets of themes that draw admonitions in their own way."""

from __future__ import annotations

from pathlib import Path

import pytest

import scratchbook.ext

SHEET = Path(scratchbook.ext.__file__).parent / "static/scratchbook.css"
BOX = '<div class="admonition box exercise"><p class="admonition-title">Shares</p></div>'
FOLDED = (
    '<details class="admonition box solution"><summary class="admonition-title">Solution</summary><p>One.</p></details>'
)
# What alabaster puts behind a title, and pydata and sphinx-book-theme around it.
THEMES = {
    "colon": 'p.admonition-title:after { content: ":" }',
    "picture": 'div.admonition > .admonition-title:after, .admonition > .admonition-title:after { content: "!" }',
}


@pytest.mark.browser
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("theme", THEMES)
def test_a_title_has_neither_a_colon_nor_a_picture_of_the_theme(open_page, theme):
    with open_page("about:blank") as page:
        page.set_content(f"<style>{THEMES[theme]}</style><style>{SHEET.read_text('utf-8')}</style>{BOX}{FOLDED}")
        behind = "title => getComputedStyle(title, '::after').content"
        found = page.eval_on_selector_all(".admonition-title", f"titles => titles.map({behind})")

    assert found == ["none", "none"]


@pytest.mark.browser
@pytest.mark.xdist_group("site")
def test_the_arrow_of_what_folds_lies_above_its_box(open_page):
    theme = '.admonition > .admonition-title:before { content: ""; z-index: -1 }'
    with open_page("about:blank") as page:
        page.set_content(f"<style>{theme}</style><style>{SHEET.read_text('utf-8')}</style>{FOLDED}")
        level = page.eval_on_selector("summary", "title => getComputedStyle(title, '::before').zIndex")

    assert level == "0"
