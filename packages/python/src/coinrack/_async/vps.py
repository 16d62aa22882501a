"""A VPS as an object."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from typing import Literal

from .._errors import NeverError
from .._ssh import SshParameters
from ..generated import types
from .client import AsyncClient
from .waiting import Deadline, wait_for_ssh

PIECE_BYTES = 3_000_000
"""The most that one call carries of a file."""

OnWork = Callable[[types.Operation], None]


class AsyncVps:
    """
    One VPS as an object: its order, the way in, commands, files and power. ``client`` has every other operation. Methods that change the
    machine return once the change is done. All raise ``CoinrackError`` and ``ConnectionError``.
    """

    def __init__(self, client: AsyncClient, service_id: str) -> None:
        self.id = service_id
        self.client = client
        self.files = AsyncVpsFiles(client, service_id)

    @classmethod
    async def order(
        cls,
        client: AsyncClient,
        *,
        product: str,
        os_id: int,
        ssh_key: str | None = None,
        hostname: str | None = None,
        user_data: str | None = None,
        billing_cycle: Literal["monthly", "hourly"] | None = None,
        months: int | None = None,
        auto_renew: bool | None = None,
        max_price: types.Usd | None = None,
        region: str | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncVps:
        """
        Orders a VPS, paid from the balance. It is being made when this returns: go on with ``wait_until_ready``.

        :raises CoinrackError: ``insufficient_balance``, with the invoice that pays for the order in ``body["invoice"]``
        """
        order = await client.order_vps(
            product=product,
            os_id=os_id,
            ssh_key=ssh_key,
            hostname=hostname,
            user_data=user_data,
            billing_cycle=billing_cycle,
            months=months,
            auto_renew=auto_renew,
            max_price=max_price,
            region=region,
            idempotency_key=idempotency_key,
        )
        if order.service_id is None:
            raise NeverError(f"Order {order.id} made no VPS: it is {order.status}")
        return cls(client, order.service_id)

    @classmethod
    def connect(cls, client: AsyncClient, service_id: str) -> AsyncVps:
        """Connects to an existing VPS, by its id."""
        return cls(client, service_id)

    @classmethod
    async def list(cls, client: AsyncClient) -> AsyncIterator[AsyncVps]:
        """The VPS of the account, page after page."""
        async for each in client.list_vps():
            yield cls(client, each.id)

    async def info(self) -> types.GetVpsStatusResult:
        """Its current state. It leaves the root password, which is shown once, for ``wait_until_ready``."""
        return await self.client.get_vps_status(service_id=self.id, reveal=False)

    async def wait_until_ready(
        self,
        *,
        timeout: float | None = None,
        reveal: bool = True,
        on_change: Callable[[types.GetVpsStatusResult], None] | None = None,
    ) -> types.GetVpsStatusResult:
        """
        Waits until it answers by SSH. The first time the answer has ``root_password``: keep it, it is not shown again.

        :raises NeverError: when it could not be made, or was deleted
        :raises TimeoutError: when it took longer than so many seconds
        """
        return await wait_for_ssh(self.client, self.id, timeout=timeout, reveal=reveal, on_change=on_change)

    async def ssh(self) -> SshParameters:
        """How to connect to it by SSH."""
        access = (await self.info()).ssh
        return SshParameters(
            host=access.host,
            port=access.port,
            username=access.user,
            known_hosts=access.known_hosts,
            command=access.command,
        )

    async def exec(
        self, command: str, *, stdin: str | None = None, timeout: float | None = None
    ) -> types.RunOnVpsResult:
        """Runs a shell command as root through the guest agent, without SSH, for up to 50 s."""
        return await self.client.run_on_vps(
            service_id=self.id, command=command, input=stdin, timeout=timeout
        )

    async def start(self, *, timeout: float | None = None, on_change: OnWork | None = None) -> None:
        """Turns it on, and waits until that is done."""
        await self.power("start", timeout=timeout, on_change=on_change)

    async def stop(self, *, timeout: float | None = None, on_change: OnWork | None = None) -> None:
        """Turns it off, and waits until that is done."""
        await self.power("stop", timeout=timeout, on_change=on_change)

    async def reboot(self, *, timeout: float | None = None, on_change: OnWork | None = None) -> None:
        """Boots it again, and waits until that is done."""
        await self.power("reboot", timeout=timeout, on_change=on_change)

    async def power(
        self, action: types.PowerAction, *, timeout: float | None = None, on_change: OnWork | None = None
    ) -> None:
        """Changes its power, and waits until that is done."""
        begun = await self.client.power_vps(service_id=self.id, action=action)
        await self._done(begun.operation, timeout, on_change)

    async def reinstall(
        self,
        *,
        os_id: int,
        confirm: str | bool,
        ssh_key: str | None = None,
        timeout: float | None = None,
        on_change: OnWork | None = None,
    ) -> None:
        """Installs an operating system anew: everything on its disk is lost. ``confirm`` is its host name."""
        begun = await self.client.reinstall_vps(service_id=self.id, os_id=os_id, confirm=confirm, ssh_key=ssh_key)
        await self._done(begun.operation, timeout, on_change)

    async def change_plan(
        self, target_plan: str, *, timeout: float | None = None, on_change: OnWork | None = None
    ) -> None:
        """Moves it to a larger plan."""
        begun = await self.client.change_plan(service_id=self.id, target_plan=target_plan, confirm=True)
        await self._done(begun.operation, timeout, on_change)

    async def snapshot(self, name: str | None = None) -> types.Snapshot:
        """Keeps the state of its disk, to which ``restore_snapshot`` of ``client`` goes back."""
        return (await self.client.create_snapshot(service_id=self.id, name=name)).snapshot

    async def cancel(
        self, *, mode: Literal["end_of_period", "immediate"] | None = None, confirm: str | bool | None = None
    ) -> types.CancelServiceResult:
        """Ends it: at the end of what is paid, or at once with mode immediate and its host name, which credits unused time."""
        return await self.client.cancel_service(service_id=self.id, mode=mode, confirm=confirm)

    async def _done(self, work: types.Operation, timeout: float | None, on_change: OnWork | None) -> None:
        deadline = Deadline(timeout, f"{work.kind} of VPS {self.id}")
        while True:
            if on_change is not None:
                on_change(work)
            if work.status != "running":
                break
            work = await self.client.get_operation(
                operation_id=work.id, wait="done", timeout=deadline.poll_seconds()
            )
        if work.status != "succeeded":
            reason = f": {work.error}" if work.error else ""
            raise NeverError(f"{work.kind} of VPS {self.id} {work.status}{reason}")


class AsyncVpsFiles:
    """Files of a VPS, through its guest agent. Paths are absolute."""

    def __init__(self, client: AsyncClient, service_id: str) -> None:
        self._client = client
        self._id = service_id

    async def write(self, path: str, content: str | bytes) -> int:
        """Replaces the file; its folder has to exist. One of more than 3 MB is written in pieces. :returns: its size in bytes"""
        whole = content.encode() if isinstance(content, str) else content
        size = 0
        for offset in range(0, max(len(whole), 1), PIECE_BYTES):
            piece = base64.b64encode(whole[offset : offset + PIECE_BYTES]).decode()
            written = await self._client.write_vps_file(
                service_id=self._id, path=path, content_base64=piece, offset=offset or None
            )
            size = written.size
        return size

    async def read(self, path: str) -> bytes:
        """The whole file."""
        pieces = []
        offset = 0
        while True:
            part = await self._client.read_vps_file(
                service_id=self._id, path=path, offset=offset, length=PIECE_BYTES
            )
            pieces.append(
                base64.b64decode(part.content_base64 or "") if part.content is None else part.content.encode()
            )
            offset += part.length
            if part.eof or part.length == 0:
                return b"".join(pieces)

    async def text(self, path: str) -> str:
        """The whole file, as UTF-8."""
        return (await self.read(path)).decode()
