"""The accepted outcomes of the book: every chapter has them, and they hold on other processors."""

import os
import subprocess
import sys

import pytest

from tests.book.pages import CHAPTERS, ROOT


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_is_pinned(chapter):
    assert (ROOT / "pins" / f"{chapter}.toml").is_file()


@pytest.mark.soak
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the kernels are those of x86")
@pytest.mark.parametrize("kernel", ["Prescott", "Haswell", "SkylakeX"])
def test_the_pins_hold_with_the_kernels_of_other_processors(tmp_path, kernel):
    """Takes about a minute for each kernel.  A kernel that this processor lacks is replaced by OpenBLAS itself."""
    store = f"scratchbook_cache={tmp_path / 'store'}"
    words = ["-q", "-b", "dummy", "-c", ROOT, "-D", store, ROOT / "docs", tmp_path / "out"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "sphinx", *map(str, words)],
        env={**os.environ, "OPENBLAS_CORETYPE": kernel}, capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip

    assert [line for line in done.stderr.splitlines() if line.endswith("[scratchbook.pin]")] == []
