"""The client, for code that awaits."""

from __future__ import annotations

from types import TracebackType

from ..generated.async_client import AsyncOperations


class AsyncClient(AsyncOperations):
    """
    A client of a Coinrack service: one method for each operation. Money is ``Decimal`` US dollars and times are ``datetime`` in UTC. As a
    context manager it closes its connections at the end.

    :param url: origin of the service, such as ``https://vps.example.net``
    :param token: from ``register_account`` or ``login``; without one, only public operations answer
    :param retry: how refusals for now and broken connections are repeated
    :param http: a client of httpx, for proxies and certificates of your own
    """

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
