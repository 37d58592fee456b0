"""Digests of data, files and folders, by which a store tells whether anything has changed."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any


def digest(value: Any) -> str:
    """Return the SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def file_digest(path: Path) -> str | None:
    """Return the SHA-256 of a file's bytes; None when it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


@cache
def code_digest(folder: str) -> str:
    """Return the SHA-256 of all Python files below a folder, as they are at the first time of asking."""
    found = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".py")]
    return digest(sorted([os.path.relpath(path, folder), file_digest(Path(path))] for path in found))


def folder_digest(path: Path) -> str | None:
    """Return the SHA-256 of the sorted names in a folder; None when it cannot be listed."""
    try:
        return hashlib.sha256("\n".join(sorted(os.listdir(path))).encode("utf-8", "surrogateescape")).hexdigest()
    except OSError:
        return None
