# Made by `npm run generate` from the module that awaits.
"""A task in the background of a sandbox."""

from __future__ import annotations

from typing import Any

from .._wire import decode
from ..generated import types
from . import edge
from .client import Client
from .stream import Stream


class SandboxTask:
    """A command or code in the background: it goes on without a reader."""

    def __init__(self, client: Client, stream: Stream, sandbox_id: str, task_id: str) -> None:
        self.id = task_id
        self._client = client
        self._stream = stream
        self._sandbox_id = sandbox_id

    def read(self, *, stdout: int = 0, stderr: int = 0, timeout: int = 0) -> types.GetTaskResult:
        """Reads on from these offsets, and waits so many seconds for more; nothing is lost between reads."""
        return self._client.get_task(
            sandbox_id=self._sandbox_id, task_id=self.id, stdout=stdout, stderr=stderr, timeout=timeout
        )

    def wait(
        self,
        *,
        on_stdout: edge.OnText | None = None,
        on_stderr: edge.OnText | None = None,
        on_result: edge.OnResult | None = None,
    ) -> types.GetTaskResult:
        """
        Follows it to its end, also over connections that break.

        :param on_result: told of every value that code showed, also of those before this
        :returns: how it ended, with the first MiB of each output; of what was written before, the oldest beyond 1 MiB is gone
        """
        return decode(types.GetTaskResult, self._end(edge.Listeners(on_stdout, on_stderr, on_result)))  # type: ignore[no-any-return]

    def _end(self, listeners: edge.Listeners) -> dict[str, Any]:
        return self._stream.task(self.id, listeners)

    def write(self, text: str, *, end: bool = False) -> None:
        """Types into it; with ``end`` its input is closed."""
        self._client.send_input(sandbox_id=self._sandbox_id, task_id=self.id, input=text, end=end)

    def resize(self, size: types.TerminalSize) -> None:
        """Gives its terminal another size."""
        self._client.send_input(sandbox_id=self._sandbox_id, task_id=self.id, terminal=size)

    def kill(self, signal: types.TaskSignal = "SIGKILL") -> None:
        """Sends it a signal, and all that it started."""
        self._client.kill_task(sandbox_id=self._sandbox_id, task_id=self.id, signal=signal)
