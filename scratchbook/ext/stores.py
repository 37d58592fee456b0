"""Where outcomes are kept between builds: the store of a project, as a build sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.util import logging

from scratchbook.core.cache import Store
from scratchbook.core.cells import Outcome, Session
from scratchbook.ext.settings import store_folder

# Builders that show no output: they check links, or collect text to translate.
IDLE_BUILDERS: Final = frozenset({"gettext", "linkcheck"})

logger = logging.getLogger(__name__)


def is_idle(builder: Builder) -> bool:
    """Whether a builder shows no output, so that nothing need run."""
    return builder.name in IDLE_BUILDERS


class OutcomeStore(Protocol):
    """Where outcomes are kept between builds."""

    def load(self, session: Session) -> Outcome | None:
        """Return a stored outcome that is still true, or None."""

    def save(self, session: Session, outcome: Outcome) -> object:
        """Keep an outcome, if it may be kept."""

    def sweep(self) -> None:
        """Make room for the next build."""


class NoStore:
    """A store that keeps nothing: every session runs."""

    def load(self, session: Session) -> Outcome | None:
        """Know nothing."""
        return None

    def save(self, session: Session, outcome: Outcome) -> None:
        """Keep nothing."""

    def sweep(self) -> None:
        """Have nothing to sweep."""


@dataclass
class Stores:
    """Outcomes on disk, by the folder that their sessions count paths from."""

    folder: Path
    by_root: dict[str, Store] = field(default_factory=dict)
    is_broken: bool = False

    def load(self, session: Session) -> Outcome | None:
        """Return a stored outcome that is still true, or None."""
        return self._of(session).load(session)

    def save(self, session: Session, outcome: Outcome) -> None:
        """Keep an outcome, if it may be kept; a folder that cannot be written is told once and costs nothing else."""
        if self.is_broken:
            return
        try:
            self._of(session).save(session, outcome)
        except OSError as error:
            self.is_broken = True
            fact = f"outcomes cannot be kept in {self.folder}: {error.strerror or error}"
            choice = "free that folder, or choose another in scratchbook_cache"
            logger.warning(f"{fact}; {choice}", type="scratchbook", subtype="cache")

    def sweep(self) -> None:
        """Remove what is too old or too much."""
        for store in self.by_root.values():
            store.sweep()

    def _of(self, session: Session) -> Store:
        return self.by_root.setdefault(session.root, Store(self.folder, Path(session.root)))


def open_store(app: Sphinx) -> OutcomeStore:
    """Return the store of a project, one that keeps nothing where none is wanted."""
    folder = store_folder(app)
    return Stores(folder / "outcomes") if folder else NoStore()
