"""A code sandbox as an object."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Literal

from .._operation import NotGiven, given
from .._wire import decode
from ..generated import types
from . import edge
from .client import AsyncClient
from .listing import AsyncListing
from .sandbox_contexts import AsyncSandboxContexts
from .sandbox_files import AsyncSandboxFiles
from .sandbox_task import AsyncSandboxTask
from .stream import AsyncStream


Names = list[str]


class AsyncSandbox:
    """
    A code sandbox that runs, or is paused. It costs while it runs, until ``kill``, or its time is over; as a context manager it ends with
    its block. All raise ``CoinrackError`` and ``ConnectionError``.
    """

    def __init__(self, client: AsyncClient, sandbox_id: str) -> None:
        self.id = sandbox_id
        self.client = client
        """Every operation, for what has no method here."""
        self._stream = AsyncStream(client, sandbox_id)
        self.files = AsyncSandboxFiles(client, self._stream, sandbox_id)
        self.contexts = AsyncSandboxContexts(client, sandbox_id)

    @classmethod
    async def create(
        cls,
        client: AsyncClient,
        *,
        template: str | None = None,
        tariff: types.SandboxTariff | None = None,
        mode: types.SandboxMode | None = None,
        timeout: int | None = None,
        idle_timeout: int | None = None,
        env: dict[str, str] | None = None,
        metadata: dict[str, str] | None = None,
        network: types.SandboxNetwork | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncSandbox:
        """
        Starts one: it runs when this returns.

        :param template: base, code-interpreter, or the id of a snapshot
        :param timeout: seconds after which it ends, or pauses when its mode is persistent
        :param idle_timeout: the same for seconds without use; 0: never
        """
        made = await client.create_sandbox(
            template=template,
            tariff=tariff,
            mode=mode,
            timeout=timeout,
            idle_timeout=idle_timeout,
            env=env,
            metadata=metadata,
            network=network,
            idempotency_key=idempotency_key,
        )
        return cls(client, made.id)

    @classmethod
    def connect(cls, client: AsyncClient, sandbox_id: str) -> AsyncSandbox:
        """Connects to an existing sandbox, by its id."""
        return cls(client, sandbox_id)

    @classmethod
    async def list(
        cls, client: AsyncClient, *, state: types.SandboxState | None = None
    ) -> AsyncIterator[AsyncSandbox]:
        """The sandboxes that are not over, newest first, page after page."""
        async for each in client.list_sandboxes(state=state):
            yield cls(client, each.id)

    async def __aenter__(self) -> AsyncSandbox:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.kill()

    async def info(self) -> types.Sandbox:
        """Its current state, and what it has cost so far."""
        return await self.client.get_sandbox(sandbox_id=self.id)

    async def metrics(self) -> types.GetSandboxMetricsResult:
        """What it uses, as its own system measures it."""
        return await self.client.get_sandbox_metrics(sandbox_id=self.id)

    async def run_code(
        self,
        code: str,
        *,
        language: types.CodeLanguage | None = None,
        context: str | None = None,
        env: dict[str, str] | None = None,
        timeout: float | None = None,
        on_stdout: edge.OnText | None = None,
        on_stderr: edge.OnText | None = None,
        on_result: edge.OnResult | None = None,
    ) -> types.RunCodeResult:
        """
        Runs code to its end. Of each output the first MiB is in the result, and all that it showed.

        :param context: keeps variables from one run to the next: python, node, bash, or any new name
        :param timeout: seconds; 30 when it is left out
        :param on_result: told of each value when it is shown
        """
        sent = _body(code=code, language=given(language), context=given(context), env=given(env), timeout=given(timeout))
        end = await self._stream.run("/run", sent, edge.Listeners(on_stdout, on_stderr, on_result))
        return decode(types.RunCodeResult, end)  # type: ignore[no-any-return]

    async def start_code(
        self,
        code: str,
        *,
        language: types.CodeLanguage | None = None,
        context: str | None = None,
        env: dict[str, str] | None = None,
        timeout: float | None = None,
    ) -> AsyncSandboxTask:
        """Begins code in the background. What it shows is told by ``wait`` of the task."""
        begun = await self.client.run_code(
            sandbox_id=self.id,
            code=code,
            language=language,
            context=context,
            env=env,
            timeout=timeout,
            background=True,
        )
        return self.task(begun.task_id or "")

    async def exec(
        self,
        command: str,
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        stdin: str | None = None,
        timeout: float | None = None,
        terminal: types.TerminalSize | None = None,
        on_stdout: edge.OnText | None = None,
        on_stderr: edge.OnText | None = None,
        on_start: Callable[[AsyncSandboxTask], None] | None = None,
    ) -> types.ExecCommandResult:
        """
        Runs a command to its end. Of each output the first MiB is in the result. One with a terminal or ``on_start`` drops what is more than
        1 MiB ahead of its reader, and has no end of its own without ``timeout``; any other one waits for its reader, and has 30 s by default.

        :param stdin: what it reads
        :param terminal: it gets a terminal of this size, whose output is all in ``stdout``
        :param on_start: told once it runs, with what types into it, resizes its terminal and signals it
        """
        if terminal is None and on_start is None:
            sent = _body(
                command=command,
                cwd=given(cwd),
                env=given(env),
                user=given(user),
                input=given(stdin),
                timeout=given(timeout),
            )
            end = await self._stream.run("/exec", sent, edge.Listeners(on_stdout, on_stderr))
            return decode(types.ExecCommandResult, end)  # type: ignore[no-any-return]
        task = await self.start(command, cwd=cwd, env=env, user=user, timeout=timeout, terminal=terminal)
        try:
            if on_start is not None:
                on_start(task)
            if stdin is not None:
                await task.write(stdin, end=True)
            end = await task._end(edge.Listeners(on_stdout, on_stderr))
        except BaseException:
            await task.kill()
            raise
        duration = end.get("duration_ms") or 0
        return decode(types.ExecCommandResult, {**end, "duration_ms": duration})  # type: ignore[no-any-return]

    async def start(
        self,
        command: str,
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: float | None = None,
        terminal: types.TerminalSize | None = None,
    ) -> AsyncSandboxTask:
        """Begins a command in the background. Its input is open, and no one has to read what it writes."""
        begun = await self.client.exec_command(
            sandbox_id=self.id,
            command=command,
            cwd=cwd,
            env=env,
            user=user,
            timeout=timeout,
            terminal=terminal,
            background=True,
        )
        return self.task(begun.task_id or "")

    def task(self, task_id: str) -> AsyncSandboxTask:
        """An existing task, by its id."""
        return AsyncSandboxTask(self.client, self._stream, self.id, task_id)

    async def tasks(self) -> AsyncIterator[AsyncSandboxTask]:
        """The tasks in the background that run, and those that ended last."""
        async for each in self.client.list_tasks(sandbox_id=self.id):
            yield self.task(each.id)

    async def expose(self, port: int, access: Literal["public", "token"] = "public") -> types.ExposedPort:
        """Gives a port a URL."""
        return await self.client.expose_port(sandbox_id=self.id, port=port, access=access)

    async def expose_all(
        self, access: Literal["public", "token", "none"] = "public"
    ) -> types.ExposeAllPortsResult:
        """
        Gives every port a URL, also those that nothing listens on yet, or takes them away again. ``{port}`` stands in ``url``
        for the port.
        """
        return await self.client.expose_all_ports(sandbox_id=self.id, access=access)

    async def unexpose(self, port: int) -> None:
        """Takes the URL of a port away, and cuts its connections."""
        await self.client.unexpose_port(sandbox_id=self.id, port=port)

    def ports(self) -> AsyncListing[types.ExposedPort]:
        """The ports that have a URL of their own."""
        return self.client.list_exposed_ports(sandbox_id=self.id)

    async def set_timeout(self, seconds: int) -> types.Sandbox:
        """Gives it so many seconds from now on."""
        return await self.client.set_sandbox_timeout(sandbox_id=self.id, timeout=seconds)

    async def set_network(
        self,
        *,
        allow_internet: bool | None = None,
        allow_out: Names | None = None,
        deny_out: Names | None = None,
    ) -> types.Sandbox:
        """Says what it may reach, in place of what was said before."""
        return await self.client.set_sandbox_network(
            sandbox_id=self.id, allow_internet=allow_internet, allow_out=allow_out, deny_out=deny_out
        )

    async def pause(self) -> types.PaidSandbox:
        """Keeps memory and disk, and costs nothing until ``resume``."""
        return await self.client.pause_sandbox(sandbox_id=self.id)

    async def resume(self, *, timeout: int | None = None) -> types.PaidSandbox:
        """Goes on where it was paused."""
        return await self.client.resume_sandbox(sandbox_id=self.id, timeout=timeout)

    async def fork(
        self,
        *,
        timeout: int | None = None,
        metadata: dict[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncSandbox:
        """Makes another one that goes on from where this one is now."""
        made = await self.client.fork_sandbox(
            sandbox_id=self.id, timeout=timeout, metadata=metadata, idempotency_key=idempotency_key
        )
        return AsyncSandbox(self.client, made.id)

    async def snapshot(self, name: str | None = None, *, idempotency_key: str | None = None) -> types.SandboxSnapshot:
        """Keeps what it is now: ``id`` of the answer is the template of new ones."""
        kept = await self.client.create_sandbox_snapshot(
            sandbox_id=self.id, name=name, idempotency_key=idempotency_key
        )
        return kept.snapshot

    async def kill(self) -> types.PaidSandbox:
        """Ends it, with all that is in it. One that is over is fine."""
        return await self.client.kill_sandbox(sandbox_id=self.id)


def _body(**inputs: Any) -> dict[str, Any]:
    return {name: value for name, value in inputs.items() if not isinstance(value, NotGiven)}
