"""The value that a block ends with as a table: what is a row, what is a header, how a number is written."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from scratchbook.core.endings import OutputError
from scratchbook.core.tables import make_table, show_number

Row = namedtuple("Row", "name loss")


@dataclass
class Line:
    name: str
    loss: float


NAMED = (("name", "loss"), (("a", "0.5"), ("b", "1.0")))


@pytest.mark.parametrize(
    "value",
    [
        [{"name": "a", "loss": 0.5}, {"name": "b", "loss": 1.0}],
        {"name": ["a", "b"], "loss": np.array([0.5, 1.0])},
        [Row("a", 0.5), Row("b", 1.0)],
        [Line("a", 0.5), Line("b", 1.0)],
        np.array([("a", 0.5), ("b", 1.0)], dtype=[("name", "U1"), ("loss", float)]),
    ],
    ids=["dictionaries", "columns", "named tuples", "data classes", "structured array"],
)
def test_a_value_that_names_its_columns_has_a_header(value):
    table = make_table(value)

    assert (table.header, table.rows) == NAMED


@pytest.mark.parametrize(
    "value", [np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]], ((1, 2), (3, 4)), [np.array([1, 2]), [3, 4]]]
)
def test_rows_without_names_have_no_header(value):
    table = make_table(value)

    assert (table.header, table.rows) == ((), (("1", "2"), ("3", "4")))


def test_a_cell_that_a_dictionary_does_not_have_is_empty():
    table = make_table([{"a": 1}, {"b": None}])

    assert (table.header, table.rows) == (("a", "b"), (("1", ""), ("", "")))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (3, "the block ends with a value of type int, which is no table; end it with a 2-D array"),
        (None, "the block ends with a value of type NoneType, which is no table"),
        ([], "the table is empty"),
        (np.zeros((0, 3)), "the table is empty"),
        (np.zeros(3), "the array has shape (3,); a table needs two dimensions"),
        (np.zeros((2, 2, 2)), "the array has shape (2, 2, 2); a table needs two dimensions"),
        ([1, 2], "the list holds single values, not rows"),
        ([[1], [1, 2]], "the rows have 1 and 2 cells; all need the same number"),
        ({"a": [1], "b": [1, 2]}, "the columns of the dictionary are not lists of one length"),
        ({"a": 1}, "the columns of the dictionary are not lists of one length"),
        (np.zeros((501, 1)), "the table has 501 rows of 1 cells; a page has room for 500 of 50: show a part of it"),
        (np.zeros((1, 51)), "the table has 1 rows of 51 cells; a page has room for 500 of 50: show a part of it"),
    ],
)
def test_what_is_no_table_is_told(value, told):
    with pytest.raises(OutputError) as caught:
        make_table(value)

    assert str(caught.value).startswith(told)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1 / 3, "0.3333"), (1.0, "1.0"), (np.float32(0.5), "0.5"), (-2.5, "-2.5"), (0.0, "0.0"), (float("nan"), "nan")],
)
def test_a_number_is_written_by_the_print_options(number, text):
    with np.printoptions(precision=4, suppress=True):
        assert show_number(number) == text


def test_a_small_number_is_never_written_as_nothing():
    with np.printoptions(precision=4, suppress=True):
        assert show_number(3.5e-8) == "3.5e-08"
        assert show_number(-3.5e-8) == "-3.5e-08"
