"""The settings of conf.py: their names, their types, and one typed value made from them.  Reads no chapter."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import NoneType
from typing import Any, Final, Literal

from sphinx.application import Sphinx
from sphinx.config import ENUM, Config

from scratchbook.core.cells import Limits
from scratchbook.core.errors import Mistake, Place
from scratchbook.core.kept import Kept

# name -> (default, rebuild, types).  "env": chapters are read again.  "": the run phase sees the change by itself.
SETTINGS: Final[dict[str, tuple[Any, Literal["", "env", "html"], Any]]] = {
    "scratchbook_root": ("", "env", (str,)),
    "scratchbook_folders": (["scratch"], "", (list, tuple)),
    "scratchbook_execute": ("run", "", ENUM("run", "cache-only", "never")),
    "scratchbook_block_seconds": (20.0, "", (float, int)),
    "scratchbook_page_seconds": (60.0, "", (float, int)),
    "scratchbook_shown_bytes": (64 * 1024, "", (int,)),
    "scratchbook_captured_bytes": (1024 * 1024, "", (int,)),
    "scratchbook_memory_bytes": (4 * 1024**3, "", (int,)),
    "scratchbook_file_bytes": (1024**3, "", (int,)),
    "scratchbook_open_files": (1024, "", (int,)),
    "scratchbook_processes": (64, "", (int,)),
    "scratchbook_print_options": ({}, "", (dict,)),
    "scratchbook_environment": ([], "", (list, tuple, dict)),
    "scratchbook_network": (False, "", (bool,)),
    "scratchbook_preload": (["numpy"], "", (list, tuple)),
    "scratchbook_executor": ("", "", (str,)),
    "scratchbook_jobs": (0, "", (int,)),
    "scratchbook_cache": ("", "", (str, NoneType)),
    "scratchbook_source": ("", "html", (str,)),
    "scratchbook_equations": ("declared", "", ENUM("declared", "all")),
}

STORE: Final = ".scratchbook"

# Those of sphinx-exec-code; an empty folder means its default.
STOCK: Final = "sphinx_exec_code"
EXEC_SETTINGS: Final[dict[str, tuple[Any, Literal["", "env"], Any]]] = {
    "exec_code_example_dir": ("", "env", (str, Path)),
    "exec_code_working_dir": ("", "", (str, Path)),
    "exec_code_source_folders": (None, "", (list, tuple)),
    "exec_code_set_utf8_encoding": (True, "", (bool,)),
}


@dataclass(frozen=True)
class Settings:
    """What conf.py says about running, in the units of the core.

    root: absolute; nothing outside it is shown.   folders: from the root, where files and imports are looked up.
    executor: what makes the project's own, None for ours.   jobs: sessions side by side.
    lone_root: absolute, where blocks of {exec_code} run.   lone_folders: from there, where they import from.
    """

    root: Path
    folders: tuple[str, ...] = ()
    execute: Literal["run", "cache-only", "never"] = "run"
    limits: Limits = field(default_factory=Limits)
    print_options: tuple[tuple[str, Any], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    network: bool = False
    preload: tuple[str, ...] = ("numpy",)
    executor: Callable[[], Executor] | None = None
    jobs: int = 1
    lone_root: str = ""
    lone_folders: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = field(default=(), compare=False)


def register(app: Sphinx) -> None:
    """Tell Sphinx every setting, with its type and what a change of it rebuilds."""
    for name, (default, rebuild, types) in SETTINGS.items():
        app.add_config_value(name, default, rebuild, types)
    app.connect("builder-inited", prepare_store, priority=100)


def project_root(config: Config, confdir: Path) -> Path:
    """Return the folder that places are named from: that of conf.py, or the one that `scratchbook_root` names."""
    root = (confdir / str(config.scratchbook_root)).resolve()
    return root if root.is_dir() else confdir.resolve()


def read_settings(config: Config, confdir: Path) -> Settings:
    """Make the typed value; what cannot be used is left out of it and told in `mistakes`."""
    root, values = project_root(config, confdir), fitting_values(config)
    folders, folder_mistakes = check_folders(values["folders"], root)
    limits, limit_mistakes = read_limits(values)
    lone_root, lone_folders, lone_mistakes = read_lone_folders(config, confdir)
    executor, executor_mistakes = find_executor(values["executor"])
    print_options, print_mistakes = read_print_options(values["print_options"])
    mistakes = (*folder_mistakes, *limit_mistakes, *lone_mistakes, *executor_mistakes, *print_mistakes)
    if not (confdir / values["root"]).is_dir():
        mistakes += (Mistake("setting", f"scratchbook_root: there is no folder '{values['root']}' beside conf.py"),)
    if values["source"] and not fill_address(values["source"], "", 1, 1):
        fact = f"scratchbook_source: '{values['source']}' cannot be filled in"
        mistakes += (Mistake("setting", f"{fact}; the names within braces are path, first and last"),)
    return Settings(
        root=root,
        folders=folders,
        execute=values["execute"],
        limits=limits,
        print_options=print_options,
        environment=tuple(sorted(named_variables(values["environment"]))),
        network=values["network"],
        preload=tuple(map(str, values["preload"])),
        executor=executor,
        jobs=max(values["jobs"], 0) or usable_processors(),
        lone_root=lone_root.as_posix(),
        lone_folders=tuple(Path(os.path.relpath(folder, lone_root)).as_posix() for folder in lone_folders),
        mistakes=tuple(placed_in_conf(mistake, root, confdir) for mistake in mistakes),
    )


def fitting_values(config: Config) -> dict[str, Any]:
    """Return each setting by its short name; one of a wrong type, of which Sphinx warns, is the default."""
    return {
        name.removeprefix("scratchbook_"): config[name] if fits(config[name], types) else default
        for name, (default, _, types) in SETTINGS.items()
    }


def fits(value: Any, types: Any) -> bool:
    """Whether a value is of the types that a setting takes."""
    if isinstance(types, ENUM):
        return types.match(value)
    return isinstance(value, types) and (not isinstance(value, bool) or bool in types)


def check_folders(names: list[str] | tuple[str, ...], root: Path) -> tuple[tuple[str, ...], tuple[Mistake, ...]]:
    """Keep the source folders that are there and inside the root; the default one may be missing."""
    is_default = list(names) == SETTINGS["scratchbook_folders"][0]
    kept, mistakes = [], []
    for folder in map(str, names):
        path = (root / folder).resolve()
        if not path.is_relative_to(root):
            mistakes.append(Mistake("setting", f"scratchbook_folders: '{folder}' is outside the project's root"))
        elif path.is_dir():
            kept.append(PurePosixPath(path.relative_to(root)).as_posix())
        elif not is_default:
            mistakes.append(Mistake("setting", f"scratchbook_folders: there is no folder '{folder}' in the root"))
    return tuple(kept), tuple(mistakes)


def read_limits(values: dict[str, Any]) -> tuple[Limits, tuple[Mistake, ...]]:
    """Read the limits; one of nothing would stop every page, so it is told and the default takes its place."""
    found = {limit.name: values[limit.name] for limit in fields(Limits) if limit.name in values}
    mistakes = tuple(
        Mistake("setting", f"scratchbook_{name}: {value} leaves no room; it must be more than 0")
        for name, value in found.items()
        if not value > 0
    )
    return Limits(**{name: value for name, value in found.items() if value > 0}), mistakes


def read_print_options(options: dict[str, Any]) -> tuple[tuple[tuple[str, Any], ...], tuple[Mistake, ...]]:
    """Return what NumPy's print options are on every page; none where NumPy does not take them."""
    if not options:
        return (), ()
    import numpy as np

    try:
        with np.printoptions(**options):
            return tuple(sorted((str(name), value) for name, value in options.items())), ()
    except (TypeError, ValueError) as error:
        return (), (Mistake("setting", f"scratchbook_print_options: NumPy refuses them: {error}"),)


