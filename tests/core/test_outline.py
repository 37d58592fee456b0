"""What a file offers, from its text alone."""

import pytest

from scratchbook.core.errors import ScratchbookError
from scratchbook.core.outline import Remark, read_outline

CODE = '''"""Norms.  Knows no model.

Forward and backward.
"""

from typing import NamedTuple


class Trace(NamedTuple):
    """Every array of one norm."""

    x: object  # [..., d]
    result: object
    epsilon: float = 1e-5  # no unit


@cache
def rms(x, gain: object = None, *rest, epsilon=1e-5, **settings) -> object:
    """Bring a row to size
    one.

    A longer row comes out the same.

    x: [..., d]   gain: [d]
    -> [..., d]
    Raises ValueError if x is
    empty.
    Source: zhang2019root, eq. 4;
    ba2016layer.
    """


def _hidden():
    """Is nobody's business."""


class Cache:
    """Keep rows.

    size: rows, at most   Source: shazeer2019fast.
    """

    def __init__(self, size, dtype=float):
        self.size = size

    def extend(self, row):
        pass
'''


@pytest.fixture
def outline():
    return read_outline(CODE, "scratch/norms.py")


def test_what_is_public_is_listed_in_the_file_s_order(outline):
    assert [(it.kind, it.name) for it in outline.definitions] == [
        ("class", "Trace"), ("function", "rms"), ("class", "Cache"),
    ]  # fmt: skip


def test_a_file_says_what_it_is_for(outline):
    assert outline.remarks == (Remark("prose", "Norms. Knows no model."), Remark("prose", "Forward and backward."))


def test_a_signature_is_names_and_defaults(outline):
    assert outline.definitions[1].signature == "x, gain=None, *rest, epsilon=1e-05, **settings"


def test_a_docstring_is_prose_shapes_errors_and_sources(outline):
    assert outline.definitions[1].remarks == (
        Remark("prose", "Bring a row to size one."),
        Remark("prose", "A longer row comes out the same."),
        Remark("shapes", "x: [..., d]   gain: [d]\n-> [..., d]"),
        Remark("raises", "Raises ValueError if x is empty."),
        Remark("source", "zhang2019root, eq. 4; ba2016layer."),
    )


def test_an_example_keeps_its_lines():
    text = 'def f(x):\n    """Double.\n\n    In short:\n      >>> f(1)  # -> x: 2\n      2\n    """\n'
    (function,) = read_outline(text, "a.py").definitions

    assert function.remarks == (
        Remark("prose", "Double."), Remark("prose", "In short:"), Remark("example", ">>> f(1)  # -> x: 2\n2"),
    )  # fmt: skip


def test_a_named_tuple_is_made_with_its_fields_and_says_what_they_are(outline):
    trace = outline.definitions[0]

    assert trace.signature == "x, result, epsilon=1e-05"
    assert trace.remarks[1] == Remark("shapes", "x        [..., d]\nresult\nepsilon  no unit")


def test_a_class_is_made_with_what_init_takes_and_has_its_methods(outline):
    cache = outline.definitions[2]

    assert cache.signature == "size, dtype=float"
    assert [(member.kind, member.name, member.signature) for member in cache.members] == [
        ("method", "Cache.extend", "row")
    ]


def test_a_method_is_called_without_its_object():
    text = """
class Cache:
    @staticmethod
    def size(keys): ...
    @classmethod
    def empty(cls, size): ...
    def read(self, /, key): ...
"""
    (cache,) = read_outline(text, "a.py").definitions

    assert [member.signature for member in cache.members] == ["keys", "size", "key"]


def test_a_source_may_stand_behind_shapes(outline):
    assert outline.definitions[2].remarks[1:] == (
        Remark("shapes", "size: rows, at most"), Remark("source", "shazeer2019fast."),
    )  # fmt: skip


def test_lines_are_those_of_the_file(outline):
    lines = CODE.split("\n")
    rms = outline.definitions[1]

    assert lines[rms.first - 1].startswith("def rms(")
    assert lines[rms.last - 1] == '    """'


def test_a_file_that_is_not_python_is_refused_at_its_line():
    with pytest.raises(ScratchbookError, match=r"scratch/norms\.py is not Python") as refused:
        read_outline("x = 1\ndef f(:\n", "scratch/norms.py")

    assert str(refused.value.place) == "scratch/norms.py:2"
