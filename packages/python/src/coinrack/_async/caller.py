"""Makes the calls of a client."""

from __future__ import annotations

import random
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from .._errors import CoinrackError, ConnectionError
from .._operation import Operation, Outcome, Request, Retry, next_cursor, pause_before_next, request_of, told_pause
from .._wire import decode
from . import edge
from .._page import Page
from .listing import AsyncListing

T = TypeVar("T")

_TIMEOUT = httpx.Timeout(65.0, connect=10.0)
"""No answer of the service takes longer than 50 s, and a stream says something every 15 s."""


class AsyncCaller:
    """What every client does for every operation: its token, keys of its own, repetitions, errors, and types."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retry: Retry = Retry(),
        http: edge.HttpClient | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"Expected the address of a service, such as https://vps.example.net, not {url!r}")
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.token = token
        self.retry = retry
        self._http = http or edge.HttpClient(timeout=_TIMEOUT)

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def _call(self, operation: Operation[T], inputs: Mapping[str, Any], idempotency_key: str | None = None) -> T:
        response = await self._ask(operation, inputs, idempotency_key)
        return self._typed(operation.answer, response)  # type: ignore[no-any-return]

    def _list(self, operation: Operation[T], inputs: Mapping[str, Any]) -> AsyncListing[T]:
        return AsyncListing(self, operation, inputs)

    async def _page(self, operation: Operation[T], inputs: Mapping[str, Any]) -> Page[T]:
        response = await self._ask(operation, inputs, None)
        return Page(
            items=self._typed(list[operation.answer], response),  # type: ignore[name-defined]
            next_cursor=next_cursor(response.headers),
        )

    async def _ask(
        self, operation: Operation[Any], inputs: Mapping[str, Any], idempotency_key: str | None
    ) -> httpx.Response:
        # Keys belong to an account, so that public calls have none.
        if idempotency_key is None and operation.method != "GET" and not operation.is_public:
            idempotency_key = secrets.token_hex(16)
        request = request_of(operation, inputs, self.token, idempotency_key)
        async with self._send(request) as response:
            try:
                await response.aread()
            except httpx.TransportError as error:
                raise ConnectionError(self.origin + operation.path, error) from error
            return response

    def _typed(self, hint: Any, response: httpx.Response) -> Any:
        try:
            return decode(hint, response.json())
        except ValueError as error:
            # As that of another service would be.
            raise CoinrackError(response.status_code, {}) from error

    @asynccontextmanager
    async def _send(self, request: Request, content: edge.Content = None) -> AsyncIterator[httpx.Response]:
        """
        Sends a request as often as it may go well.

        :param content: a body that can be sent only once, and is not repeated
        :raises CoinrackError: unless it succeeded
        """
        attempt = 1
        while True:
            failure: Exception
            try:
                response = await self._http.send(self._build(request, content), stream=True)
                outcome = Outcome(response.status_code)
            except httpx.TransportError as error:
                outcome = Outcome()
                failure = ConnectionError(self.origin + request.path.split("?")[0], error)
                failure.__cause__ = error
            else:
                if response.status_code == 200:
                    break
                outcome, failure = await self._refused(response)
            pause = pause_before_next(self.retry, attempt, outcome, request.is_repeatable, random.random())
            if pause is None or content is not None:
                raise failure
            await edge.sleep(pause)
            attempt += 1
        try:
            yield response
        finally:
            await response.aclose()

    def _build(self, request: Request, content: edge.Content) -> httpx.Request:
        return self._http.build_request(
            request.method,
            self.origin + request.path,
            headers=dict(request.headers),
            content=request.content if content is None else content,
        )

    async def _refused(self, response: httpx.Response) -> tuple[Outcome, Exception]:
        body: Any = None
        try:
            await response.aread()
            body = response.json()
        except (httpx.TransportError, ValueError):
            pass
        finally:
            await response.aclose()
        pause = told_pause(response.headers, body)
        code = body.get("code") if isinstance(body, dict) else None
        return Outcome(response.status_code, pause, code), CoinrackError(response.status_code, body, pause)
