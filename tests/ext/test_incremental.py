"""An incremental build gives what a clean build without a store gives, byte for byte, and runs what it must."""

import random
import re
import shutil
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.ext.changing_book import ChangingBook, write_book
from tests.ext.conftest import Project

# Sphinx notes in it which settings a build had, and the two builds differ in where outcomes are kept.
NOT_COMPARED = {".buildinfo"}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in NOT_COMPARED
    }


class IncrementalIsClean(RuleBasedStateMachine):
    """Edit a book again and again; after each edit build it incrementally and from nothing."""

    root: Path
    builder = "html"
    jobs = 1

    @initialize(seed=st.integers(0, 10**9))
    def start(self, seed):
        shutil.rmtree(self.root, ignore_errors=True)
        self.book = ChangingBook(random.Random(seed))
        for _ in range(4):
            self.book.add_page()
        self.stored = {}
        self.project = Project(self.root)
        self.compare(touches=False)

    @rule(number=st.integers(0, len(ChangingBook.EDITS) - 1))
    def edit(self, number):
        change = ChangingBook.EDITS[number]
        change(self.book)
        hypothesis.note(change.__name__)
        self.compare(touches=change is ChangingBook.touch)

    def compare(self, *, touches):
        write_book(self.book, self.root, touches=touches)
        incremental = self.project.build(self.builder, jobs=self.jobs)
        found = contents(Path(incremental.app.outdir))
        assert incremental.warnings == []
        assert self.sessions_run(incremental.log) == self.sessions_expected()
        clean = Project(self.root / "clean")
        shutil.rmtree(clean.root, ignore_errors=True)
        write_book(self.book, clean.root)
        wanted = contents(Path(clean.build(self.builder, scratchbook_cache=None).app.outdir))
        assert sorted(found) == sorted(wanted)
        assert [name for name in wanted if found[name] != wanted[name]] == []

    def sessions_run(self, log):
        return int(re.search(r"sessions?: (\d+) run", log)[1])

    def sessions_expected(self):
        inputs = self.book.session_inputs()
        fresh = [name for name, key in inputs.items() if key not in self.stored.get(name, [])]
        for name, key in inputs.items():
            kept = [known for known in self.stored.get(name, []) if known != key]
            self.stored[name] = [*kept, key][-8:]
        return len(fresh)


def run_machine(root, *, examples, steps, builder="html", jobs=1):
    machine = type("Machine", (IncrementalIsClean,), {"root": root, "builder": builder, "jobs": jobs})
    settings = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate],
    )
    hypothesis.stateful.run_state_machine_as_test(machine, settings=settings)


def test_thirty_edits_leave_no_byte_behind(tmp_path):
    run_machine(tmp_path / "book", examples=2, steps=15)


@pytest.mark.parametrize(("builder", "jobs"), [("dirhtml", 2), ("latex", 1)])
def test_so_do_other_builders(tmp_path, builder, jobs):
    run_machine(tmp_path / "book", examples=1, steps=6, builder=builder, jobs=jobs)


@pytest.mark.soak
@pytest.mark.parametrize("builder", ["html", "dirhtml", "text"])
def test_a_thousand_edits_leave_no_byte_behind(tmp_path, builder):
    run_machine(tmp_path / "book", examples=17, steps=20, builder=builder)
