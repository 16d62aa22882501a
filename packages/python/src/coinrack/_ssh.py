"""The way in by SSH."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SshParameters:
    """The parameters of an SSH connection, for any client of SSH."""

    host: str
    port: int
    username: str
    known_hosts: list[str]
    """Lines for a ``known_hosts`` file: with them the first connection is verified too."""
    command: str
    """The command of OpenSSH for the same."""
