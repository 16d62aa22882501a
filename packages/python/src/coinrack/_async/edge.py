"""What code that awaits does in another way than code that blocks."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar, Union

import httpx

from ..generated import types

T = TypeVar("T")

HttpClient = httpx.AsyncClient
OnText = Callable[[str], Union[None, Awaitable[None]]]
"""Called with what a program writes, in the order in which it comes; the program waits for it."""

OnResult = Callable[[types.CodeResult], Union[None, Awaitable[None]]]
"""Called with each value that code shows, when it is shown, once and in order; the code waits for it."""


@dataclass(frozen=True)
class Listeners:
    """Who is told what comes of work."""

    stdout: OnText | None = None
    stderr: OnText | None = None
    result: OnResult | None = None


Content = Union[AsyncIterator[bytes], None]
"""A body that can be read once."""

sleep = asyncio.sleep


async def tell(listener: Callable[[T], Union[None, Awaitable[None]]] | None, value: T) -> None:
    """Calls a listener, and waits for it."""
    if listener is None:
        return
    told = listener(value)
    if inspect.isawaitable(told):
        await told


def pieces_of(content: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Pieces as the HTTP client takes them."""

    async def pieces() -> AsyncIterator[bytes]:
        for piece in content:
            yield piece

    return pieces()
