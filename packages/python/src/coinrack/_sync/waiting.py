# Made by `npm run generate` from the module that awaits.
"""Waiting for what takes its time: each poll is answered when it happened, or after 50 s."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from .._errors import NeverError
from ..generated import types
from .client import Client

LONGEST_POLL_S = 50
"""No answer of the service takes longer."""


class Deadline:
    """When a wait is given up."""

    def __init__(self, seconds: float | None, subject: str) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._subject = subject

    def poll_seconds(self) -> int:
        """
        How long the next poll may take.

        :raises TimeoutError: when no time is left
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{self._subject} takes longer than was waited for")
        return math.ceil(min(left, LONGEST_POLL_S))


def wait_for_invoice(
    client: Client,
    invoice_id: str,
    *,
    timeout: float | None = None,
    on_change: Callable[[types.Invoice], None] | None = None,
) -> types.Invoice:
    """
    Waits until an invoice is paid.

    :param timeout: seconds after which it is given up
    :param on_change: told what each poll showed
    :raises NeverError: when the invoice was cancelled or has expired
    :raises TimeoutError: when it took longer
    """
    deadline = Deadline(timeout, f"Invoice {invoice_id}")
    while True:
        seconds = deadline.poll_seconds()
        invoice = client.get_invoice(invoice_id=invoice_id, wait="paid", timeout=seconds)
        if on_change is not None:
            on_change(invoice)
        if invoice.status == "paid":
            return invoice
        if invoice.status in ("expired", "cancelled"):
            raise NeverError(f"Invoice {invoice_id} is {invoice.status}")


def wait_for_ssh(
    client: Client,
    service_id: str,
    *,
    timeout: float | None = None,
    reveal: bool = True,
    on_change: Callable[[types.GetVpsStatusResult], None] | None = None,
) -> types.GetVpsStatusResult:
    """
    Waits until a VPS answers by SSH, and returns it with the ways in.

    :param timeout: seconds after which it is given up
    :param reveal: False leaves the root password, which is shown once, for a later read
    :param on_change: told what each poll showed
    :raises NeverError: when the VPS failed or was deleted
    :raises TimeoutError: when it took longer
    """
    deadline = Deadline(timeout, f"VPS {service_id}")
    while True:
        seconds = deadline.poll_seconds()
        vps = client.get_vps_status(service_id=service_id, wait="ssh_ready", timeout=seconds, reveal=reveal)
        if on_change is not None:
            on_change(vps)
        if vps.ssh_ready:
            return vps
        if vps.status in ("failed", "deleted"):
            reason = f": {vps.failure_reason}" if vps.failure_reason else ""
            raise NeverError(f"VPS {service_id} is {vps.status}{reason}")


def wait_for_approval(
    client: Client,
    approval_id: str,
    *,
    timeout: float | None = None,
    on_change: Callable[[types.GetApprovalResult], None] | None = None,
) -> types.GetApprovalResult:
    """
    Waits until the owner of the account has approved a charge: send the same call again then.

    :param approval_id: of the error ``approval_needed`` (``error.body["approval_id"]``)
    :param timeout: seconds after which it is given up
    :param on_change: told what each poll showed
    :raises NeverError: when it was denied or has expired
    :raises TimeoutError: when it took longer
    """
    deadline = Deadline(timeout, f"Approval {approval_id}")
    while True:
        seconds = deadline.poll_seconds()
        approval = client.get_approval(approval_id=approval_id, wait="decided", timeout=seconds)
        if on_change is not None:
            on_change(approval)
        if approval.status in ("approved", "spent"):
            return approval
        if approval.status != "pending":
            raise NeverError(f"Approval {approval_id} is {approval.status}")
