"""Lists, page after page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._operation import Operation
from .._page import Page

if TYPE_CHECKING:
    from .caller import AsyncCaller

T = TypeVar("T")


class AsyncListing(Generic[T]):
    """A list of the service. Iterated, it goes through every page, each fetched as it is asked for; ``page`` is one of them."""

    def __init__(self, caller: AsyncCaller, operation: Operation[T], inputs: Mapping[str, Any]) -> None:
        self._caller = caller
        self._operation = operation
        self._inputs = inputs

    async def page(self) -> Page[T]:
        """The page that was asked for alone."""
        return await self._caller._page(self._operation, self._inputs)

    async def __aiter__(self) -> AsyncIterator[T]:
        inputs = dict(self._inputs)
        while True:
            page = await self._caller._page(self._operation, inputs)
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            inputs["cursor"] = page.next_cursor
