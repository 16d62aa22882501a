# Made by `npm run generate` from the module that awaits.
"""Lists, page after page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._operation import Operation
from .._page import Page

if TYPE_CHECKING:
    from .caller import Caller

T = TypeVar("T")


class Listing(Generic[T]):
    """A list of the service. Iterated, it goes through every page, each fetched as it is asked for; ``page`` is one of them."""

    def __init__(self, caller: Caller, operation: Operation[T], inputs: Mapping[str, Any]) -> None:
        self._caller = caller
        self._operation = operation
        self._inputs = inputs

    def page(self) -> Page[T]:
        """The page that was asked for alone."""
        return self._caller._page(self._operation, self._inputs)

    def __iter__(self) -> Iterator[T]:
        inputs = dict(self._inputs)
        while True:
            page = self._caller._page(self._operation, inputs)
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            inputs["cursor"] = page.next_cursor
