"""Digests of data, files and folders, by which a store tells whether anything has changed."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from typing import Any


def digest(value: Any) -> str:
    """Return the SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def file_digest(path: str | os.PathLike[str]) -> str | None:
    """Return the SHA-256 of a file's bytes; None when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


@cache
def code_digest(folder: str) -> str:
    """Return the SHA-256 of all Python files below a folder, as they are at the first time of asking.

    Each folder below is asked once too, so that whoever asks for a part of what was read reads nothing.
    """
    found: list[list[str | None]] = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            found.append([entry.name, code_digest(entry.path)])
        elif entry.name.endswith(".py"):
            found.append([entry.name, file_digest(entry.path)])
    return digest(found)


def folder_digest(path: str | os.PathLike[str]) -> str | None:
    """Return the SHA-256 of the sorted names in a folder; None when it cannot be listed."""
    try:
        return hashlib.sha256("\n".join(sorted(os.listdir(path))).encode("utf-8", "surrogateescape")).hexdigest()
    except OSError:
        return None
