"""The store of outcomes: what makes an entry valid, and what never makes one."""

import json
import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from scratchbook.core import cache, digests
from scratchbook.core.cache import Store
from scratchbook.core.cells import (
    BranchCell,
    CellOutcome,
    Code,
    CodeCell,
    Limits,
    Outcome,
    Part,
    Session,
    State,
    Uses,
    ValueCell,
)
from scratchbook.core.errors import Mistake, Place


def code_cell(text="print(1)", line=3, **options):
    return CodeCell("live-1", Place("docs/a.md", line), Code("docs/a.md", text, (line + 1,)), **options)


def a_session(*cells, **changes):
    return replace(Session("a", cells or (code_cell(),), root="unused"), **changes)


def an_outcome(text="1\n", **uses):
    part = Part("text", {"text": text, "cut": 0})
    return Outcome({"live-1": CellOutcome("ok", (part,))}, uses=Uses(**uses), seconds=0.5)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "data.csv").write_text("1\n")
    return tmp_path


@pytest.fixture
def store(project):
    return Store(project / "build" / "store", project)


def fresh(store):
    """Return the store as the next build sees it."""
    return Store(store.folder, store.root, store.capacity_bytes)


def the_entry(store) -> Path:
    (path,) = store.folder.glob("*/*.json")
    return path


def test_what_was_kept_is_loaded(store):
    assert store.save(a_session(), an_outcome())

    assert store.load(a_session()) == an_outcome()


def test_an_unknown_session_is_a_miss(store):
    assert store.load(a_session()) is None


@pytest.mark.parametrize(
    "changed",
    [
        a_session(code_cell("print(2)")),
        a_session(code_cell(show_value=True)),
        a_session(code_cell(shown_bytes=10)),
        a_session(code_cell(captured_bytes=10)),
        a_session(code_cell(), ValueCell("value-1", Place("docs/a.md", 9), "x")),
        a_session(name="b"),
        a_session(state=State("token", "cat")),
        a_session(sources=(("scratch/m.py", b"x = 1\n"),)),
        a_session(folders=("scratch",)),
        a_session(print_options=(("precision", 3),)),
        a_session(environment=(("N", "3"),)),
        a_session(limits=Limits(shown_bytes=10)),
        a_session(preload=()),
    ],
)
def test_whatever_can_change_the_outcome_is_in_the_key(store, changed):
    store.save(a_session(), an_outcome())

    assert store.load(changed) is None


@pytest.mark.parametrize(
    "same",
    [
        a_session(code_cell(line=90)),
        a_session(code_cell(seconds=5.0)),
        a_session(root="elsewhere"),
        a_session(limits=Limits(block_seconds=1.0)),
    ],
)
def test_prose_and_time_limits_are_not_in_the_key(store, same):
    store.save(a_session(), an_outcome())

    assert store.load(same) == an_outcome()


def a_check(line, text="x = 1"):
    payload = {"line": line, "codes": [{"text": text, "numbers": [line, line + 1]}]}
    return a_session(BranchCell("check-1", Place("docs/a.md", line), "package.module:task", payload))


def test_a_check_is_stored_by_what_it_checks_and_not_by_where_that_stands(store):
    store.save(a_check(3), an_outcome())

    assert store.load(a_check(90)) == an_outcome()
    assert store.load(a_check(3, "x = 2")) is None


def test_code_that_can_see_its_line_is_stored_by_line(store):
    session = a_session(code_cell("import inspect"))
    store.save(session, an_outcome())

    assert store.load(session) is not None
    assert store.load(a_session(code_cell("import inspect", line=90))) is None


def test_code_that_calls_what_can_see_its_line_is_stored_by_line(store, project):
    path = project / "where.py"
    path.write_text("import sys\nhere = lambda: sys._getframe(1).f_lineno\n")
    outcome = an_outcome(files={"where.py": cache.file_digest(path)})
    store.save(a_session(code_cell("print(where.here())")), outcome)

    assert store.load(a_session(code_cell("print(where.here())"))) is not None
    assert store.load(a_session(code_cell("print(where.here())", line=90))) is None


def test_a_shown_file_that_can_see_its_callers_line_is_stored_by_line(store):
    sources = (("where.py", b"import sys\nhere = lambda: sys._getframe(1).f_lineno\n"),)
    store.save(a_session(sources=sources), an_outcome())

    assert store.load(a_session(sources=sources)) is not None
    assert store.load(a_session(code_cell(line=90), sources=sources)) is None


def test_a_file_that_asks_for_signatures_sees_no_line(store):
    sources = (("names.py", b"from inspect import signature\n"),)
    store.save(a_session(sources=sources), an_outcome())

    assert store.load(a_session(code_cell(line=90), sources=sources)) is not None


def test_output_that_names_the_chapter_is_stored_by_line(store):
    store.save(a_session(), an_outcome("docs/a.md:4: UserWarning: x\n"))

    assert store.load(a_session(code_cell(line=90))) is None


