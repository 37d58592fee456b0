"""Bytes become text, or one message at the line of the byte that does not fit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scratchbook.core.errors import Mistake, Place
from scratchbook.core.sources import SourceError, missing_file, read_text


def mistake_of(data: bytes, path: str = "scratch/latin.py") -> Mistake:
    with pytest.raises(SourceError) as caught:
        read_text(data, path)
    return caught.value.mistake


def test_a_byte_order_mark_is_dropped():
    assert read_text(b"\xef\xbb\xbf# tag::t[]\n", "m.py") == "# tag::t[]\n"


def test_every_line_end_becomes_a_line_feed():
    assert read_text(b"a\r\nb\rc\n\rd", "m.txt") == "a\nb\nc\n\nd"


def test_a_form_feed_ends_no_line():
    assert read_text(b"a\x0cb\xe2\x80\xa8c\n", "m.txt").count("\n") == 1


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff")))
def test_text_with_line_feeds_is_read_as_it_is(text: str):
    assert read_text(text.encode(), "m.txt") == text


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("before", [b"", b"#!/usr/bin/env python"])
def test_a_coding_comment_is_honoured(before: bytes, end: bytes):
    data = end.join([before, b"# -*- coding: latin-1-unix -*-", b"name = '\xe9'", b""])

    assert "name = '\xe9'\n" in read_text(data, "latin.py")


def test_a_coding_comment_after_code_is_none():
    found = mistake_of(b"x = 1\n# coding: latin-1\nname = '\xe9'\n")

    assert found.place == Place("scratch/latin.py", 3)


def test_a_coding_comment_counts_in_python_only():
    found = mistake_of(b"# coding: latin-1\n\xe9\n", "notes.txt")

    assert found == Mistake(
        "source", "notes.txt is not UTF-8: byte 0xe9 at offset 18; save it as UTF-8", Place("notes.txt", 2)
    )


def test_a_byte_that_is_not_utf_8_is_named_with_its_line():
    found = mistake_of(b"x = 1\nname = '\xe9'\n")

    assert found.text == (
        "scratch/latin.py is not UTF-8: byte 0xe9 at offset 14; "
        "save it as UTF-8 or name its encoding in a coding comment"
    )
    assert found.place == Place("scratch/latin.py", 2)


def test_the_offset_counts_the_byte_order_mark():
    assert "offset 3;" in mistake_of(b"\xef\xbb\xbf\xe9").text


def test_a_byte_outside_its_named_encoding_is_named():
    found = mistake_of(b"# coding: ascii\n\n\xe9\n")

    assert found.text == "scratch/latin.py is not ASCII: byte 0xe9 at offset 17; save it as UTF-8"
    assert found.place == Place("scratch/latin.py", 3)


def test_utf_16_is_recognised():
    assert "it looks like UTF-16; save it as UTF-8" in mistake_of("x = 1\n".encode("utf-16")).text


@pytest.mark.parametrize("name", ["latn-1", "rot13", "hex"])
def test_an_encoding_that_is_none_is_named(name: str):
    found = mistake_of(f"#!python\n# coding: {name}\n".encode())

    assert found.text == f"scratch/latin.py names the encoding '{name}', which is unknown; save it as UTF-8"
    assert found.place == Place("scratch/latin.py", 2)


def test_a_byte_order_mark_and_another_encoding_contradict_each_other():
    found = mistake_of(b"\xef\xbb\xbf# coding: latin-1\n")

    assert found.text == (
        "scratch/latin.py names the encoding 'latin-1' after a UTF-8 byte order mark; take one of them out"
    )
    assert found.place == Place("scratch/latin.py", 1)


def test_a_byte_order_mark_and_utf_8_agree():
    assert read_text(b"\xef\xbb\xbf# coding: utf8\n", "m.py") == "# coding: utf8\n"


def test_a_zero_byte_is_not_text():
    found = mistake_of(b"x\ny\0\n", "data.npy")

    assert found == Mistake("source", "data.npy is not text: byte 0x00 at offset 3", Place("data.npy", 2))


def test_a_file_that_is_not_there_is_said_with_where_it_was_looked_for():
    found = missing_file("m.py", ("scratch/m.py", "docs/m.py"))

    assert found == (Mistake("source", "no file 'm.py'; looked for scratch/m.py and docs/m.py"),)


def test_an_optional_file_may_be_missing():
    assert missing_file("m.py", ("scratch/m.py",), optional=True) == ()
