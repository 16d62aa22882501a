"""Carries what the operations do not: outputs while they come, and files as they are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx

from .._errors import CoinrackError, ConnectionError
from .._operation import Request
from .._outputs import Outputs
from .._wire import EventReader
from ..generated.operations import BASE_PATH
from . import edge
from .client import AsyncClient


class AsyncStream:
    """The way to one sandbox beside the operations."""

    def __init__(self, client: AsyncClient, sandbox_id: str) -> None:
        self._client = client
        self._base = f"{BASE_PATH}/sandboxes/{quote(sandbox_id, safe='')}"

    @asynccontextmanager
    async def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        *,
        content: bytes | None = None,
        once: edge.Content = None,
        is_repeatable: bool = True,
    ) -> AsyncIterator[httpx.Response]:
        """A request below the path of the sandbox. ``once`` is a body that can be read once."""
        token = self._client.token
        named = {} if token is None else {"authorization": f"Bearer {token}"}
        request = Request(method, self._base + path, {**named, **headers}, content, is_repeatable)
        async with self._client._send(request, once) as response:
            yield response

    async def bytes_of(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """The body of an answer, piece by piece."""
        try:
            async for piece in response.aiter_bytes():
                yield piece
        except httpx.TransportError as error:
            raise ConnectionError(str(response.url).split("?")[0], error) from error

    async def run(
        self, path: str, body: Mapping[str, Any], on_stdout: edge.OnText | None, on_stderr: edge.OnText | None
    ) -> dict[str, Any]:
        """
        Does work and follows it to its end.

        :returns: its answer on the wire, with the first MiB of each output
        :raises ConnectionError: when the stream broke: what came of the work is not known then
        """
        content = json.dumps(body).encode()
        return await self._follow("POST", path, content, Outputs(), on_stdout, on_stderr)

    async def task(self, task_id: str, on_stdout: edge.OnText | None, on_stderr: edge.OnText | None) -> dict[str, Any]:
        """Follows a task in the background to its end, and connects again where a connection broke."""
        outputs = Outputs()
        broken = 0
        while True:
            before = dict(outputs.next)
            path = f"/tasks/{quote(task_id, safe='')}?stdout={before['stdout']}&stderr={before['stderr']}"
            try:
                return await self._follow("GET", path, None, outputs, on_stdout, on_stderr)
            except ConnectionError:
                broken = 1 if outputs.next != before else broken + 1
                if broken >= self._client.retry.attempts:
                    raise
                await edge.sleep(0.25 * 2**broken)

    async def _follow(
        self,
        method: str,
        path: str,
        content: bytes | None,
        outputs: Outputs,
        on_stdout: edge.OnText | None,
        on_stderr: edge.OnText | None,
    ) -> dict[str, Any]:
        headers = {"accept": "text/event-stream"}
        if content is not None:
            headers["content-type"] = "application/json"
        async with self.send(method, path, headers, content=content, is_repeatable=method == "GET") as response:
            reader = EventReader()
            async for piece in self.bytes_of(response):
                for event, data in reader.feed(piece):
                    if event in ("stdout", "stderr"):
                        text = outputs.add(event, data)
                        await edge.tell(on_stdout if event == "stdout" else on_stderr, text)
                    if event == "error":
                        raise CoinrackError(0, data)
                    if event == "end":
                        return outputs.result(data)
            raise ConnectionError(str(response.url).split("?")[0], "the stream ended before its end")
