"""One call on its way out, and whether it is worth making again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Generic, TypeVar
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from ._wire import encode, in_query

T = TypeVar("T")


class NotGiven(Enum):
    """The type of what was not given, where ``None`` means something else."""

    NOT_GIVEN = 0


NOT_GIVEN: Final = NotGiven.NOT_GIVEN


def given(value: T | None) -> T | NotGiven:
    """An input that is left out when it is None."""
    return NOT_GIVEN if value is None else value


@dataclass(frozen=True)
class Operation(Generic[T]):
    """One thing that can be asked of the service, as it stands on the wire."""

    name: str
    method: str
    path: str
    """Below the origin, with the names of inputs in braces."""
    answer: Any
    """The type of the answer, or of one item of a list."""
    is_public: bool = False
    is_repeatable: bool = False
    """The same call twice has the effect of one."""
    in_path: tuple[str, ...] = ()
    in_query: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """What is sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes | None
    is_repeatable: bool


def request_of(
    operation: Operation[Any], inputs: Mapping[str, Any], token: str | None, idempotency_key: str | None
) -> Request:
    """A call as it stands on the wire: what the path names into the path, the rest into the query or the body."""
    rest = {name: value for name, value in inputs.items() if value is not NOT_GIVEN}
    path = operation.path
    for name in operation.in_path:
        path = path.replace("{" + name + "}", quote(str(rest.pop(name)), safe=""))
    is_read = operation.method == "GET"
    names = [name for name in rest if is_read or name in operation.in_query]
    query = urlencode([(name, in_query(rest.pop(name))) for name in names])
    headers = {"accept": "application/json"}
    if token is not None and not operation.is_public:
        headers["authorization"] = f"Bearer {token}"
    if idempotency_key is not None:
        headers["idempotency-key"] = idempotency_key
    if not is_read:
        headers["content-type"] = "application/json"
    return Request(
        method=operation.method,
        path=f"{path}?{query}" if query else path,
        headers=headers,
        content=None if is_read else json.dumps(encode(rest)).encode(),
        is_repeatable=operation.is_repeatable or idempotency_key is not None,
    )


@dataclass(frozen=True)
class Retry:
    """How refusals for now and broken connections are repeated."""

    attempts: int = 5
    """How often a call is made at most, the first time included; 1 never repeats."""
    longest_wait: float = 60.0
    """Seconds that are waited at most before a repetition. Told to wait longer, the call fails."""


@dataclass(frozen=True)
class Outcome:
    """What came of one attempt; without a status no answer came."""

    status: int | None = None
    retry_after: float | None = None
    code: object = None


_FIRST_PAUSE_S = 0.25


def pause_before_next(
    retry: Retry, attempt: int, outcome: Outcome, is_repeatable: bool, chance: float
) -> float | None:
    """
    The seconds after which the call is made again; None when it is not worth it. 429 and 503 did nothing; a write may still be running
    under its own idempotency key; and calls that can be made twice are made again after broken connections and gateways without an answer.

    :param chance: 0 to 1, by which up to half of a pause is left out, so that many clients do not come back at once
    """
    backoff = _FIRST_PAUSE_S * 2 ** (attempt - 1) * (1 - chance / 2)
    pause = min(backoff, retry.longest_wait) if outcome.retry_after is None else outcome.retry_after
    if attempt >= retry.attempts or pause > retry.longest_wait:
        return None
    return pause if _may_go_well(outcome, is_repeatable) else None


def _may_go_well(outcome: Outcome, is_repeatable: bool) -> bool:
    if outcome.status in (None, 502, 504):
        return is_repeatable
    if outcome.status == 409:
        return outcome.code == "idempotency_running"
    return outcome.status in (429, 503)


def told_pause(headers: Mapping[str, str], body: object) -> float | None:
    """The seconds that the service said to wait: those of Retry-After, or of the body."""
    text = headers.get("retry-after", "")
    if re.fullmatch(r"\d+", text):
        return float(text)
    told = body.get("retry_after") if isinstance(body, dict) else None
    return float(told) if isinstance(told, int) and not isinstance(told, bool) and told >= 0 else None


def next_cursor(headers: Mapping[str, str]) -> str | None:
    """The cursor of the next page, from the Link header (RFC 8288); None when this was the last."""
    match = re.search(r'<([^>]*)>;\s*rel="next"', headers.get("link", ""))
    if match is None:
        return None
    return next(iter(parse_qs(urlsplit(match.group(1)).query).get("cursor", [])), None)
