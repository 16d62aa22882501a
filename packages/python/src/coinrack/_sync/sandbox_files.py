# Made by `npm run generate` from the module that awaits.
"""Files of a sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Iterable
from contextlib import closing, contextmanager
from typing import Any, Literal
from urllib.parse import quote, urlencode

from .._wire import decode
from ..generated import types
from . import edge
from .client import Client
from .stream import Stream


Files = list[types.File]


class SandboxFiles:
    """Files, up to 2 GB. Relative paths are of /home/user."""

    def __init__(self, client: Client, stream: Stream, sandbox_id: str) -> None:
        self._client = client
        self._stream = stream
        self._id = sandbox_id

    def write(self, path: str, content: str | bytes | Iterable[bytes]) -> int:
        """
        Replaces the file, and makes the folders on the way.

        :param content: text, bytes, or pieces such as an open file, which are sent once and never again
        :returns: its size in bytes
        """
        headers = {"content-type": "application/octet-stream"}
        whole = content.encode() if isinstance(content, str) else content if isinstance(content, bytes) else None
        once = None if isinstance(content, (str, bytes)) else edge.pieces_of(content)
        with self._stream.send("PUT", _at(path), headers, content=whole, once=once) as response:
            response.read()
            return int(response.json()["size"])

    def read(self, path: str) -> bytes:
        """The whole file."""
        pieces = []
        with self.stream(path) as content:
            for piece in content:
                pieces.append(piece)
        return b"".join(pieces)

    def text(self, path: str) -> str:
        """The whole file, as UTF-8."""
        return (self.read(path)).decode()

    @contextmanager
    def stream(self, path: str) -> Iterator[Iterator[bytes]]:
        """The file piece by piece, for one that is too large for the memory."""
        with self._stream.send("GET", _at(path), {}) as response:
            yield self._stream.bytes_of(response)

    def list(self, path: str = ".", *, depth: int | None = None) -> Files:
        """What is in a folder, sorted by path; with a depth of more than 1 the folders in it too."""
        files = []
        for file in self._client.list_files(sandbox_id=self._id, path=path, depth=depth):
            files.append(file)
        return files

    def make_folder(self, path: str) -> bool:
        """
        Makes a folder, with those on the way to it.

        :returns: whether it is new
        """
        return (self._client.make_folder(sandbox_id=self._id, path=path)).created

    def move(self, path: str, to: str) -> None:
        """Renames or moves a file or a folder, and makes the folders on the way. A file that is at the new path is replaced."""
        self._client.move_file(sandbox_id=self._id, path=path, to=to)

    @contextmanager
    def watch(self, path: str = ".", *, recursive: bool = False) -> Iterator[Iterator[types.FileChange]]:
        """
        Watches a folder: inside the block no change is missed. A sandbox that ends, or a connection that breaks, ends the loop over the
        changes by an error.
        """
        query = urlencode({"path": path, "recursive": "true" if recursive else "false"})
        with closing(self._stream.events(f"/folders/changes?{query}")) as events:
            next(events)
            yield _changes_of(events)

    def remove(self, path: str) -> None:
        """Deletes a file, or a folder with all that is in it. One that is not there is fine."""
        self._client.delete_file(sandbox_id=self._id, path=path)

    def link(self, what: Literal["upload", "download"], path: str, seconds: int = 3600) -> str:
        """A link that works without a token, for so many seconds."""
        get = self._client.get_upload_url if what == "upload" else self._client.get_download_url
        return (get(sandbox_id=self._id, path=path, expires_in=seconds)).url


def _at(path: str) -> str:
    return f"/files/content?path={quote(path, safe='')}"


def _changes_of(events: Iterator[tuple[str, Any]]) -> Iterator[types.FileChange]:
    for event, data in events:
        if event == "change":
            yield decode(types.FileChange, data)
        if event == "end":
            return
