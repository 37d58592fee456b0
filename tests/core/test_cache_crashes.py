"""The store under kills, full disks and many hands: a whole outcome or a miss, and never a build lost."""

import contextlib
import errno
import os
import random
import signal
import sys
import time
from multiprocessing import get_context
from pathlib import Path

import pytest

from scratchbook.core import cache
from scratchbook.core.cache import Store
from scratchbook.core.cells import CellOutcome, Code, CodeCell, Outcome, Part, Session, Uses
from scratchbook.core.errors import Place

SESSION = Session("a", (CodeCell("live-1", Place("docs/a.md", 3), Code("docs/a.md", "print(1)", (4,))),), root="unused")
WATCHED = {cache.__file__, os.path.join(os.path.dirname(os.__file__), "tempfile.py")}


def an_outcome(number=0, length=2000):
    """Any of many outcomes that one session might give; each line of it says which."""
    text = f"{number}\n" * length
    return Outcome({"live-1": CellOutcome("ok", (Part("text", {"text": text, "cut": 0}),))}, uses=Uses())


def is_whole(outcome):
    lines = outcome.cells["live-1"].part("text")["text"].splitlines()
    return outcome.cells == an_outcome(int(lines[0]), len(lines)).cells


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", tmp_path)


def fresh(store):
    return Store(store.folder, store.root)


def at_step(number, act, work):
    """Do some work and act at the n-th line that it executes in the store; return how many lines there were."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        if frame.f_code.co_filename not in WATCHED:
            return None
        if event == "line":
            count += 1
            if count == number:
                act()
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return count


def killed(work):
    """Do some work in a process that may kill itself."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at_steps(store, every):
    """Kill a process at the n-th step of a store, again and again; return the steps after which something is wrong."""
    cache.code_digest(cache.CORE), cache.system(), cache.processor()
    steps = at_step(0, None, lambda: store.save(SESSION, an_outcome()))
    store.clear()
    wrong = []
    for number in range(1, steps + 1, every):
        killed(lambda: at_step(number, die, lambda: fresh(store).save(SESSION, an_outcome(number))))  # noqa: B023
        loaded = fresh(store).load(SESSION)
        if loaded is not None and not is_whole(loaded):
            wrong.append(number)
        store.save(SESSION, an_outcome(7))
        if fresh(store).load(SESSION) != an_outcome(7):
            wrong.append(number)
    assert steps > 100
    return wrong


def test_a_kill_at_any_tenth_step_of_a_store_leaves_a_whole_entry_or_none(store):
    assert kill_at_steps(store, every=10) == []


@pytest.mark.soak
def test_a_kill_at_any_step_of_a_store_leaves_a_whole_entry_or_none(store):
    """Takes about ten seconds."""
    assert kill_at_steps(store, every=1) == []


def kill_writers(store, times):
    """Kill a process that writes without pause, at random moments; return how often something bad was read."""
    chance = random.Random(0)
    bad = 0
    for _ in range(times):
        child = os.fork()
        if child == 0:
            for number in range(10**9):
                fresh(store).save(SESSION, an_outcome(number, length=20_000))
        time.sleep(chance.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        loaded = fresh(store).load(SESSION)
        bad += loaded is not None and not is_whole(loaded)
    return bad


def test_a_writer_killed_at_fifty_random_moments_leaves_nothing_bad(store):
    assert kill_writers(store, 50) == 0
    assert fresh(store).load(SESSION) is not None


@pytest.mark.soak
def test_a_writer_killed_at_five_hundred_random_moments_leaves_nothing_bad(store):
    """Takes about half a minute."""
    assert kill_writers(store, 500) == 0


def test_what_killed_writers_left_is_swept_once_it_is_old(store):
    kill_at_steps(store, every=5)
    left = list(store.folder.rglob("*.tmp"))
    for path in left:
        os.utime(path, (1, 1))
    store.sweep()

    assert left
    assert list(store.folder.rglob("*.tmp")) == []


def fail_at_steps(store, code, every):
    """Let the system fail at the n-th step of a store; return the steps after which something bad was read."""
    steps = at_step(0, None, lambda: store.save(SESSION, an_outcome()))
    wrong = []

    def fail():
        raise OSError(code, os.strerror(code))

    for number in range(1, steps + 1, every):
        with contextlib.suppress(OSError):
            at_step(number, fail, lambda: fresh(store).save(SESSION, an_outcome(number)))  # noqa: B023
        loaded = fresh(store).load(SESSION)
        if loaded is None or not is_whole(loaded):
            wrong.append(number)
    return wrong


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_system_that_fails_at_any_fifth_step_of_a_store_leaves_what_was_stored(store, code):
    assert fail_at_steps(store, code, every=5) == []


# The system never fails between opening a file and its `with`, but this test does.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.soak
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_system_that_fails_at_any_step_of_a_store_leaves_what_was_stored(store, code):
    """Takes about five seconds."""
    assert fail_at_steps(store, code, every=1) == []


def test_a_disk_that_cannot_be_read_is_a_miss(store, monkeypatch):
    store.save(SESSION, an_outcome())

    def fail(path):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "read_bytes", fail)
    assert fresh(store).load(SESSION) is None


@pytest.mark.soak
def test_ten_thousand_flipped_bits_are_ten_thousand_misses(store):
    """Takes about ten seconds."""
    store.save(SESSION, an_outcome())
    (path,) = store.folder.glob("*/*.json")
    whole, chance, accepted = path.read_bytes(), random.Random(1), []
    for _ in range(10_000):
        position, bit = chance.randrange(len(whole)), chance.randrange(8)
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1 << bit]) + whole[position + 1 :])
        accepted += [position] if cache.read_entry(path) else []

    assert accepted == []


def work_on(folder, root, number, bad):
    """Write and read one entry for a while, as one of many builds."""
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        store = Store(folder, root)
        store.save(SESSION, an_outcome(number, 5000))
        loaded = store.load(SESSION)
        if loaded is None or not is_whole(loaded):
            bad.value += 1
        store.sweep()


def test_eight_builds_share_one_store(store):
    context = get_context("fork")
    bad = context.Value("i", 0)
    workers = [context.Process(target=work_on, args=(store.folder, store.root, number, bad)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert bad.value == 0
    assert [worker.exitcode for worker in workers] == [0] * 8
