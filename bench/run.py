"""Build one generated book with ours and with other systems, check every output, and compare what it took.

    python bench/run.py [--sizes 10x5 40x10] [--rounds 3] [--systems ours execcode ...] [--jobs 1] [--memory] [--write]

The systems take turns within a round.  A ratio is what a system took over the *limit* of the same round and scenario:
a static Sphinx build of the same pages plus one plain run of their code (without a change: the static build alone).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import books
from bench.books import Book, Files, write_files
from bench.check import Verdict, check
from bench.measure import Cost, measure
from bench.report import print_table, write_report

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "bench"
SPHINX = ("-m", "sphinx", "-q", "-b", "html", "-d", "built/doctrees", ".", "built/html")
RUN_ALL = "import glob\nfor name in sorted(glob.glob('listings/*')): exec(compile(open(name).read(), name, 'exec'), {})"


@dataclass(frozen=True)
class System:
    """One system: how its book is written, what it is built with, by which arguments of Python, and into what.

    packages: what pip installs into its environment; ours is installed from this folder.
    """

    write: Callable[[Book], Files]
    packages: tuple[str, ...]
    arguments: tuple[str, ...] = SPHINX
    output: str = "built/html"


STATIC = ("sphinx", "myst-parser", "sphinxcontrib-bibtex", "numpy")
SYSTEMS = {
    "floor": System(books.floor, STATIC),
    "raw": System(books.raw, STATIC, ("-c", RUN_ALL)),
    "ours": System(books.ours, ("scratchbook",)),
    "execcode": System(books.execcode, (*STATIC, "sphinx-exec-code")),
    "mystnb-force": System(books.mystnb("force"), ("sphinx", "myst-nb", "sphinxcontrib-bibtex", "numpy")),
    "mystnb-cache": System(books.mystnb("cache"), ("sphinx", "myst-nb", "sphinxcontrib-bibtex", "numpy")),
    "jupyter-sphinx": System(books.jupyter, (*STATIC, "jupyter-sphinx", "ipykernel")),
    "mkdocs": System(
        books.mkdocs,
        ("mkdocs", "markdown-exec[ansi]", "mkdocs-bibtex", "pymdown-extensions", "numpy"),
        ("-m", "mkdocs", "build", "-q", "-d", "built/html"),
    ),
}
QUICK = ("ours", "mkdocs")  # for large books: the others take minutes
SCENARIOS: dict[str, dict[str, int]] = {
    "cold": {},
    "no change": {},
    "one block edited": {"block_revision": 1},
    "one function edited": {"module_revision": 1},
    "one sentence edited": {"prose_revision": 1},
}


@dataclass(frozen=True)
class Record:
    """One run of one system in one scenario."""

    size: str
    jobs: int
    round: int
    system: str
    scenario: str
    cost: Cost
    verdict: Verdict


def python_of(system: System, folder: Path) -> str:
    """Return the interpreter of a system, in an environment that is made when it is not there."""
    name = "-".join(sorted(package.partition("[")[0] for package in system.packages))
    environment = folder / "environments" / name
    if not (environment / "ready").exists():
        print(f"installing {', '.join(system.packages)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        packages = ["--editable", str(ROOT)] if system.packages == ("scratchbook",) else system.packages
        subprocess.run([*pip, "--constraint", ROOT / "constraints.txt", *packages], check=True)
        (environment / "ready").touch()
    return str(environment / "bin" / "python")


def run_system(name: str, size: str, jobs: int, number: int, *, samples_memory: bool) -> list[Record]:
    """Take one system through all scenarios."""
    system, folder = SYSTEMS[name], PLACE / "books" / name
    shutil.rmtree(folder, ignore_errors=True)
    book = Book(*map(int, size.split("x")))
    arguments = system.arguments + (("-j", str(jobs)) if jobs > 1 and "sphinx" in system.arguments else ())
    command = [python_of(system, PLACE), *arguments]
    records, before = [], book.outputs
    for scenario, revision in SCENARIOS.items():
        book = replace(book, **revision)
        write_files(system.write(book), folder)
        cost = measure(command, folder, samples_memory=samples_memory and scenario == "cold")
        if cost.status:
            raise SystemExit(f"{name} failed in '{scenario}':\n{cost.said}")
        verdict = Verdict() if name == "raw" else check(folder / system.output, book.outputs, before)
        records.append(Record(size, jobs, number, name, scenario, replace(cost, said=""), verdict))
        before = book.outputs
        if name == "raw":
            break
    return records


def run_size(size: str, names: list[str], rounds: int, jobs: int, *, samples_memory: bool) -> list[Record]:
    """Let the systems take turns."""
    records: list[Record] = []
    for number in range(rounds):
        for name in dict.fromkeys(["floor", "raw", *names]):
            print(f"\r{size}: round {number + 1} of {rounds}, {name:<20}", end="", file=sys.stderr, flush=True)
            records += run_system(name, size, jobs, number, samples_memory=samples_memory)
    print(file=sys.stderr)
    return records


def main() -> None:
    """Measure what was asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", nargs="+", default=["10x5", "40x10"], metavar="PAGESxBLOCKS")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=[*SYSTEMS], metavar="SYSTEM")
    parser.add_argument("--jobs", type=int, default=1, help="processes that Sphinx may use")
    parser.add_argument("--peers-up-to", type=int, default=40, metavar="PAGES", help="only quick systems build more")
    parser.add_argument("--memory", action="store_true", help="sample memory too, which takes time of its own")
    parser.add_argument("--write", action="store_true", help="write the table and the plot that the guide shows")
    asked = parser.parse_args()
    PLACE.mkdir(parents=True, exist_ok=True)
    records = []
    for size in asked.sizes:
        names = [name for name in asked.systems if int(size.partition("x")[0]) <= asked.peers_up_to or name in QUICK]
        records += run_size(size, names, asked.rounds, asked.jobs, samples_memory=asked.memory)
        print_table([record for record in records if record.size == size])
    (PLACE / "records.json").write_text(json.dumps([asdict(record) for record in records], indent=1))
    if asked.write:
        write_report(records)


if __name__ == "__main__":
    main()
