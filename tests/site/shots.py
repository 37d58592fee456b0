"""Take a picture of each kind of page: wide, on a phone, in the dark, on paper.

`python tests/site/shots.py SITE TARGET` reads the pages of the folder SITE and writes TARGET/KIND-LOOK.png, and
TARGET/KIND-LOOK-end.png of a long page, whose boxes and exercises stand at its end.
"""

from __future__ import annotations

import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CHROMIUM = "/usr/bin/chromium"
KINDS = {
    "first": "index.html",
    "textbook": "transformer-block.html",
    "lesson": "one-block.html",
    "course": "tiny-gpt.html",
    "equations": "all-equations.html",
    "exercises": "solutions.html",
    "notation": "notation.html",
    "glossary": "glossary.html",
    "guide": "guide/boxes.html",
    "search": "search.html?q=softmax",
    "lost": "404.html",
}
LOOKS = {
    "wide": {"viewport": {"width": 1366, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True},
    "dark": {"viewport": {"width": 1366, "height": 900}, "color_scheme": "dark"},
    "print": {"viewport": {"width": 794, "height": 1123}},
}
LONGEST = 6000  # pixels of one picture
MOST_SECONDS = 240  # for one picture; a second on an idle machine


class Quiet(SimpleHTTPRequestHandler):
    """Serve a folder and say nothing."""

    def log_message(self, format, *args):
        return


def serve(site):
    """Serve a folder, since the page of lost links knows its files by the host's address; return that address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


# What a browser draws only near the view, which a picture of the whole page never scrolls to.
PASSED_OVER = ".katex-html, .highlight pre"


def take(browser, address, look, file):
    """Write the picture of a page, and that of its end where it is long; return how many."""
    context = browser.new_context(**LOOKS[look])
    context.set_default_timeout(MOST_SECONDS * 1000)
    page = context.new_page()
    page.goto(address, wait_until="load")
    page.wait_for_timeout(400)
    if look == "print":
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.locator(PASSED_OVER).evaluate_all("boxes => boxes.forEach(box => (box.style.contentVisibility = 'visible'))")
    page.wait_for_timeout(200)  # for the fonts of what was passed over
    whole = page.evaluate("document.documentElement.scrollHeight")
    tops = {file: 0} | ({file.with_stem(f"{file.stem}-end"): whole - LONGEST} if whole > LONGEST else {})
    for path, top in tops.items():
        clip = {"x": 0, "y": top, "width": LOOKS[look]["viewport"]["width"], "height": min(LONGEST, whole)}
        page.screenshot(path=str(path), full_page=True, clip=clip)
    context.close()
    return len(tops)


def main(site, target):
    """Take all pictures and say how many."""
    from playwright.sync_api import sync_playwright

    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    count, host = 0, serve(site)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for kind, name in KINDS.items():
            if not (Path(site) / name.partition("?")[0]).is_file():
                print(f"{site} has no {name}, so there is no picture of that kind")
                continue
            for look in LOOKS:
                count += take(browser, f"{host}/{name}", look, folder / f"{kind}-{look}.png")
        browser.close()
    print(f"{count} pictures in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:])
