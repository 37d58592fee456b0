"""Write the three files of a first book, as the guide shows them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

TEMPLATE: Final = Path(__file__).parent / "template"
SUFFIX: Final = ".txt"  # so that no tool takes them for files of the package


def begin_book(folder: Path) -> list[str]:
    """Write the files of a first book into a folder, which need not be there; return their names.

    Raises OSError when one of them is there already or cannot be, before any is written.
    """
    found = sorted(path for path in TEMPLATE.rglob(f"*{SUFFIX}"))
    names = [path.relative_to(TEMPLATE).as_posix().removesuffix(SUFFIX) for path in found]
    for name in names:
        there = next(path for path in (folder / name, *(folder / name).parents) if os.path.lexists(path))
        if there == folder / name:  # or a link with that name, which leads somewhere else
            raise FileExistsError(f"{there} is there already; name a folder without it")
        if not there.is_dir():
            raise NotADirectoryError(f"{there} is no folder; name another")
    for name, path in zip(names, found, strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    return names
