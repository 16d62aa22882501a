# Made by `npm run generate` from the module that awaits.
"""The client, for code that blocks."""

from __future__ import annotations

from types import TracebackType

from ..generated.sync_client import Operations


class Client(Operations):
    """
    A client of a Coinrack service: one method for each operation. Money is ``Decimal`` US dollars and times are ``datetime`` in UTC. As a
    context manager it closes its connections at the end.

    :param url: origin of the service, such as ``https://vps.example.net``
    :param token: from ``register_account`` or ``login``; without one, only public operations answer
    :param retry: how refusals for now and broken connections are repeated
    :param http: a client of httpx, for proxies and certificates of your own
    """

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
