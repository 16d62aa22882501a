"""What code that blocks does in another way than code that awaits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar, Union

import httpx

from ..generated import types

T = TypeVar("T")

HttpClient = httpx.Client
OnText = Callable[[str], None]
"""Called with what a program writes, in the order in which it comes; the program waits for it."""

OnResult = Callable[[types.CodeResult], None]
"""Called with each value that code shows, when it is shown, once and in order; the code waits for it."""


@dataclass(frozen=True)
class Listeners:
    """Who is told what comes of work."""

    stdout: OnText | None = None
    stderr: OnText | None = None
    result: OnResult | None = None


Content = Union[Iterator[bytes], None]
"""A body that can be read once."""

sleep = time.sleep


def tell(listener: Callable[[T], None] | None, value: T) -> None:
    """Calls a listener."""
    if listener is not None:
        listener(value)


def pieces_of(content: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces as the HTTP client takes them."""
    return iter(content)
