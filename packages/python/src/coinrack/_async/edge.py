"""What code that awaits does in another way than code that blocks."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Union

import httpx

HttpClient = httpx.AsyncClient
OnText = Callable[[str], Union[None, Awaitable[None]]]
"""Called with what a program writes, in the order in which it comes; the program waits for it."""

Content = Union[AsyncIterator[bytes], None]
"""A body that can be read once."""

sleep = asyncio.sleep


async def tell(listener: OnText | None, text: str) -> None:
    """Calls a listener, and waits for it."""
    if listener is None:
        return
    told = listener(text)
    if inspect.isawaitable(told):
        await told


def pieces_of(content: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Pieces as the HTTP client takes them."""

    async def pieces() -> AsyncIterator[bytes]:
        for piece in content:
            yield piece

    return pieces()
