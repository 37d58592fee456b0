"""What the first view of each page costs a reader who comes over the net.  `SITE=build/html` weighs the book too.

`python tests/site/test_weight.py SITE` prints the measures of every page.
"""

from __future__ import annotations

import gzip
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

MOST_BYTES = 160 * 1024
MOST_REQUESTS = 30
MOST_SHIFT = 0.02
WATCH_SHIFTS = """window.shift = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.shift += entry.value; }))
        .observe({type: 'layout-shift', buffered: true});"""
TEXT = {".html", ".css", ".js", ".svg", ".json", ".xml"}


class Host(SimpleHTTPRequestHandler):
    """Serve a folder as a host does, with text compressed."""

    def log_message(self, format, *args):
        return

    def do_GET(self):
        file = Path(self.translate_path(self.path))
        if not file.is_file():
            return self.send_error(404)
        body = file.read_bytes()
        self.send_response(200)
        if file.suffix in TEXT:
            body = gzip.compress(body, 9)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return self.wfile.write(body)


class SlowHost(Host):
    """A host far away: the page comes, and its styles, and then its fonts, each later than the first view."""

    delays: ClassVar = {".css": 0.4, ".js": 0.4, ".woff2": 1.2}

    def do_GET(self):
        time.sleep(self.delays.get(Path(self.translate_path(self.path)).suffix, 0.0))
        return super().do_GET()


class HaltingHost(Host):
    """A host that sends all of a page but its last part, which it needs a while for."""

    def do_GET(self):
        file = Path(self.translate_path(self.path))
        if file.suffix != ".html":
            return super().do_GET()
        body = file.read_bytes()
        end = body.rindex(b"<aside")
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:end])
        self.wfile.flush()
        time.sleep(1)
        return self.wfile.write(body[end:])


def serve(folder, host=Host):
    """Serve a folder on a port of its own; return the server, whose address is its host's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(host, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def weigh(page, address, path):
    """Load a page in a fresh window.   ->   compressed bytes, requests, addresses of other hosts, layout shift"""
    sizes, asked = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"]))
    page.add_init_script(WATCH_SHIFTS)
    # A busy machine is idle before it has begun: wait for what the page names, then for the fonts, then for the rest.
    page.goto(f"{address}/{path}", wait_until="load")
    page.evaluate("document.fonts.ready.then(() => 0)")
    page.wait_for_load_state("networkidle")
    foreign = [url for url in asked if not url.startswith((address, "data:"))]
    count = sum(not url.startswith("data:") for url in asked)
    return sum(sizes), count, foreign, page.evaluate("window.shift")


def paths_of(folder):
    return [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html"))]


@pytest.fixture(scope="module")
def measures(pages, browser):
    """Return the measures of every page, by its name."""
    found = {}
    files = [Path(url2pathname(urlsplit(page).path)) for page in pages]
    for root in sorted({file.parent for file in files if (file.parent / "searchindex.js").is_file()}):
        server, address = serve(root)
        for path in paths_of(root):
            context = browser.new_context(viewport={"width": 1366, "height": 900})
            found[f"{root.name}/{path}"] = weigh(context.new_page(), address, path)
            context.close()
        server.shutdown()
        server.server_close()
    return found


@pytest.mark.browser
@pytest.mark.xdist_group("site")
class TestTheFirstView:
    def test_is_at_most_160_kilobytes(self, measures):
        assert {name: size for name, (size, *_) in measures.items() if size > MOST_BYTES} == {}

    def test_takes_at_most_30_requests(self, measures):
        assert {name: count for name, (_, count, *_) in measures.items() if not 0 < count <= MOST_REQUESTS} == {}

    def test_asks_no_other_host(self, measures):
        assert {name: foreign for name, (_, _, foreign, _) in measures.items() if foreign} == {}

    def test_jumps_at_most_by_a_fiftieth(self, measures):
        assert {name: shift for name, (*_, shift) in measures.items() if shift > MOST_SHIFT} == {}


@pytest.mark.browser
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("width", [1366, 390])
def test_a_page_jumps_at_most_by_a_fiftieth_where_its_fonts_come_late(site, browser, width):
    server, address = serve(site, SlowHost)
    context = browser.new_context(viewport={"width": width, "height": 900})
    *_, shift = weigh(context.new_page(), address, "chapter.html")
    context.close()
    server.shutdown()
    server.server_close()

    assert shift <= MOST_SHIFT


@pytest.mark.browser
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("path", ["chapter.html", "genindex.html"])
def test_a_page_jumps_at_most_by_a_fiftieth_where_its_end_comes_late(site, browser, path):
    server, address = serve(site, HaltingHost)
    context = browser.new_context(viewport={"width": 1366, "height": 900})
    *_, shift = weigh(context.new_page(), address, path)
    context.close()
    server.shutdown()
    server.server_close()

    assert shift <= MOST_SHIFT


def main(site):
    """Print the measures of every page of a built site."""
    from playwright.sync_api import sync_playwright

    _, address = serve(Path(site).resolve())
    print(f"{'page':34}{'KB':>7}{'requests':>10}{'shift':>8}")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        for path in paths_of(Path(site)):
            context = browser.new_context(viewport={"width": 1366, "height": 900})
            size, count, foreign, shift = weigh(context.new_page(), address, path)
            print(f"{path:34}{size / 1024:7.1f}{count:10}{shift:8.3f}  {' '.join(foreign)}")
            context.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
