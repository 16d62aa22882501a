# Made by `npm run generate` from the module that awaits.
"""Carries what the operations do not: outputs while they come, and files as they are."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from .._errors import CoinrackError, ConnectionError
from .._operation import Request
from .._outputs import Outputs
from .._wire import EventReader
from ..generated.operations import BASE_PATH
from . import edge
from .client import Client


class Stream:
    """The way to one sandbox beside the operations."""

    def __init__(self, client: Client, sandbox_id: str) -> None:
        self._client = client
        self._base = f"{BASE_PATH}/sandboxes/{quote(sandbox_id, safe='')}"

    @contextmanager
    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        *,
        content: bytes | None = None,
        once: edge.Content = None,
        is_repeatable: bool = True,
    ) -> Iterator[httpx.Response]:
        """A request below the path of the sandbox. ``once`` is a body that can be read once."""
        token = self._client.token
        named = {} if token is None else {"authorization": f"Bearer {token}"}
        request = Request(method, self._base + path, {**named, **headers}, content, is_repeatable)
        with self._client._send(request, once) as response:
            yield response

    def bytes_of(self, response: httpx.Response) -> Iterator[bytes]:
        """The body of an answer, piece by piece."""
        try:
            for piece in response.iter_bytes():
                yield piece
        except httpx.TransportError as error:
            raise ConnectionError(str(response.url).split("?")[0], error) from error

    def events(self, path: str) -> Generator[tuple[str, Any], None, None]:
        """
        The events of what is read, as long as it is.

        :raises ConnectionError: when the stream broke
        """
        return self._events("GET", path, None)

    def run(self, path: str, body: Mapping[str, Any], listeners: edge.Listeners) -> dict[str, Any]:
        """
        Does work and follows it to its end.

        :returns: its answer on the wire, with the first MiB of each output
        :raises ConnectionError: when the stream broke: what came of the work is not known then
        """
        content = json.dumps(body).encode()
        return self._follow("POST", path, content, Outputs(), listeners)

    def task(self, task_id: str, listeners: edge.Listeners) -> dict[str, Any]:
        """Follows a task in the background to its end, and connects again where a connection broke."""
        outputs = Outputs()
        broken = 0
        while True:
            before = dict(outputs.next)
            path = f"/tasks/{quote(task_id, safe='')}?{urlencode(before)}"
            try:
                return self._follow("GET", path, None, outputs, listeners)
            except ConnectionError:
                broken = 1 if outputs.next != before else broken + 1
                if broken >= self._client.retry.attempts:
                    raise
                edge.sleep(0.25 * 2**broken)

    def _follow(
        self, method: str, path: str, content: bytes | None, outputs: Outputs, listeners: edge.Listeners
    ) -> dict[str, Any]:
        with closing(self._events(method, path, content)) as events:
            for event, data in events:
                if event == "stdout":
                    edge.tell(listeners.stdout, outputs.add(event, data))
                if event == "stderr":
                    edge.tell(listeners.stderr, outputs.add(event, data))
                if event == "result":
                    edge.tell(listeners.result, outputs.see(data))
                if event == "end":
                    return outputs.result(data)
        raise RuntimeError("Events ended without one that says so")

    def _events(
        self, method: str, path: str, content: bytes | None
    ) -> Generator[tuple[str, Any], None, None]:
        headers = {"accept": "text/event-stream"}
        if content is not None:
            headers["content-type"] = "application/json"
        with self.send(method, path, headers, content=content, is_repeatable=method == "GET") as response:
            reader = EventReader()
            for piece in self.bytes_of(response):
                for event, data in reader.feed(piece):
                    if event == "error":
                        raise CoinrackError(0, data)
                    yield event, data
            raise ConnectionError(str(response.url).split("?")[0], "the stream ended before its end")
