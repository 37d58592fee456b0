"""Turn the frozen dataclasses of `cells` and `errors` into plain JSON data and back.  Opens nothing, runs nothing."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import functools
import json
import types
from collections.abc import Callable
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from scratchbook.core.errors import Mistake

Record = TypeVar("Record")


class RecordError(ValueError):
    """Data that is not the record it should be: damaged, or written by another version."""


def dump(record: Any) -> bytes:
    """Write a record as one line of JSON with sorted keys, so that equal records are equal bytes."""
    return json.dumps(to_json(record), sort_keys=True, separators=(",", ":")).encode()


def remember(*kinds: Any) -> None:
    """Work out now how these classes are read, for processes that are forked later."""
    for kind in kinds:
        _reader(kind)


def load(kind: type[Record], line: str | bytes) -> Record:
    """Read back what `dump` wrote.  Raises RecordError when it is anything else."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}") from None
    return from_json(kind, data)


def to_json(value: Any) -> Any:
    """Return a record as dicts, lists and scalars.  Bytes become base64; each record says its class."""
    return _writer(cast(Any, type(value)))(value)


@functools.cache
def _writer(kind: type) -> Callable[[Any], Any]:
    """Return what writes a value of that class, worked out once."""
    if issubclass(kind, Mistake):
        return Mistake.to_json
    if dataclasses.is_dataclass(kind):
        label, names = kind.__name__, [field.name for field in dataclasses.fields(kind)]
        return lambda record: {"type": label, **{name: to_json(getattr(record, name)) for name in names}}
    if issubclass(kind, bytes):
        return lambda data: base64.b64encode(data).decode("ascii")
    if issubclass(kind, list | tuple):
        return lambda items: [to_json(item) for item in items]
    if issubclass(kind, dict):
        return lambda items: {key: to_json(item) for key, item in items.items()}
    return lambda scalar: scalar


def from_json(kind: type[Record], data: Any) -> Record:
    """Return the record of that class that `to_json` made the data from.  Raises RecordError."""
    try:
        return cast(Record, _reader(cast(Any, kind))(data))
    except (TypeError, KeyError, ValueError, AttributeError, RecursionError) as error:
        raise RecordError(f"not a {kind.__name__}: {error!r}") from None


@functools.cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return what reads the data of that class or annotation, worked out once."""
    origin, members = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda data: data
    if origin is Literal:
        return functools.partial(_one_of, members)
    if origin in (Union, types.UnionType):
        return _union_reader(members)
    if origin is tuple:
        return _tuple_reader(members)
    if origin is dict:
        read = _reader(members[1])
        return lambda data: {key: read(item) for key, item in _checked(dict, data).items()}
    if kind is Mistake:
        return Mistake.from_json
    if dataclasses.is_dataclass(kind):
        return _dataclass_reader(cast(type, kind))
    return functools.partial(_read_scalar, kind)


def _read_scalar(kind: Any, data: Any) -> Any:
    if kind is bytes:
        try:
            return base64.b64decode(_checked(str, data), validate=True)
        except binascii.Error as error:
            raise RecordError(str(error)) from None
    if kind is float:
        return float(_checked((int, float), data))
    return data if kind is type(None) and data is None else _checked(kind, data)


def _dataclass_reader(kind: type) -> Callable[[Any], Any]:
    readers = {name: _reader(hint) for name, hint in get_type_hints(kind).items()}
    return lambda data: kind(
        **{name: readers[name](item) for name, item in _checked(dict, data).items() if name != "type"}
    )


def _union_reader(members: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Return what reads the member that the data names, or the only one that is not None."""
    readers = {member.__name__: _reader(member) for member in members if member is not type(None)}
    only = next(iter(readers.values())) if len(readers) == 1 else None

    def read(data: Any) -> Any:
        if data is None and type(None) in members:
            return None
        return only(data) if only else readers[data["type"]](data)

    return read


def _tuple_reader(members: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Return what reads a tuple of one kind of any length, or of exactly these kinds."""
    readers = [_reader(member) for member in members if member is not ...]
    if len(members) == 2 and members[1] is ...:
        return lambda data: tuple(map(readers[0], _checked(list, data)))
    return lambda data: tuple(read(item) for read, item in zip(readers, _checked(list, data), strict=True))


def _one_of(values: tuple[Any, ...], data: Any) -> Any:
    if data not in values:
        raise RecordError(f"{data!r} is none of {values}")
    return data


def _checked(kind: Any, data: Any) -> Any:
    """Return the data when it is of that kind, so that a damaged record is noticed where it is read."""
    if not isinstance(data, kind):
        raise TypeError(f"expected {kind}, found {type(data).__name__}")
    return data
