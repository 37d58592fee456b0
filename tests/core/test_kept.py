"""Text that could be made again: what is kept comes back whole, and nothing that goes wrong is more than a miss."""

import contextlib
import gc
import itertools
import multiprocessing
import os
import random
import sqlite3
import time
from pathlib import Path

import pytest

from scratchbook.core.kept import Kept, key_of


@pytest.fixture
def kept(tmp_path):
    kept = Kept(tmp_path / "folder" / "kept.sqlite")
    yield kept
    kept.close()


def test_what_is_kept_comes_back(kept):
    kept.put("a", b"one")

    assert kept.get("a") == b"one"


def test_what_was_never_kept_is_a_miss(kept):
    assert kept.get("a") is None


def test_the_next_build_finds_it(kept):
    kept.put("a", b"one")
    kept.close()

    with contextlib.closing(Kept(kept.path)) as again:
        assert again.get("a") == b"one"


def test_a_later_value_replaces_an_earlier_one(kept):
    kept.put("a", b"one")
    kept.put("a", b"two")

    assert kept.get("a") == b"two"


def test_a_damaged_value_is_a_miss(kept):
    kept.put("a", b"one")
    with sqlite3.connect(kept.path) as connection:
        connection.execute("update kept set value = ?", (b"onf",))
    connection.close()

    assert kept.get("a") is None


def test_a_damaged_file_begins_anew(kept):
    kept.path.parent.mkdir()
    kept.path.write_bytes(b"no database" * 1000)
    kept.put("a", b"one")

    assert kept.get("a") == b"one"


def damage(kept, chance):
    """Flip some bytes behind the first hundred, which name the format."""
    content = bytearray(kept.path.read_bytes())
    for _ in range(20):
        content[chance.randrange(100, len(content))] ^= 1 << chance.randrange(8)
    kept.path.write_bytes(content)


def test_flipped_bits_are_misses_and_do_not_last(kept):
    chance, served = random.Random(0), set()
    for _ in range(15):
        for number in range(100):
            kept.put(str(number), b"x" * 200 + str(number).encode())
        kept.close()
        damage(kept, chance)
        served |= {(n, kept.get(str(n))) for n in range(100)}
        kept.put("after", b"damage")
        served.add(("after", kept.get("after")))

    wrong = {(n, value) for n, value in served if value not in (None, b"damage", b"x" * 200 + str(n).encode())}
    assert wrong == set()
    assert ("after", None) not in served


def test_a_folder_that_cannot_be_made_is_a_miss(tmp_path):
    (tmp_path / "file").write_text("")
    kept = Kept(tmp_path / "file" / "kept.sqlite")
    kept.put("a", b"one")

    assert kept.get("a") is None


def keep_many(path, start):
    kept = Kept(path)
    for number in range(start, start + 100):
        kept.put(str(number), str(number).encode())
    kept.close()


def test_several_processes_write_at_once(kept):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=keep_many, args=(kept.path, 100 * number)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert [kept.get(str(number)) for number in range(400)] == [str(number).encode() for number in range(400)]


def write_for_ever(path):
    kept = Kept(path)
    for number in itertools.count():
        kept.put(str(number % 50), str(number % 50).encode() * 500)


def kill_writers(kept, times):
    """Kill a process that writes without pause, at random moments; return each value that is neither whole nor none."""
    chance, wrong = random.Random(0), []
    for _ in range(times):
        writer = multiprocessing.get_context("fork").Process(target=write_for_ever, args=(kept.path,))
        writer.start()
        time.sleep(chance.random() * 0.05)
        writer.kill()
        writer.join()
        wrong += [n for n in range(50) if kept.get(str(n)) not in (None, str(n).encode() * 500)]
        kept.put("after", b"a kill")
        wrong += [] if kept.get("after") == b"a kill" else ["after"]
        kept.close()
    return wrong


def test_a_writer_that_is_killed_leaves_nothing_bad(kept):
    assert kill_writers(kept, 20) == []


@pytest.mark.soak
def test_a_writer_killed_five_hundred_times_leaves_nothing_bad(kept):
    """Takes about half a minute."""
    assert kill_writers(kept, 500) == []


def use_inherited(kept):
    kept.put("b", b"two")
    kept.close()


def test_a_forked_process_writes_beside_its_parent(kept):
    kept.put("a", b"one")
    child = multiprocessing.get_context("fork").Process(target=use_inherited, args=(kept,))
    child.start()
    child.join()

    assert child.exitcode == 0
    assert (kept.get("a"), kept.get("b")) == (b"one", b"two")


def test_no_open_file_is_inherited(kept):
    kept.put("a", b"one")
    child = os.fork()
    if child == 0:
        os._exit(any(str(kept.path) in os.readlink(path) for path in open_handles()))

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert kept.get("a") == b"one"


def open_handles():
    return [path for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]


def test_different_parts_have_different_keys():
    assert len({key_of("a", "b"), key_of("ab"), key_of("a", 1), key_of("a", "1")}) == 4


def test_a_file_that_nobody_has_any_more_is_closed(tmp_path):
    kept = Kept(tmp_path / "kept.sqlite")
    kept.put("a", b"1")
    connection = kept._connection
    del kept
    gc.collect()

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("select 1")
