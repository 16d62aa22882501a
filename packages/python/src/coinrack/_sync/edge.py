"""What code that blocks does in another way than code that awaits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Union

import httpx

HttpClient = httpx.Client
OnText = Callable[[str], None]
"""Called with what a program writes, in the order in which it comes; the program waits for it."""

Content = Union[Iterator[bytes], None]
"""A body that can be read once."""

sleep = time.sleep


def tell(listener: OnText | None, text: str) -> None:
    """Calls a listener."""
    if listener is not None:
        listener(text)


def pieces_of(content: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces as the HTTP client takes them."""
    return iter(content)
