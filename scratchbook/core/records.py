"""Turn the frozen dataclasses of `cells` and `errors` into plain JSON data and back.  Opens nothing, runs nothing."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import functools
import json
import types
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from scratchbook.core.errors import Mistake

Record = TypeVar("Record")


class RecordError(ValueError):
    """Data that is not the record it should be: damaged, or written by another version."""


def dump(record: Any) -> bytes:
    """Write a record as one line of JSON with sorted keys, so that equal records are equal bytes."""
    return json.dumps(to_json(record), sort_keys=True, separators=(",", ":")).encode()


def remember(*kinds: type) -> None:
    """Resolve the annotations of these classes now, for processes that are forked later."""
    for kind in kinds:
        _hints(kind)


def load(kind: type[Record], line: str | bytes) -> Record:
    """Read back what `dump` wrote.  Raises RecordError when it is anything else."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}") from None
    return from_json(kind, data)


def to_json(value: Any) -> Any:
    """Return a record as dicts, lists and scalars.  Bytes become base64; each record says its class."""
    if isinstance(value, Mistake):
        return value.to_json()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    return value


def from_json(kind: type[Record], data: Any) -> Record:
    """Return the record of that class that `to_json` made the data from.  Raises RecordError."""
    try:
        return cast(Record, _read(kind, data))
    except (TypeError, KeyError, ValueError, AttributeError, RecursionError) as error:
        raise RecordError(f"not a {kind.__name__}: {error!r}") from None


def _read(kind: Any, data: Any) -> Any:
    """Return the value of that class or annotation."""
    origin = get_origin(kind)
    if kind is Any:
        return data
    if origin is Literal:
        return _one_of(get_args(kind), data)
    if origin in (Union, types.UnionType):
        return _read_union(get_args(kind), data)
    if origin is tuple:
        return _read_tuple(get_args(kind), data)
    if origin is dict:
        return {key: _read(get_args(kind)[1], item) for key, item in _checked(dict, data).items()}
    if kind is Mistake:
        return Mistake.from_json(data)
    if dataclasses.is_dataclass(kind):
        return _read_dataclass(cast(type, kind), data)
    return _read_scalar(kind, data)


def _read_scalar(kind: Any, data: Any) -> Any:
    if kind is bytes:
        try:
            return base64.b64decode(_checked(str, data), validate=True)
        except binascii.Error as error:
            raise RecordError(str(error)) from None
    if kind is float:
        return float(_checked((int, float), data))
    return data if kind is type(None) and data is None else _checked(kind, data)


def _read_dataclass(kind: type, data: Any) -> Any:
    hints = _hints(kind)
    return kind(**{name: _read(hints[name], item) for name, item in _checked(dict, data).items() if name != "type"})


def _read_union(members: tuple[Any, ...], data: Any) -> Any:
    """Return the member that the data names, or the only one that is not None."""
    if data is None and type(None) in members:
        return None
    members = tuple(member for member in members if member is not type(None))
    if len(members) == 1:
        return _read(members[0], data)
    named = {member.__name__: member for member in members}
    return _read(named[data["type"]], data)


def _read_tuple(members: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    """Return a tuple of one kind of any length, or of exactly these kinds."""
    items = _checked(list, data)
    if len(members) == 2 and members[1] is ...:
        return tuple(_read(members[0], item) for item in items)
    return tuple(_read(member, item) for member, item in zip(members, items, strict=True))


def _one_of(values: tuple[Any, ...], data: Any) -> Any:
    if data not in values:
        raise RecordError(f"{data!r} is none of {values}")
    return data


def _checked(kind: Any, data: Any) -> Any:
    """Return the data when it is of that kind, so that a damaged record is noticed where it is read."""
    if not isinstance(data, kind):
        raise TypeError(f"expected {kind}, found {type(data).__name__}")
    return data


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    """Return the field annotations of a dataclass, resolved once."""
    return get_type_hints(kind)
