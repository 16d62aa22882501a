"""A typed client of a Coinrack service: VPS and code sandboxes, prepaid in stablecoins."""

from ._async.client import AsyncClient
from ._async.listing import AsyncListing
from ._async.sandbox import AsyncSandbox
from ._async.sandbox_contexts import AsyncSandboxContexts
from ._async.sandbox_files import AsyncSandboxFiles
from ._async.sandbox_task import AsyncSandboxTask
from ._async.vps import AsyncVps, AsyncVpsFiles
from ._async.waiting import wait_for_approval as async_wait_for_approval
from ._async.waiting import wait_for_invoice as async_wait_for_invoice
from ._async.waiting import wait_for_ssh as async_wait_for_ssh
from ._errors import CoinrackError, ConnectionError, NeverError, NextStep
from ._operation import NOT_GIVEN, NotGiven, Retry
from ._page import Page
from ._ssh import SshParameters
from ._sync.client import Client
from ._sync.listing import Listing
from ._sync.sandbox import Sandbox
from ._sync.sandbox_contexts import SandboxContexts
from ._sync.sandbox_files import SandboxFiles
from ._sync.sandbox_task import SandboxTask
from ._sync.vps import Vps, VpsFiles
from ._sync.waiting import wait_for_approval, wait_for_invoice, wait_for_ssh
from .generated import types

__all__ = [
    "NOT_GIVEN",
    "AsyncClient",
    "AsyncListing",
    "AsyncSandbox",
    "AsyncSandboxContexts",
    "AsyncSandboxFiles",
    "AsyncSandboxTask",
    "AsyncVps",
    "AsyncVpsFiles",
    "Client",
    "CoinrackError",
    "ConnectionError",
    "Listing",
    "NeverError",
    "NextStep",
    "NotGiven",
    "Page",
    "Retry",
    "Sandbox",
    "SandboxContexts",
    "SandboxFiles",
    "SandboxTask",
    "SshParameters",
    "Vps",
    "VpsFiles",
    "async_wait_for_approval",
    "async_wait_for_invoice",
    "async_wait_for_ssh",
    "types",
    "wait_for_approval",
    "wait_for_invoice",
    "wait_for_ssh",
]
