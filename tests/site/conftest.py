"""Build the sample book once, with the settings of the real one, and open it in Debian's chromium.

`SITE=build/html pytest tests/site` looks at the pages of that folder too.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
ROOT = Path(__file__).parents[2]
SAMPLE = Path(__file__).parent / "sample"
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built sample, which the first of the processes of a run builds for all; only read it."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "site"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "is-built").exists():
            build_sample(folder)
            (folder / "is-built").touch()
    return folder / "html"


def build_sample(folder: Path) -> None:
    """Build the sample, with the settings of the real book but for its pins."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", ROOT, "-d", folder / "doctrees"]
    command += ["-D", "scratchbook_pins=", SAMPLE, folder / "html"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


@pytest.fixture(scope="session")
def pages(site: Path) -> list[str]:
    """Return the addresses of all pages, and those of the book that SITE names."""
    folders = [site, *([Path(os.environ["SITE"]).resolve()] if os.environ.get("SITE") else [])]
    return [page.as_uri() for folder in folders for page in sorted(folder.rglob("*.html")) if page.name != "404.html"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start chromium, or say why not."""
    if not CHROMIUM.exists():
        pytest.skip("chromium is missing: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install playwright")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def large_letters(browser: Any) -> Iterator[Any]:
    """Start chromium as it is set by a reader who wants letters twice as large."""
    arguments = [*ARGUMENTS, "--blink-settings=defaultFontSize=32"]
    started = browser.browser_type.launch(executable_path=str(CHROMIUM), args=arguments)
    yield started
    started.close()


@pytest.fixture
def open_page(browser: Any) -> Any:
    """Return a function that opens an address in a fresh window: `with open_page(address, width=390) as page`."""

    @contextmanager
    def opened(address: str, *, width: int = 1366, height: int = 900, **options: Any) -> Iterator[Any]:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        page.goto(address)
        yield page
        context.close()

    return opened
