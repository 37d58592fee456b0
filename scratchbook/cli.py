"""The command `scratchbook`: begin a book, and ask about the outcomes of one.  Reads chapters as a build does."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from scratchbook.ext.book import Book

Item = TypeVar("Item")
Command = Callable[["Book", argparse.Namespace], int]
NARROW: Final = 80  # columns of a terminal that does not say how many it has


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 when all is well, 1 when not, 2 when it was asked wrongly."""
    parser = make_parser()
    asked = parser.parse_args(arguments)
    if "folder" in asked:
        return run_new(asked.folder)
    conf, source = Path(asked.conf).resolve(), Path(asked.source or default_source(asked.conf)).resolve()
    if not (conf / "conf.py").is_file():
        parser.error(f"there is no conf.py in {asked.conf}; say where it is with --conf")
    if not source.is_dir():
        parser.error(f"there is no folder {source}; say where the chapters are with --source")
    from scratchbook.ext.book import BookError, open_book  # Sphinx takes half a second: not for --help

    try:
        execute = getattr(asked, "execute", "never")
        builder = getattr(asked, "builder", "dummy")
        build = Path(asked.build or default_build(asked.conf)).resolve()
        with open_book(conf, source, build, execute, reader=builder, builder=builder) as book:
            run: Command = asked.run
            return run(book, asked)
    except BookError as error:
        print(f"scratchbook: {error}", file=sys.stderr)
        return 2


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="scratchbook", description="Begin a book, and ask about its outcomes.")
    places = argparse.ArgumentParser(add_help=False)
    places.add_argument("--conf", default=".", metavar="DIR", help="the folder of conf.py (default: this one)")
    places.add_argument(
        "--source", metavar="DIR", help="the folder of the chapters (default: docs, else that of conf.py)"
    )
    places.add_argument(
        "--build", metavar="DIR", help="the folder of what is built, or one output folder (default: build, else _build)"
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(
        name: str, purpose: str, more: str = "", parents: Sequence[argparse.ArgumentParser] = (places,)
    ) -> argparse.ArgumentParser:
        said = f"{purpose[0].upper()}{purpose[1:]}.{more}"
        return commands.add_parser(name, parents=parents, help=purpose, description=said)

    new = add("new", "write the three files of a first book", parents=())
    new.add_argument("folder", type=Path, metavar="FOLDER", help="where, such as my-book")

    cache = add("cache", "ask the store of outcomes")
    what = cache.add_mutually_exclusive_group(required=True)
    what.add_argument("--explain", metavar="PAGE", help="say why a page must run, or that it need not")
    what.add_argument("--verify", action="store_true", help="run every stored page again and compare")
    what.add_argument("--clear", action="store_true", help="forget every outcome")
    cache.set_defaults(run=ask_cache)

    twice = add("twice", "run every page in two processes and compare")
    twice.add_argument("pages", nargs="*", metavar="PAGE", help="only these pages")
    twice.set_defaults(run=run_twice)

    review = add(
        "review",
        "show every outcome that differs from the accepted one, and accept or refuse it",
        "  Without a terminal it shows the differences, and its exit status is 1 if there are any.",
    )
    review.add_argument("pages", nargs="*", metavar="PAGE", help="only these pages")
    how = review.add_mutually_exclusive_group()
    how.add_argument("--accept", action="store_true", help="accept everything without asking; never in CI")
    how.add_argument("--refresh", action="store_true", help="run the frozen blocks and store what they give; not in CI")
    review.set_defaults(run=run_review, execute="run")

    mutate = add(
        "mutate", "change every equation and its code in small ways, and count which changes the checks notice"
    )
    mutate.add_argument("pages", nargs="*", metavar="PAGE", help="only these pages")
    mutate.add_argument("--equivalents", type=Path, metavar="FILE", help="changes that change no value, with reasons")
    mutate.set_defaults(run=run_mutate)

    doctest = add("doctest", "run the doctest blocks, the examples in docstrings and the checks of all equations")
    doctest.set_defaults(run=run_doctest, execute="run", builder="doctest")
    return parser


def run_new(folder: Path) -> int:
    """Write a first book and say how it is built."""
    from scratchbook.beginning import begin_book

    try:
        names = begin_book(folder)
    except OSError as error:
        print(f"scratchbook: {error}", file=sys.stderr)
        return 2
    print(f"wrote {', '.join(names)}; build the book in {folder} with")
    print("    python -m sphinx --conf-dir . docs build/html")
    return 0


def default_source(conf: str) -> str:
    """Return `docs` below the folder of conf.py when there is one, else that folder."""
    docs = Path(conf) / "docs"
    return str(docs if docs.is_dir() else conf)


def default_build(conf: str) -> str:
    """Return the first folder of what is built that is there, below that of conf.py; `build` before the first build."""
    names = [Path(conf) / name for name in ("build", "_build", "docs/_build")]
    return str(next((path for path in names if path.is_dir()), names[0]))


def ask_cache(book: Book, asked: argparse.Namespace) -> int:
    """Answer one question about the store."""
    if asked.clear:
        print(f"{count(book.store.clear(), 'outcome')} forgotten")
        return 0
    if asked.verify:
        return verify(book)
    book.read()
    for job in book.jobs([asked.explain]):
        print(f"{job.key}:")
        for line in book.store_of(job).explain(job.session):
            print(f"    {line}")
    if not book.store.folder.is_dir():
        print(f"scratchbook: nothing is stored in {book.store.folder.parent}; say with --build where", file=sys.stderr)
    return 0


def verify(book: Book) -> int:
    """Run every stored page again; tell each difference."""
    book.read()
    jobs = list(book.jobs())
    stored = [(job, outcome) for job in jobs if (outcome := book.store_of(job).load(job.session)) is not None]
    if missing := len(jobs) - len(stored):
        print(f"{count(missing, 'page')} without a stored outcome that is up to date; a build makes it")
    told = 0
    with book.server() as server:
        for job, outcome in progress(stored, lambda item: item[0].key):
            for line in book.differences(job, outcome, server.run(job.session)):
                print(line)
                told += 1
    print(f"{count(len(stored), 'stored outcome')} compared, {count(told, 'difference')}")
    return 1 if told else 0


def run_twice(book: Book, asked: argparse.Namespace) -> int:
    """Run pages in two processes with different hash seeds; tell each line that differs."""
    book.read()
    jobs = list(book.jobs(asked.pages))
    told = 0
    with book.server() as first, book.server(hash_seed=1) as second:
        for job in progress(jobs, lambda job: job.key):
            for line in book.differences(job, first.run(job.session), second.run(job.session)):
                print(line)
                told += 1
    print(f"{count(len(jobs), 'session')} run twice, {count(told, 'difference')}")
    return 1 if told else 0


def run_review(book: Book, asked: argparse.Namespace) -> int:
    """Go through what differs from the accepted outcomes."""
    from scratchbook.review import Review

    with status("running the code of the chapters..."):
        book.read()
    review = Review(book, asked.accept, can_ask=sys.stdin.isatty() and not asked.accept)
    return review.refresh(asked.pages) if asked.refresh else review.run(asked.pages)


def run_mutate(book: Book, asked: argparse.Namespace) -> int:
    """Show that the checks can fail."""
    from scratchbook.mutation import prove, read_equivalents

    equivalents = read_equivalents(asked.equivalents)
    book.read()
    with book.server() as server:
        proof = prove(book, asked.pages, equivalents, server)
    for line in proof.lines():
        print(line)
    return 0 if proof.holds else 1


def run_doctest(book: Book, asked: argparse.Namespace) -> int:
    """Run everything that says of itself what it must give; close with one line about the equations."""
    from scratchbook.ext.checked import closing_line
    from scratchbook.ext.domain import domain_of

    book.read()
    print(book.messages, end="")
    status = book.app.statuscode
    blocks = Path(book.app.outdir) / "output.txt"
    if blocks.is_file():
        print(blocks.read_text(encoding="utf-8").split("Doctest summary")[-1].strip("= \n") or "no doctest blocks")
    files = list(book.source_files())
    failed = [path for path in files if not examples_hold(path)]
    print(f"{count(len(files), 'file')} with docstrings: {len(files) - len(failed)} hold, {len(failed)} failed")
    print(closing_line(domain_of(book.app.env)))
    return 1 if status or failed else 0


def examples_hold(path: Path) -> bool:
    """Run the examples in a file's docstrings in a process of their own; print what fails."""
    environment = {**os.environ, "PYTHONPATH": str(path.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "doctest", path.name]
    done = subprocess.run(command, cwd=path.parent, env=environment, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr, end="")
    return done.returncode == 0


def count(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{'s' * (number != 1)}"


def progress(items: Sequence[Item], name: Callable[[Item], str]) -> Iterator[Item]:
    """Go through items and show on a terminal which one is at work."""
    for number, item in enumerate(items, 1):
        with status(f"{number} of {len(items)}: {name(item)}"):
            yield item


@contextmanager
def status(text: str) -> Iterator[None]:
    """Show a line on a terminal while something lasts; elsewhere show nothing."""
    if not sys.stderr.isatty():
        yield
        return
    width = (os.get_terminal_size(sys.stderr.fileno()).columns or NARROW) - 1
    print(f"\r{text[:width]:<{width}}", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print(f"\r{'':<{width}}\r", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