def fill_address(address: str, path: str, first: int, last: int) -> str:
    """Return where a reader finds lines of a file; nothing where `scratchbook_source` cannot be filled in."""
    with contextlib.suppress(KeyError, IndexError, ValueError, AttributeError):
        return address.format(path=path, first=first, last=last)
    return ""


def find_executor(name: str) -> tuple[Callable[[], Executor] | None, tuple[Mistake, ...]]:
    """Import the factory of the project's own executor by its dotted name."""
    if not name:
        return None, ()
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(import_module(module), attribute), ()
    except (ImportError, AttributeError, ValueError) as error:
        fact = f"scratchbook_executor: '{name}' cannot be imported: {error}"
        return None, (Mistake("setting", f"{fact}; write it as package.module.factory"),)


def read_lone_folders(config: Config, confdir: Path) -> tuple[Path, tuple[Path, ...], tuple[Mistake, ...]]:
    """Return where blocks of {exec_code} run and import from, and what is wrong with that."""
    if is_doubled(config):
        fact = f"extensions: both scratchbook and {STOCK} bring {{exec_code}}"
        mistake = Mistake("setting", f"{fact}; take {STOCK} out, its pages work without a change")
        return confdir, (), (mistake,)
    root = (confdir / (str(config.exec_code_working_dir) or "..")).resolve()
    folders = source_folders(config, confdir)
    named = [("exec_code_working_dir", root), *(("exec_code_source_folders", folder) for folder in folders)]
    mistakes = [
        Mistake("setting", f"{name}: there is no folder '{os.path.relpath(folder, confdir)}' beside conf.py")
        for name, folder in named
        if not folder.is_dir()
    ]
    return (root if root.is_dir() else confdir), folders, tuple(mistakes)


