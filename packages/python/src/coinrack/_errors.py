"""What can go wrong: a refusal, no answer, or a wait that cannot end."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from .generated.types import ErrorCode


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """A call worth making next, for a caller that decides by itself."""

    tool: str
    why: str
    arguments: dict[str, Any] = field(default_factory=dict)


class CoinrackError(Exception):
    """
    The service refused. ``code`` is for programs, ``message`` and ``fix`` are for people; fields that one code has beside these, such as
    the ``invoice`` of a 402, are in ``body`` as they stand on the wire.
    """

    code: ErrorCode | str
    """`unexpected_answer` when something between here and the service answered in its place."""
    status: int
    """The HTTP status; 0 when the refusal came in the middle of a stream."""
    message: str
    fix: str
    next_steps: list[NextStep]
    request_id: str | None
    retry_after: float | None
    """Seconds, when the service said when to come back."""
    body: Mapping[str, Any]

    def __init__(self, status: int, body: object, retry_after: float | None = None) -> None:
        told = cast("Mapping[str, Any]", body) if isinstance(body, dict) else {}
        self.status = status
        self.body = told
        self.message = _text(told, "message") or f"The answer has status {status} and is none of Coinrack's"
        self.code = _text(told, "code") or "unexpected_answer"
        self.fix = _text(told, "fix") or "Check that the url of the client is that of a Coinrack service."
        self.request_id = _text(told, "request_id")
        self.retry_after = retry_after
        self.next_steps = [_step(step) for step in told.get("next_steps") or [] if isinstance(step, dict)]
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} ({self.code}). {self.fix}"


class ConnectionError(builtins.ConnectionError):
    """No answer came: the service cannot be reached, or the connection broke."""

    def __init__(self, url: str, cause: object) -> None:
        super().__init__(f"No answer from {url}: {cause or type(cause).__name__}")


class NeverError(Exception):
    """The event that was waited for can no longer happen."""


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None


def _step(step: Mapping[str, Any]) -> NextStep:
    arguments = step.get("arguments")
    return NextStep(
        tool=str(step.get("tool", "")),
        why=str(step.get("why", "")),
        arguments=arguments if isinstance(arguments, dict) else {},
    )
