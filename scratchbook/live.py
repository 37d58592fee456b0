"""`python -m scratchbook.live`: sphinx-autobuild, whose builds are forked from a process that has Sphinx loaded.

sphinx-autobuild watches, serves and reloads; its arguments are ours.  It would start an interpreter for each build, and
until a small edit is on the page, half of the time is that of imports.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Client, Listener
from pathlib import Path
from typing import Final

from sphinx.cmd.build import main as sphinx_build

from scratchbook.core.processes import die_with_parent, fork

SERVE: Final = "--serve"
SPHINX: Final = (sys.executable, "-m", "sphinx", "build")
MOST_SHOWN: Final = 5
# Probes, backups, swap files and locks of editors, which change far more often than the file that is edited.
OF_EDITORS: Final = r"/(?:4913|[^/]*~|#[^/]*#|\.#[^/]*|\.[^/]*\.sw[a-z])$"
Commands = Sequence[Sequence[str]]


class Loaded:
    """What builds have imported so far, and the state that its files had before."""

    def __init__(self) -> None:
        self.stamps: dict[str, tuple[int, int] | None] = {}

    def load(self, modules: dict[str, str]) -> None:
        """Import what a build has imported; what cannot be imported by itself is left to the builds.

        modules: name -> file, "" for one without.
        """
        self.stamps |= {file: stamp_of(file) for file in modules.values() if file and file not in self.stamps}
        for name in modules.keys() - sys.modules.keys():
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        gc.collect()
        gc.freeze()  # shared with the builds

    @property
    def is_fresh(self) -> bool:
        """Whether every file is as it was imported."""
        return all(stamp_of(file) == stamp for file, stamp in self.stamps.items())


def loaded_modules() -> dict[str, str]:
    """Return what is imported in this process: name -> file."""
    return {name: getattr(module, "__file__", None) or "" for name, module in [*sys.modules.items()]}


def stamp_of(file: str) -> tuple[int, int] | None:
    """Return what changes when a file is written, None when it is not there."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class Builder:
    """What sphinx-autobuild calls after each save, in a process of its own.

    address: of the process that builds.   arguments: of sphinx-build.   uri: where the pages are shown.
    before, after: commands to run around each build, of --pre-build and --post-build.
    """

    def __init__(
        self, address: str, arguments: Sequence[str], uri: str, before: Commands = (), after: Commands = ()
    ) -> None:
        self.address, self.arguments, self.uri = address, list(arguments), uri
        self.before, self.after = before, after

    def __call__(self, *, changed_paths: Sequence[Path]) -> None:
        """Build, and say what for."""
        if changed_paths:
            names = [os.path.relpath(path) for path in changed_paths[:MOST_SHOWN]]
            print(f"changed: {', '.join(names)}", flush=True)
        if run(self.before) or ask(self.address, self.arguments) or run(self.after):
            print("not all is right: mend what is said above, and save", flush=True)
        print(f"the book is at {self.uri}", flush=True)


def run(commands: Commands) -> int:
    """Run commands until one fails; return its exit status, 0 when none does."""
    return next(filter(None, (subprocess.run(command, check=False).returncode for command in commands)), 0)


def ask(address: str, arguments: list[str]) -> int:
    """Have the waiting process build; without one, start an interpreter.  Returns the exit status."""
    try:
        connection = Client(address)
    except OSError:
        return build_anew(arguments)[0]
    try:
        with connection:
            connection.send(arguments)
            return int(connection.recv())
    except (OSError, EOFError):  # it was stopped while it built
        return 1


def serve(address: str) -> None:
    """Build whenever somebody asks, each time in a fork of this process."""
    die_with_parent()
    loaded = Loaded()
    modules = loaded_modules()
    try:
        with Listener(address) as listener:
            while modules:
                loaded.load(modules)
                with listener.accept() as connection:
                    arguments = connection.recv()
                    status, modules = build_in_fork(arguments) if loaded.is_fresh else build_anew(arguments)
                    connection.send(status)
    except KeyboardInterrupt:
        return
    # What is loaded here is not what stands on disk any more: begin again.
    os.execv(sys.executable, [sys.executable, "-m", "scratchbook.live", SERVE, address])


def build_in_fork(arguments: list[str]) -> tuple[int, dict[str, str]]:
    """Build in a copy of this process; return the exit status and all modules that are loaded then."""
    near, far = os.pipe()
    child = fork()
    if child == 0:
        status = 2
        die_with_parent()
        os.close(near)
        try:
            status = sphinx_build(arguments)
            with open(far, "w", encoding="utf-8") as file:
                json.dump(loaded_modules(), file)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    os.close(far)
    with open(near, encoding="utf-8") as file:
        said = file.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), json.loads(said) if said else loaded_modules()


def build_anew(arguments: list[str]) -> tuple[int, dict[str, str]]:
    """Build in a new interpreter; return the exit status and no module."""
    return subprocess.run([*SPHINX, *arguments], check=False).returncode, {}


def main(arguments: list[str]) -> None:
    """Watch, build and serve, until Ctrl-C."""
    try:
        import sphinx_autobuild.__main__ as autobuild  # type: ignore[import-untyped]
    except ImportError:
        sys.exit("sphinx-autobuild is not installed: pip install 'scratchbook[live]'")

    with tempfile.TemporaryDirectory(prefix="scratchbook-") as folder:
        address = os.path.join(folder, "builds")
        server = subprocess.Popen([sys.executable, "-m", "scratchbook.live", SERVE, address])
        while not os.path.exists(address) and server.poll() is None:
            time.sleep(0.01)

        def builder(
            arguments: list[str], *, url_host: str, pre_build_commands: Commands, post_build_commands: Commands
        ) -> Builder:
            return Builder(address, arguments, f"http://{url_host}", pre_build_commands, post_build_commands)

        autobuild.Builder = builder  # it offers no other way to put another in its place
        try:
            autobuild.main(["--re-ignore", OF_EDITORS, *arguments])
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        serve(sys.argv[2])
    else:
        main(sys.argv[1:])