def test_a_changed_data_file_is_a_miss(store, project):
    store.save(a_session(), an_outcome(files={"data.csv": cache.file_digest(project / "data.csv")}))
    stamp = (project / "data.csv").stat()
    (project / "data.csv").write_text("2\n")
    os.utime(project / "data.csv", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    assert fresh(store).load(a_session()) is None


def test_a_touched_data_file_is_a_hit(store, project):
    store.save(a_session(), an_outcome(files={"data.csv": cache.file_digest(project / "data.csv")}))
    os.utime(project / "data.csv", (1, 1))

    assert fresh(store).load(a_session()) is not None


def test_a_file_that_appears_where_one_was_looked_for_is_a_miss(store, project):
    store.save(a_session(), an_outcome(absent=("helper.py",)))
    assert fresh(store).load(a_session()) is not None
    (project / "helper.py").write_text("")

    assert fresh(store).load(a_session()) is None


def test_another_name_in_a_listed_folder_is_a_miss(store, project):
    (project / "runs").mkdir()
    store.save(a_session(), an_outcome(folders={"runs": cache.folder_digest(project / "runs")}))
    (project / "runs" / "one").write_text("")

    assert fresh(store).load(a_session()) is None


def test_another_version_of_a_package_is_a_miss(store):
    store.save(a_session(), an_outcome(modules={"numpy": "0.1"}))

    assert store.load(a_session()) is None


def test_going_back_to_an_older_file_is_a_hit(store, project):
    first = cache.file_digest(project / "data.csv")
    store.save(a_session(), an_outcome("1\n", files={"data.csv": first}))
    (project / "data.csv").write_text("2\n")
    store = fresh(store)
    store.save(a_session(), an_outcome("2\n", files={"data.csv": cache.file_digest(project / "data.csv")}))
    (project / "data.csv").write_text("1\n")

    assert fresh(store).load(a_session()).cells["live-1"].part("text")["text"] == "1\n"


def test_a_failure_is_never_kept(store):
    failed = Outcome({"live-1": CellOutcome("failed", mistakes=(Mistake("run", "boom"),))})

    assert not store.save(a_session(), failed)
    assert store.load(a_session()) is None


def test_what_is_unsure_is_never_kept(store):
    assert not store.save(a_session(), an_outcome(unsure=("started a process",)))


def test_every_cut_of_an_entry_is_a_miss(store):
    store.save(a_session(), an_outcome())
    path = the_entry(store)
    whole = path.read_bytes()
    accepted = []
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        accepted += [length] if store.load(a_session()) else []

    assert accepted == []


def test_every_flipped_bit_of_an_entry_is_a_miss(store):
    store.save(a_session(), an_outcome())
    path = the_entry(store)
    whole = path.read_bytes()
    chance = random.Random(0)
    accepted = []
    for _ in range(500):
        position, bit = chance.randrange(len(whole)), chance.randrange(8)
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1 << bit]) + whole[position + 1 :])
        accepted += [position] if store.load(a_session()) else []

    assert accepted == []


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"format": ' + b"9" * 100_000 + b"}",
        b'{"format": NaN}',
        b'{"format": 1, "outcome": {"cells": {"live-1": {"status": "fine"}}}}',
        b"\x80\x04cposix\nsystem\n",
        b"",
    ],
)
def test_a_hostile_entry_is_a_miss(store, body):
    store.save(a_session(), an_outcome())
    path = the_entry(store)
    path.write_bytes(cache.hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    assert store.load(a_session()) is None


def test_an_entry_with_a_true_digest_and_a_wrong_shape_is_a_miss(store):
    store.save(a_session(), an_outcome())
    path = the_entry(store)
    entry = json.loads(path.read_bytes().partition(b"\n")[2])
    entry["outcome"] = {"cells": 3}
    cache.write_entry(path, entry)

    assert store.load(a_session()) is None


def test_a_write_that_fails_leaves_nothing_behind(store, monkeypatch):
    def refuse(*_):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(cache.os, "replace", refuse)
    with pytest.raises(OSError, match="no space left"):
        store.save(a_session(), an_outcome())

    assert list(store.folder.rglob("*.*")) == []


def test_the_oldest_entries_leave_first(store):
    for number in range(4):
        store.save(a_session(name=f"page-{number}"), an_outcome())
        os.utime(next(store._folder_of(a_session(name=f"page-{number}")).glob("*.json")), (number, number))
    length = max(path.stat().st_size for path in store.folder.glob("*/*.json"))
    Store(store.folder, store.root, capacity_bytes=2 * length).sweep()

    assert [store.load(a_session(name=f"page-{number}")) is None for number in range(4)] == [True, True, False, False]


def test_explain_names_what_changed(store, project):
    store.save(
        a_session(sources=(("scratch/m.py", b"x = 1\n"),)),
        an_outcome(files={"data.csv": cache.file_digest(project / "data.csv")}, modules={"numpy": "0.1"}),
    )
    (project / "data.csv").write_text("2\n")

    told = fresh(store).explain(a_session(code_cell("print(2)"), sources=(("scratch/m.py", b"x = 2\n"),)))

    assert told[:3] == ("cell 1 (live-1): changed", "scratch/m.py: changed", "data.csv: changed")
    assert told[3].startswith("numpy: 0.1 before, ")


def test_explain_says_that_nothing_changed(store):
    store.save(a_session(), an_outcome())

    assert store.explain(a_session()) == ("stored: nothing that it used has changed",)


def test_explain_says_that_it_never_ran(store):
    assert store.explain(a_session())[0].startswith("never stored")


def test_clear_removes_every_entry(store):
    store.save(a_session(), an_outcome())

    assert store.clear() == 1
    assert store.load(a_session()) is None


def test_code_that_was_read_with_all_around_it_is_not_read_again(tmp_path, monkeypatch):
    (tmp_path / "core" / "__pycache__").mkdir(parents=True)
    (tmp_path / "core" / "a.py").write_text("a")
    whole = digests.code_digest(str(tmp_path))
    monkeypatch.setattr(digests, "file_digest", None)

    assert digests.code_digest(str(tmp_path / "core")) != whole


def test_a_change_deep_in_a_folder_changes_the_digest_of_its_code(tmp_path):
    (tmp_path / "core").mkdir()
    found = []
    for text in ("a", "b"):
        (tmp_path / "core" / "a.py").write_text(text)
        digests.code_digest.cache_clear()
        found.append(digests.code_digest(str(tmp_path)))

    assert found[0] != found[1]
