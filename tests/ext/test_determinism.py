"""The same project gives the same bytes: whatever the jobs, the hash seed, the folder, the locale and the time zone."""

import os
import random
import subprocess
import sys

import pytest

from tests.ext.changing_book import ChangingBook, write_book
from tests.ext.test_incremental import contents
from tests.ext.test_interrupted import OWN_EXECUTOR

BUILDERS = ("html", "text", "latex")
DEEP = "a/folder/that/is/some/levels/down"
# Which way a build is made: jobs, hash seed, folder, locale, time zone.
WAYS = [
    (1, "0", "flat", "C.UTF-8", "UTC"),
    (2, "1", DEEP, "C", "Asia/Tokyo"),
    (4, "2", "flat", "C", "UTC"),
    (1, "1", DEEP, "C.UTF-8", "America/New_York"),
    (2, "0", "flat", "C", "Asia/Tokyo"),
    (4, "0", DEEP, "C.UTF-8", "UTC"),
    (1, "2", "flat", "C", "America/New_York"),
    (2, "2", DEEP, "C.UTF-8", "UTC"),
    (4, "1", "flat", "C.UTF-8", "Asia/Tokyo"),
    (1, "0", DEEP, "C", "Asia/Tokyo"),
    (2, "1", "flat", "C.UTF-8", "America/New_York"),
    (4, "2", DEEP, "C", "America/New_York"),
]


def build(root, builder, way):
    """Build the book from nothing in one way and return every file."""
    jobs, seed, folder, locale, zone = way
    place = root / f"{builder}-{'-'.join(map(str, way)).replace('/', '_')}" / folder
    book = ChangingBook(random.Random(3))
    for _ in range(6):
        book.add_page()
    for _ in range(8):
        book.add_reference()
    write_book(book, place)
    (place / "conf.py").write_text((place / "conf.py").read_text().replace(OWN_EXECUTOR, ""))
    environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "LANG": locale, "TZ": zone}
    words = ["-b", builder, "-c", place, "-j", jobs, "-d", place / "doctrees"]
    words += [place / "docs", place / "built" / builder]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "sphinx", *map(str, words)],
        env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return contents(place / "built" / builder)


def different(found):
    """Return the files that are not the same in all builds."""
    first = found[0]
    names = sorted({name for files in found for name in files})
    return [name for name in names if any(files.get(name) != first.get(name) for files in found)]


def test_two_unlike_builds_give_the_same_bytes(tmp_path):
    assert different([build(tmp_path, "html", way) for way in WAYS[:2]]) == []


@pytest.mark.soak
@pytest.mark.parametrize("builder", BUILDERS)
def test_twelve_unlike_builds_give_the_same_bytes(tmp_path, builder):
    """Takes about half a minute for each builder."""
    assert different([build(tmp_path, builder, way) for way in WAYS]) == []
