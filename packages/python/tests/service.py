"""The service that the tests run against, and what they need of its operator."""

from __future__ import annotations

import json
import os
import urllib.request
from typing import Any

URL = os.environ["COINRACK_TEST_URL"]
CONTROL = os.environ["COINRACK_TEST_CONTROL"]


def ask(path: str) -> Any:
    with urllib.request.urlopen(f"{CONTROL}{path}") as answer:
        return json.load(answer)


def customer(balance: str = "20.00") -> str:
    """The token of a new account with so much on its balance."""
    return str(ask(f"/customer?balance={balance}")["token"])