def is_doubled(config: Config) -> bool:
    """Whether the project lists sphinx-exec-code too."""
    return STOCK in config.extensions


def example_folder(config: Config, confdir: Path) -> Path:
    """Return where `:filename:` is looked up: beside conf.py unless set."""
    return (confdir / str(config.exec_code_example_dir)).resolve()


def source_folders(config: Config, confdir: Path) -> tuple[Path, ...]:
    """Return where blocks of {exec_code} import from: `../src` unless set, if it is there."""
    if config.exec_code_source_folders is None:
        beside = confdir.with_name("src")
        return (beside,) if beside.is_dir() else ()
    return tuple((confdir / str(folder)).resolve() for folder in config.exec_code_source_folders)


def named_variables(setting: list[str] | tuple[str, ...] | dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the variables that code may see: names are passed on where set, a dictionary fixes values."""
    if isinstance(setting, dict):
        yield from ((str(name), str(value)) for name, value in setting.items())
        return
    yield from ((name, os.environ[name]) for name in map(str, setting) if name in os.environ)


def usable_processors() -> int:
    """Return how many processors this build may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def placed_in_conf(mistake: Mistake, root: Path, confdir: Path) -> Mistake:
    """Place a mistake at the line of conf.py that sets the value, or at its first line."""
    conf = confdir.resolve() / "conf.py"
    name = mistake.text.partition(":")[0]
    path = conf.relative_to(root).as_posix() if conf.is_relative_to(root) else conf.as_posix()
    lines = conf.read_text("utf-8", errors="replace").splitlines() if conf.is_file() else []
    line = next((number for number, text in enumerate(lines, 1) if re.match(rf"{name}\b", text)), 1)
    return Mistake(mistake.kind, mistake.text, Place(path, line), mistake.detail)


def store_folder(app: Sphinx) -> Path | None:
    """Return where what a build keeps for the next one lies; None when the project wants no store."""
    chosen: str | None = app.config.scratchbook_cache
    if chosen is None:
        return None
    if chosen:
        return (Path(app.confdir) / chosen).resolve()
    return default_store(Path(app.outdir), Path(app.doctreedir), Path(app.srcdir), app.builder.name)


def default_store(outdir: Path, doctreedir: Path, srcdir: Path, builder: str) -> Path:
    """Return the folder that builds share when conf.py names none, so that what html has run, latex need not run.

    It lies beside an output folder and not in it, since that is published; but with the doctrees, where those lie
    elsewhere, or where beside means among the chapters: a program that watches them would see it change.
    """
    if STORE in outdir.parts:  # a command reads the chapters, see `book`
        return Path(*outdir.parts[: outdir.parts.index(STORE) + 1])
    is_apart = doctreedir.parent not in (outdir, outdir.parent) and outdir.name != builder
    return (doctreedir if is_apart or outdir.parent.is_relative_to(srcdir) else outdir.parent) / STORE


def prepare_store(app: Sphinx) -> None:
    """Tell version control to leave the store alone; where it cannot be made, the run phase says so."""
    folder = store_folder(app)
    if folder is not None and not (folder / ".gitignore").exists():
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def kept_pieces(app: Sphinx) -> Kept | None:
    """Return what earlier builds kept of drawn formulas, coloured code and compiled templates; None without a store."""
    folder = store_folder(app)
    return Kept(folder / "kept.sqlite") if folder else None
