"""The outputs of a program while they come."""

from __future__ import annotations

from typing import Any

from ._wire import decode
from .generated import types

KEPT_CHARACTERS = 1024 * 1024
"""How much of each output is kept for the result."""


class Outputs:
    """Keeps the beginning of each output, and knows where to read on in outputs and results."""

    def __init__(self) -> None:
        self.kept = {"stdout": "", "stderr": ""}
        self.next = {"stdout": 0, "stderr": 0, "results": 0}
        self.truncated = False

    def add(self, output: str, data: dict[str, Any]) -> str:
        """:returns: the text of an event"""
        text = str(data["text"])
        whole = self.kept[output] + text
        self.truncated = self.truncated or len(whole) > KEPT_CHARACTERS
        self.kept[output] = whole[:KEPT_CHARACTERS]
        if "next" in data:
            self.next[output] = int(data["next"][output])
        return text

    def see(self, data: dict[str, Any]) -> types.CodeResult:
        """:returns: the result of an event"""
        if "next" in data:
            self.next["results"] = int(data["next"]["results"])
        return decode(types.CodeResult, data)  # type: ignore[no-any-return]

    def result(self, end: dict[str, Any]) -> dict[str, Any]:
        """The answer at the end, with the outputs that came before it."""
        return {**end, **self.kept, "truncated": self.truncated}
