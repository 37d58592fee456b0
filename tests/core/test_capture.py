"""Marks in a stream: pieces of output stay apart however the stream is cut on its way."""

import os

import pytest

from scratchbook.core.capture import Marker, Splitter

TOKEN = "0123456789abcdef" * 2


@pytest.fixture
def stream():
    """A pipe, and a marker that writes into it."""
    near, far = os.pipe()
    yield near, far, Marker(far, TOKEN)
    os.close(near)
    os.close(far)


def written(stream):
    near, far, marker = stream
    os.write(far, b"early")
    first = marker.mark()
    os.write(far, b"one\x1f")
    second = marker.mark()
    os.write(far, b"two")
    return first, second, os.read(near, 1000)


@pytest.mark.parametrize("size", [1, 2, 7, 41, 42, 43, 1000])
def test_output_is_split_at_marks_however_it_arrives(stream, size):
    first, second, data = written(stream)
    splitter = Splitter(TOKEN)
    for start in range(0, len(data), size):
        splitter.feed(data[start : start + size])
    splitter.finish()

    assert splitter.pieces == {0: b"early", first: b"one\x1f", second: b"two"}


def test_spans_are_joined_in_order_and_no_piece_twice(stream):
    first, second, data = written(stream)
    splitter = Splitter(TOKEN)
    splitter.feed(data)

    assert splitter.join([(second, second + 1), (first, second + 1)]) == b"one\x1ftwo"


def test_the_size_since_a_mark_counts_all_later_output(stream):
    first, second, data = written(stream)
    splitter = Splitter(TOKEN)
    splitter.feed(data)

    assert (splitter.size_since(first), splitter.size_since(second)) == (7, 3)


def test_what_looks_like_a_mark_but_has_another_token_is_output():
    splitter = Splitter(TOKEN)
    fake = b"\x1f" + b"f" * 32 + b"00000001\x1f"
    splitter.feed(fake + b"x" * 50)

    assert splitter.pieces == {0: fake + b"x" * 50}
