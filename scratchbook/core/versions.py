"""Versions of installed packages.  The builder asks: a page's process starts sooner when it only names modules."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import metadata


@cache
def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution; None when there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def versions_of(modules: Iterable[str]) -> dict[str, str]:
    """Return the version of each distribution that one of these top-level modules is from."""
    return {name: version for module in modules for name in owners(module) if (version := installed_version(name))}


def owners(module: str) -> tuple[str, ...]:
    """Return the distributions that a top-level module is from: mostly the one of that name."""
    return (module,) if installed_version(module) else tuple(_all_owners().get(module, ()))


@cache
def _all_owners() -> dict[str, list[str]]:
    """Return the distributions of every top-level module: slow, so asked once and only when names differ."""
    return dict(metadata.packages_distributions())
