"""How values stand on the wire: money as decimal strings, times as RFC 3339, and answers as dataclasses."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def encode(value: Any) -> Any:
    """A value of an input as JSON."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("A time needs a time zone: datetime.now(timezone.utc)")
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, dict):
        return {name: encode(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(inner) for inner in value]
    return value


def in_query(value: Any) -> str:
    """A value of an input as a part of a query."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(encode(value))


def decode(hint: Any, value: Any) -> Any:
    """
    JSON as what the hint says. Fields that are not known are left out, as a newer service may have them.

    :raises ValueError: when it is something else
    """
    if hint is Any:
        return value
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _one_of(get_args(hint), value)
    if origin is Literal:
        return value
    if origin is list:
        (inner,) = get_args(hint)
        return [decode(inner, each) for each in _checked(list, value)]
    if origin is tuple:
        return tuple(decode(inner, each) for inner, each in zip(get_args(hint), _checked(list, value)))
    if origin is dict:
        _, inner = get_args(hint)
        return {name: decode(inner, each) for name, each in _checked(dict, value).items()}
    if hint is Decimal:
        return Decimal(_checked(str, value))
    if hint is datetime:
        return datetime.fromisoformat(_checked(str, value).replace("Z", "+00:00"))
    if hint is float:
        return float(_checked((int, float), value))
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint, _checked(dict, value))
    return _checked(hint, value)


def _checked(kind: Any, value: Any) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"Expected {kind}, not {type(value).__name__}")
    return value


def _one_of(hints: tuple[Any, ...], value: Any) -> Any:
    if value is None and NoneType in hints:
        return None
    for hint in hints:
        if hint is NoneType:
            continue
        try:
            return decode(hint, value)
        except ValueError:
            continue
    raise ValueError(f"Expected one of {hints}")


@lru_cache(maxsize=None)
def _fields(kind: Any) -> list[tuple[str, str, Any, bool]]:
    hints = get_type_hints(kind)
    return [
        (each.name, each.name.rstrip("_"), hints[each.name], each.default is not dataclasses.MISSING)
        for each in dataclasses.fields(kind)
    ]


def _dataclass(kind: Any, value: dict[str, Any]) -> Any:
    given = {}
    for name, wire_name, hint, is_optional in _fields(kind):
        if wire_name in value:
            given[name] = decode(hint, value[wire_name])
        elif not is_optional:
            raise ValueError(f"{kind.__name__} lacks {wire_name}")
    return kind(**given)


class EventReader:
    """Server-Sent Events, as the HTML standard writes them, out of pieces as they come; comments are left out."""

    def __init__(self) -> None:
        self._bytes = b""

    def feed(self, piece: bytes) -> Iterator[tuple[str, Any]]:
        """The events that this piece completes: the name of each, and its data as JSON."""
        *whole, self._bytes = (self._bytes + piece).split(b"\n\n")
        for text in whole:
            lines = text.decode().split("\n")
            event = _field(lines, "event: ")
            if event:
                yield event, json.loads(_field(lines, "data: "))


def _field(lines: list[str], start: str) -> str:
    return "\n".join(line[len(start) :] for line in lines if line.startswith(start))
