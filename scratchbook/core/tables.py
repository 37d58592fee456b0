"""Turn the value that a block ends with into the header and rows of a table, all texts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scratchbook.core.endings import OutputError

MOST_ROWS: Final = 500
MOST_COLUMNS: Final = 50
SHAPES: Final = (
    "a 2-D array, a list of rows, dictionaries, named tuples or data classes, "
    "a dictionary of columns, or a structured array"
)


@dataclass(frozen=True)
class Table:
    """header: one text a column, none when the value names no columns.   rows: texts, all of one length."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def make_table(value: Any) -> Table:
    """Return the table that a value is; numbers as NumPy's print options say.  Raises OutputError."""
    header, rows = _split(value)
    widths = {len(row) for row in rows}
    if not rows or widths == {0}:
        raise OutputError(f"the table is empty; end the block with {SHAPES}")
    if len(widths) > 1 or (header and widths != {len(header)}):
        raise OutputError(f"the rows have {' and '.join(map(str, sorted(widths)))} cells; all need the same number")
    if len(rows) > MOST_ROWS or max(widths) > MOST_COLUMNS:
        size = f"{len(rows)} rows of {max(widths)} cells"
        raise OutputError(f"the table has {size}; a page has room for {MOST_ROWS} of {MOST_COLUMNS}: show a part of it")
    return Table(tuple(map(str, header)), tuple(tuple(map(show_cell, row)) for row in rows))


def _split(value: Any) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
    """Return the names of the columns and the rows of values."""
    if isinstance(value, np.ndarray):
        return _split_array(value)
    if isinstance(value, Mapping):
        columns = [list(column) if _is_row(column) else None for column in value.values()]
        if None in columns or len({len(column) for column in columns if column is not None}) > 1:
            raise OutputError("the columns of the dictionary are not lists of one length")
        return list(value), list(zip(*columns, strict=True))
    if not isinstance(value, list | tuple):
        kind = type(value).__name__
        raise OutputError(f"the block ends with a value of type {kind}, which is no table; end it with {SHAPES}")
    return _split_rows(value)


def _split_array(array: np.ndarray[Any, Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
    if array.dtype.names:
        return array.dtype.names, [tuple(row) for row in np.atleast_1d(array).ravel()]
    if array.ndim != 2:
        raise OutputError(f"the array has shape {array.shape}; a table needs two dimensions")
    return (), list(array)


def _split_rows(rows: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
    """Return the columns that the rows name, if they do, and their values."""
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return names, [[row.get(name) for name in names] for row in rows]
    first = rows[0] if rows else None
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        names = [field.name for field in dataclasses.fields(first)]
        return names, [[getattr(row, name, None) for name in names] for row in rows]
    if not all(map(_is_row, rows)):
        raise OutputError(f"the list holds single values, not rows; end the block with {SHAPES}")
    return getattr(first, "_fields", ()), [list(row) for row in rows]


def _is_row(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


def show_cell(value: Any) -> str:
    """Return the text of one value: a number as NumPy prints it within an array, None as nothing."""
    if value is None:
        return ""
    if isinstance(value, float | np.floating):
        return show_number(float(value) if isinstance(value, float) else value)
    with np.printoptions(legacy="1.25"):
        return str(value)


def show_number(value: Any) -> str:
    """Return a float by NumPy's print options; a number that these would show as nothing is written in full."""
    text = np.array2string(np.array([value]))[1:-1].strip()
    if text.endswith("."):
        text += "0"
    return repr(float(value)) if value and not text.strip("-0.") else text
