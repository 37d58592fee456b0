"""Everything that this book must have stands somewhere, and the table of features says where."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.book.pages import DOCS, ROOT, anchors, read_page

TABLE = tomllib.loads((ROOT / "tests/book/features.toml").read_text("utf-8"))
FEATURES = {key: row for section in TABLE.values() for key, row in section.items()}
COUNTS = {"A": 20, "B": 19, "C": 7, "D": 8, "E": 11, "F": 16, "G": 14, "H": 9, "I": 8}
EXPECTED = [f"{letter}{number}" for letter, count in COUNTS.items() for number in range(1, count + 1)]
PROOFS = [(key, proof) for key, row in FEATURES.items() for proof in row["at"]]


def is_there(proof: str) -> bool:
    """Look a proof up: an anchor of a page, or a text in a file."""
    place, _, what = proof.partition("#")
    if "." not in place and "/" not in place and (DOCS / f"{place}.md").exists():
        return what in anchors(read_page(place))
    file = ROOT / place
    return file.is_file() and bool(what) and what in file.read_text("utf-8")


def test_no_feature_is_left_out():
    assert sorted(FEATURES) == sorted(EXPECTED)


@pytest.mark.parametrize("key", FEATURES)
def test_every_feature_has_a_proof(key):
    assert FEATURES[key]["at"]


@pytest.mark.parametrize(("key", "proof"), PROOFS, ids=[f"{key}-{proof}" for key, proof in PROOFS])
def test_the_proof_is_there(key, proof):
    assert is_there(proof)


def test_a_proof_that_is_not_there_is_found_out():
    assert not is_there("transformer-block#sec-of-nothing")
    assert not is_there("docs/transformer-block.md#words that no chapter has")
    assert not is_there("no-such-page#sec-block")


def test_a_proof_is_no_vague_word():
    assert [proof for _, proof in PROOFS if not re.search(r"#.{3,}", proof)] == []
