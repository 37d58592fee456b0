"""The content security policy: each page has one, obeys it, and works under it, over the net and from a folder."""

from __future__ import annotations

import re
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scratchbook.ext.policy import policy_of, read_inline, with_policy

PAGE = '<html><head><meta charset="utf-8"></head><body>{}</body></html>'
WATCH = """window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => {
        window.violations.push([event.violatedDirective, event.blockedURI, event.lineNumber]);
    });"""


class Quiet(SimpleHTTPRequestHandler):
    """Serve a folder and say nothing."""

    def log_message(self, format, *args):
        return


@pytest.fixture(scope="module")
def host(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["http", "file"])
def address(request, site):
    """The address of the site, with a slash at its end."""
    return request.getfixturevalue("host") + "/" if request.param == "http" else site.as_uri() + "/"


@pytest.fixture
def watch(open_page):
    """Open a page of the site that notes every violation."""

    def watched(page, url):
        page.add_init_script(WATCH)
        page.goto(url, wait_until="load")

    return watched


def test_a_script_within_a_page_is_allowed_by_its_hash():
    assert "script-src 'self' file: 'sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc=';" in policy_of(
        PAGE.format("<script>doSomething();</script>")
    )


def test_data_within_a_script_element_is_no_script():
    assert read_inline(PAGE.format('<script type="application/json">{}</script>')).scripts == []


class Parsed(HTMLParser):
    """What Python's own parser finds within a page: scripts, styles, events, and whether elements carry styles."""

    def __init__(self, page):
        super().__init__(convert_charrefs=False)
        self.found, self.target = ([], [], [], False), None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        names, (scripts, styles, *_) = dict(attributes), self.found
        if tag == "style":
            self.target = styles
        elif tag == "script" and "src" not in names and (names.get("type") or "") in ("", "text/javascript", "module"):
            self.target = scripts
        if self.target is not None and tag in ("script", "style"):
            self.target.append("")

    def handle_startendtag(self, tag, attributes):
        scripts, styles, events, has_style = self.found
        names = dict(attributes)
        events += [name for name in names if re.fullmatch("on[a-z]+", name)]
        self.found = scripts, styles, events, has_style or "style" in names

    def handle_data(self, data):
        if self.target is not None:
            self.target[-1] += data

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.target = None


TRICKY = [
    "<script>if (a < b) document.write('</p><script data-x>')</script><p style=''>x</p>",
    "<!-- <script>no()</script> <p style='x'> --><SCRIPT TYPE=module>\nyes()\n</SCRIPT >",
    "<script src='x.js' defer></script><script type='application/json'>{\"a\": \"<p style>\"}</script>",
    "<p title=\"a > b <script>\" onclick=go()>x</p><img alt='style=' src=\"on.png\">",
    "<svg><style>.a > .b { x: y }</style><path style=\"stroke: red\"/></svg><style></style><br/>",
    "<p\n  STYLE = 'x'\n onLoad='y'>a &lt;script&gt; b</p><a href=x on>y</a><styles><scripted>",
]


@pytest.mark.parametrize("text", TRICKY)
def test_what_is_within_a_page_is_what_a_parser_finds(text):
    found = read_inline(PAGE.format(text))

    assert (found.scripts, found.styles, found.events, found.has_style_attributes) == Parsed(PAGE.format(text)).found


def test_what_is_within_the_pages_of_the_site_is_what_a_parser_finds(site):
    for path in site.rglob("*.html"):
        page = path.read_text("utf-8")
        found = read_inline(page)
        assert (found.scripts, found.styles, found.events, found.has_style_attributes) == Parsed(page).found


def test_style_attributes_are_allowed_only_where_they_are():
    assert "unsafe-inline" not in policy_of(PAGE.format("<p>plain</p>"))
    assert "style-src-attr 'unsafe-inline'" in policy_of(PAGE.format('<p style="top:1em">x</p>'))


def test_no_page_may_run_text_as_code():
    assert "unsafe-eval" not in policy_of(PAGE)
    assert policy_of(PAGE).startswith("default-src 'none'; ")


def test_a_page_gets_its_policy_once():
    page = with_policy(PAGE.format("<script>1</script>"))

    assert with_policy(page) == page
    assert page.count("Content-Security-Policy") == 1


def test_the_policy_stands_before_everything_that_it_rules(site):
    for path in site.rglob("*.html"):
        page = path.read_text("utf-8")
        assert 0 < page.find("Content-Security-Policy") < page.find("<link"), path.name


def test_no_element_carries_code_in_an_attribute(site):
    assert [path.name for path in site.rglob("*.html") if read_inline(path.read_text("utf-8")).events] == []


@pytest.mark.browser
@pytest.mark.xdist_group("site")
class TestInTheBrowser:
    def test_no_page_violates_its_policy(self, site, address, open_page, watch):
        found = {}
        for path in sorted(site.rglob("*.html")):
            with open_page("about:blank") as page:
                watch(page, address + path.relative_to(site).as_posix())
                found[path.name] = page.evaluate("window.violations")

        assert {name: violations for name, violations in found.items() if violations} == {}

    def test_a_script_that_the_build_did_not_write_does_not_run(self, address, open_page, watch):
        with open_page("about:blank") as page:
            watch(page, address + "chapter.html")
            page.evaluate(
                """() => {
                    const script = document.createElement('script');
                    script.textContent = 'window.intruder = true';
                    document.body.append(script);
                }"""
            )

            assert page.evaluate("window.intruder") is None
            assert page.evaluate("window.violations")[0][0] == "script-src-elem"

    def test_the_theme_can_be_switched(self, address, open_page, watch):
        with open_page("about:blank") as page:
            watch(page, address + "chapter.html")
            before = page.evaluate("document.body.dataset.theme")
            page.locator(".theme-toggle:visible").first.click()

            assert page.evaluate("document.body.dataset.theme") != before
            assert page.evaluate("window.violations") == []

    def test_search_finds_and_shows(self, address, open_page, watch):
        with open_page("about:blank") as page:
            watch(page, address + "search.html?q=rmsnorm")
            page.wait_for_selector("#search-results ul.search li a")
            if address.startswith("http"):
                page.wait_for_selector("#search-results p.context")

            assert "Everything on one page" in page.locator("#search-results").inner_text()
            assert page.evaluate("window.violations") == []

    def test_search_says_what_a_term_means(self, address, open_page, watch):
        if not address.startswith("http"):
            pytest.skip("from a folder no browser gives excerpts")
        with open_page("about:blank") as page:
            watch(page, address + "search.html?q=loudness")
            page.wait_for_selector("#search-results p.context")

            assert "What the ear says of a scale." in page.locator("#search-results").inner_text()

    def test_code_is_copied(self, address, open_page, watch):
        with open_page("about:blank", permissions=["clipboard-read", "clipboard-write"]) as page:
            watch(page, address + "chapter.html")
            page.locator("button.copy-code").first.click(force=True)
            page.wait_for_timeout(200)

            assert page.evaluate("window.violations") == []
            if address.startswith("http"):
                assert "def scale" in page.evaluate("navigator.clipboard.readText()")

    def test_a_link_shows_what_it_leads_to(self, address, open_page, watch):
        with open_page("about:blank") as page:
            watch(page, address + "chapter.html")
            page.locator("section > p a[href='#equation-eq-norm']").first.hover()

            assert page.wait_for_selector(".book-preview .katex-html")
            assert page.evaluate("window.violations") == []


def test_the_hash_is_that_of_the_bytes_between_the_tags(site):
    page = (site / "chapter.html").read_text("utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)

    assert read_inline(page).scripts == [script]
