"""Sessions and outcomes as JSON: what goes out comes back, and what is damaged is noticed."""

import json

import pytest

from scratchbook.core.cells import CellOutcome, Outcome, Part, Session, State, Uses
from scratchbook.core.errors import Mistake, Place
from scratchbook.core.records import RecordError, dump, from_json, load, to_json
from tests.core.pages import block, branch, claim, shown, value

SESSION = Session(
    "page",
    (shown("a.py", "x"), block("print(1)", wants="table"), value("x:.2f"), claim("x"), branch("a:b", k=[1, None])),
    "/root",
    State("word", "cat"),
    (("scratch/a.py", b"\xff\x00"),),
    print_options=(("precision", 4),),
)
OUTCOME = Outcome(
    {"block-1": CellOutcome("ok", (Part("text", {"text": "é", "cut": 0}),), (Mistake("run", "no", Place("a.md", 3)),))},
    (Mistake("run", "broken"),),
    Uses({"a.csv": "1f"}, ("b.py",), {"data": "2e"}, {"numpy": "2.4"}, ("starts a process",)),
    ("the network",),
    0.25,
)


def test_a_session_comes_back_whole():
    assert load(Session, dump(SESSION)) == SESSION


def test_an_outcome_comes_back_whole():
    assert load(Outcome, dump(OUTCOME)) == OUTCOME


def test_equal_records_are_equal_bytes_on_one_line():
    assert dump(SESSION) == dump(load(Session, dump(SESSION)))
    assert b"\n" not in dump(SESSION)


@pytest.mark.parametrize(
    "damage",
    [
        {"cells": 3},
        {"cells": {"a": {"status": "perhaps", "parts": [], "mistakes": []}}},
        {"uses": None},
        {"seconds": "0.1"},
        {"surprise": 1},
        {"mistakes": [{"kind": "run"}]},
    ],
)
def test_a_damaged_record_is_noticed(damage):
    with pytest.raises(RecordError):
        from_json(Outcome, to_json(OUTCOME) | damage)


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"null", b"[" * 100_000, json.dumps({"sources": [["a", "*"]]}).encode()]
)
def test_what_is_no_record_is_noticed(line):
    with pytest.raises(RecordError):
        load(Session, line)
