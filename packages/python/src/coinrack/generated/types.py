"""The shapes of the service's answers and inputs. Made by `npm run generate` from the contract."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypedDict

Usd = Decimal | int | float | str
"""US dollars as they are sent: at most 6 decimals. Answers have `Decimal`."""


@dataclass(frozen=True, kw_only=True)
class Account:
    id: str
    """Identifier: acc_..."""
    email: str | None
    """Null for an account of a wallet until set_email"""
    first_name: str | None
    last_name: str | None
    has_password: bool
    email_verified: bool
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Balance:
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""
    held: Decimal
    """Reserved for orders in progress and running sandboxes; not part of balance"""
    total: Decimal
    """balance + held"""
    owed: Decimal
    """Debt that a reversed payment left; arriving money pays it first"""
    currency: Literal["USD"]


@dataclass(frozen=True, kw_only=True)
class BudgetApproveAbove:
    per_call: Decimal | None
    per_day: Decimal | None


@dataclass(frozen=True, kw_only=True)
class Budget:
    max_per_charge: Decimal | None
    per_day: Decimal | None
    total: Decimal | None
    max_live_vps: int | None
    max_live_sandboxes: int | None
    allow_auto_renew: bool
    approve_above: BudgetApproveAbove | None


DelegationStatus = Literal["invited", "active", "expired", "revoked"]


@dataclass(frozen=True, kw_only=True)
class Delegation:
    id: str
    """Identifier: dlg_..."""
    service_id: str
    """Identifier: vps_..."""
    email: str
    status: DelegationStatus
    expires_at: datetime | None
    created_at: datetime
    accepted_at: datetime | None


DeliveryStatus = Literal["pending", "delivered", "dead"]


@dataclass(frozen=True, kw_only=True)
class Delivery:
    id: str
    """Identifier: dlv_..."""
    event_id: str
    """Identifier: evt_..."""
    type: str
    status: DeliveryStatus
    attempts: int
    next_attempt_at: datetime | None
    last_status: int | None
    """HTTP status of the last answer"""
    last_error: str | None
    created_at: datetime


ExposedPortAccess = Literal["public", "token"]


@dataclass(frozen=True, kw_only=True)
class ExposedPort:
    port: int
    access: ExposedPortAccess
    url: str
    path_url: str
    """The same under the address of this service, for where url has no name"""
    token: str | None
    """Send it as X-Preview-Token, or once as ?preview_token="""
    created_at: datetime
    blocked: str | None
    """Why the operator took the URL off; null while it can be reached"""


@dataclass(frozen=True, kw_only=True)
class FileRead:
    path: str
    size: int
    """Size of the whole file, in bytes"""
    offset: int
    length: int
    """Bytes in this answer"""
    eof: bool
    download_url: str | None = None
    """As a tool, where this is not all of it: for an hour"""
    content: str | None = None
    content_base64: str | None = None


FirewallRuleAction = Literal["allow", "deny"]


FirewallRuleDirection = Literal["in", "out"]


FirewallRuleProtocol = Literal["tcp", "udp", "icmp", "any"]


@dataclass(frozen=True, kw_only=True)
class FirewallRule:
    action: FirewallRuleAction
    direction: FirewallRuleDirection
    protocol: FirewallRuleProtocol | None = None
    ports: list[str] | None = None
    """Port of the VPS for in, of the other side for out; only for tcp and udp. Left out: all ports"""
    cidr: str | None = None
    """The other side. Without: everybody"""


InvoiceKind = Literal["topup", "order", "renewal"]


InvoiceStatus = Literal["unpaid", "confirming", "paid", "settled_to_balance", "expired", "cancelled"]


PaymentNetwork = Literal["base", "ethereum", "polygon"]


PaymentToken = Literal["USDC", "USDT", "PYUSD"]


@dataclass(frozen=True, kw_only=True)
class InvoicePaymentOption:
    network: PaymentNetwork
    chain_id: int
    token: PaymentToken
    token_address: str
    decimals: int
    address: str
    """Send the token to this address"""
    amount: Decimal
    amount_atomic: str
    """The amount in the smallest unit of the token"""
    uri: str
    """EIP-681"""


InvoicePaymentStatus = Literal["seen", "credited", "orphaned"]


@dataclass(frozen=True, kw_only=True)
class InvoicePayment:
    network: PaymentNetwork
    token: PaymentToken
    tx_hash: str
    log_index: int
    amount: Decimal
    confirmations: int
    required: str
    """Confirmations needed: a number of blocks, "safe" or "finalized\""""
    status: InvoicePaymentStatus


@dataclass(frozen=True, kw_only=True)
class Invoice:
    id: str
    """Identifier: inv_..."""
    kind: InvoiceKind
    status: InvoiceStatus
    """settled_to_balance: the money came and is on the balance, but what it was for could not be begun; see closed_reason"""
    amount: Decimal
    received: Decimal
    """Credited so far"""
    currency: Literal["USD"]
    order_id: str | None
    service_id: str | None
    """The VPS that it renews, or that the order became once it was paid"""
    closed_reason: str | None
    """Why it was settled to the balance"""
    checkout_url: str
    """A page where this invoice can be paid, for people"""
    created_at: datetime
    expires_at: datetime
    paid_at: datetime | None
    payment_options: list[InvoicePaymentOption]
    payments: list[InvoicePayment]


OperationKind = Literal["start", "stop", "reboot", "cancel", "set_hostname", "reset_password", "reinstall", "change_plan", "enter_rescue", "leave_rescue"]


OperationStatus = Literal["running", "succeeded", "failed", "superseded"]


@dataclass(frozen=True, kw_only=True)
class Operation:
    id: str
    """Identifier: op_..."""
    service_id: str
    """Identifier: vps_..."""
    kind: OperationKind
    status: OperationStatus
    """superseded: a later call wanted something else before it was done"""
    progress: str
    """The present or last step, in a few words"""
    error: str | None
    """Why it failed, or was superseded"""
    created_at: datetime
    ended_at: datetime | None


OrderStatus = Literal["quote", "awaiting_payment", "provisioning", "active", "failed", "cancelled", "expired"]


@dataclass(frozen=True, kw_only=True)
class Order:
    id: str
    """Identifier: ord_..."""
    status: OrderStatus
    """quote: a dry run, nothing was made"""
    product: str
    os_id: int
    hostname: str
    total: Decimal
    currency: Literal["USD"]
    service_id: str | None
    invoice_id: str | None
    failure_reason: str | None
    created_at: datetime


SandboxState = Literal["starting", "running", "pausing", "paused", "resuming", "ended", "failed"]


SandboxReason = Literal["asked", "timeout", "idle", "balance", "owed", "budget", "kept_too_long", "crashed", "host_lost", "failed"]


SandboxTariff = Literal["micro", "small", "standard", "plus", "pro", "max"]


SandboxMode = Literal["ephemeral", "persistent"]


@dataclass(frozen=True, kw_only=True)
class NetworkRules:
    allow_internet: bool
    allow_out: list[str]
    deny_out: list[str]


@dataclass(frozen=True, kw_only=True)
class PaidSandbox:
    id: str
    """Identifier: sbx..."""
    state: SandboxState
    reason: SandboxReason | None
    """Why it paused or ended"""
    failure: str | None
    tariff: SandboxTariff
    template: str
    mode: SandboxMode
    vcpus: float
    memory_mb: int
    disk_gb: int
    price_per_hour: Decimal
    seconds: float
    """Run time without pauses"""
    cost: Decimal
    """For those seconds"""
    timeout: int
    idle_timeout: int
    expires_at: datetime | None
    """When it ends or, if persistent, pauses"""
    network: NetworkRules
    metadata: dict[str, str]
    parent_id: str | None
    """Forked from this sandbox"""
    created_at: datetime
    ended_at: datetime | None
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""


PlanNetwork = Literal["nat", "dedicated"]


@dataclass(frozen=True, kw_only=True)
class PlanOsImage:
    os_id: int
    name: str
    distribution: str
    version: str
    arch: str
    available: bool


@dataclass(frozen=True, kw_only=True)
class Plan:
    slug: str
    """Send it as "product" when ordering"""
    name: str
    description: str
    network: PlanNetwork
    """dedicated: an IPv4 address of its own"""
    vcpus: float
    memory_mb: int
    disk_gb: int
    transfer_gb: int
    snapshots: int
    """How many can be kept of a VPS"""
    price: Decimal
    """Per month"""
    price_hourly: Decimal
    currency: Literal["USD"]
    regions: list[str]
    features: dict[str, list[str]]
    """By region: the features that every VPS of the plan has there"""
    available: bool
    os_images: list[PlanOsImage]


RefundStatus = Literal["requested", "approved", "sent", "cancelled", "rejected"]


@dataclass(frozen=True, kw_only=True)
class Refund:
    id: str
    """Identifier: rfd_..."""
    status: RefundStatus
    """requested: it can be cancelled; approved: the operator pays it next; sent: it is on its chain"""
    amount: Decimal
    network: PaymentNetwork
    token: PaymentToken
    address: str
    cancel_until: datetime
    """The operator cannot approve it before"""
    reason: str | None
    """Why it was rejected"""
    tx_hash: str | None
    created_at: datetime
    closed_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    id: str
    """Identifier: sbx..."""
    state: SandboxState
    reason: SandboxReason | None
    """Why it paused or ended"""
    failure: str | None
    tariff: SandboxTariff
    template: str
    mode: SandboxMode
    vcpus: float
    memory_mb: int
    disk_gb: int
    price_per_hour: Decimal
    seconds: float
    """Run time without pauses"""
    cost: Decimal
    """For those seconds"""
    timeout: int
    idle_timeout: int
    expires_at: datetime | None
    """When it ends or, if persistent, pauses"""
    network: NetworkRules
    metadata: dict[str, str]
    parent_id: str | None
    """Forked from this sandbox"""
    created_at: datetime
    ended_at: datetime | None


SandboxSnapshotStatus = Literal["creating", "ready", "failed", "deleting"]


@dataclass(frozen=True, kw_only=True)
class SandboxSnapshot:
    id: str
    """Also the template of new sandboxes"""
    sandbox_id: str
    """Identifier: sbx..."""
    name: str
    status: SandboxSnapshotStatus
    tariff: SandboxTariff
    size_mb: int | None
    created_at: datetime


SandboxTemplateStatus = Literal["waiting", "building", "ready", "failed"]


SandboxTemplateSource = Literal["dockerfile", "snapshot", "image"]


@dataclass(frozen=True, kw_only=True)
class SandboxTemplate:
    id: str
    """Identifier: tpl_..."""
    name: str
    """Also the template of new sandboxes"""
    status: SandboxTemplateStatus
    """waiting: for an upload, or for a build"""
    source: SandboxTemplateSource
    tariff: SandboxTariff
    """Its sandboxes have the same"""
    size_mb: int | None
    build: TemplateBuild | None
    """The last one"""
    created_at: datetime
    built_at: datetime | None


TemplateBuildStatus = Literal["running", "succeeded", "failed"]


@dataclass(frozen=True, kw_only=True)
class TemplateBuild:
    id: str
    """Identifier: bld_..."""
    status: TemplateBuildStatus
    sandbox_id: str
    """Where it is built; paid like others"""
    steps_done: int
    error: str | None
    created_at: datetime
    ended_at: datetime | None


SnapshotReason = Literal["reinstall", "cancel"]


SnapshotStatus = Literal["creating", "ready", "restoring", "damaged", "failed", "deleting", "deleted"]


SnapshotConsistency = Literal["memory", "guest", "crash", "off"]


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    id: str
    """Identifier: snp_..."""
    service_id: str
    """Identifier: vps_..."""
    name: str
    reason: SnapshotReason | None
    """Taken by the service before that; null for one that was asked for"""
    status: SnapshotStatus
    include_memory: bool
    consistency: SnapshotConsistency | None
    """memory: nothing was lost; guest: file systems were written out first; crash: as after a power cut; off: the VPS was stopped"""
    failure_reason: str | None
    created_at: datetime
    expires_at: datetime | None
    """When it deletes itself; null for never"""


@dataclass(frozen=True, kw_only=True)
class Settlement:
    success: bool
    errorReason: str | None = None
    """"settlement_pending": do not pay again"""
    transaction: str
    network: str
    payer: str
    amount: str


@dataclass(frozen=True, kw_only=True)
class SSHAccess:
    host: str
    port: int
    user: str
    command: str
    """Ready to run"""
    known_hosts: list[str]
    """Lines for a known_hosts file, so that the host can be verified"""


@dataclass(frozen=True, kw_only=True)
class SSHKey:
    id: str
    """Identifier: key_..."""
    name: str
    type: str
    fingerprint: str
    """SHA256:..., as ssh-keygen -l shows it"""
    public_key: str
    created_at: datetime


TicketStatus = Literal["open", "answered", "closed"]


@dataclass(frozen=True, kw_only=True)
class Ticket:
    id: str
    """Identifier: tkt_..."""
    subject: str
    status: TicketStatus
    """answered: it is your turn"""
    service_id: str | None
    created_at: datetime
    updated_at: datetime


TicketDetailMessageAuthor = Literal["customer", "operator"]


@dataclass(frozen=True, kw_only=True)
class TicketDetailMessage:
    author: TicketDetailMessageAuthor
    body: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class TicketDetail:
    id: str
    """Identifier: tkt_..."""
    subject: str
    status: TicketStatus
    """answered: it is your turn"""
    service_id: str | None
    created_at: datetime
    updated_at: datetime
    rating: int | None
    messages: list[TicketDetailMessage]


TokenKind = Literal["plain", "grant", "program"]


TokenStatus = Literal["active", "expired", "revoked"]


TokenScope = Literal["read", "order", "manage", "sandbox", "billing", "account"]


@dataclass(frozen=True, kw_only=True)
class TokenSpent:
    today: Decimal
    total: Decimal
    unapproved_today: Decimal


@dataclass(frozen=True, kw_only=True)
class Token:
    id: str
    """Identifier: tok_..."""
    name: str | None
    kind: TokenKind
    """plain; grant: an application that was let in by OAuth; program: for one run of a program"""
    parent_id: str | None
    """Null for the token of a login, which may do everything"""
    status: TokenStatus
    unconfirmed: bool
    """From before the mailbox was proven: limited until confirm_token"""
    scopes: list[TokenScope]
    budget: Budget | None
    spent: TokenSpent
    """By it and all below it; unapproved_today without the approval of a person"""
    created_at: datetime
    expires_at: datetime


VPSStatus = Literal["provisioning", "active", "stopped", "rebooting", "reinstalling", "resizing", "suspended", "failed", "deleted"]


@dataclass(frozen=True, kw_only=True)
class VPSOs:
    os_id: int
    name: str


VPSFeature = Literal["firewall", "ipv6", "memory_snapshots", "retained_disks", "serial_console", "screen", "rescue", "guest_commands"]


@dataclass(frozen=True, kw_only=True)
class VPS:
    id: str
    """Identifier: vps_..."""
    order_id: str
    """Identifier: ord_..."""
    status: VPSStatus
    ssh_ready: bool
    """An SSH server answered at the address below"""
    failure_reason: str | None
    hostname: str
    ip: str
    ipv6: str | None
    """Its own"""
    ssh_user: str
    ssh_port: int
    ssh: SSHAccess
    rescue: bool
    """It runs its rescue system, or is about to"""
    password_available: bool
    """The root password was not shown yet"""
    product: str
    os: VPSOs
    region: str
    features: list[VPSFeature]
    billing: VPSBilling | None = None
    created_at: datetime


VPSBillingCycle = Literal["monthly", "hourly"]


@dataclass(frozen=True, kw_only=True)
class VPSBilling:
    cycle: VPSBillingCycle
    price: Decimal
    """For a month or an hour, as agreed by the order or a change of plan"""
    paid_until: datetime | None
    auto_renew: bool
    cancel_at_period_end: bool
    delete_at: datetime | None
    """Suspended, it is kept until then"""


@dataclass(frozen=True, kw_only=True)
class Webhook:
    id: str
    """Identifier: whk_..."""
    url: str
    types: list[str] | None
    """Null: all"""
    enabled: bool
    """False after its receiver answered 410"""
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class GetStartedResultFlow:
    tool: str
    why: str
    arguments: dict[str, Any] | None = None
    step: int


@dataclass(frozen=True, kw_only=True)
class GetStartedResultYouAreHereNext:
    tool: str
    why: str
    arguments: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class GetStartedResultYouAreHereNotice:
    type: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class GetStartedResultYouAreHere:
    authenticated: bool
    balance: Balance | None
    live_vps: int
    live_sandboxes: int
    next: GetStartedResultYouAreHereNext
    notices: list[GetStartedResultYouAreHereNotice]
    """For an account without an e-mail address"""


@dataclass(frozen=True, kw_only=True)
class GetStartedResult:
    service: str
    flow: list[GetStartedResultFlow]
    sandbox_flow: list[GetStartedResultFlow]
    """From a balance on, to run code; empty where no sandboxes run"""
    authentication: str
    tools: str
    errors: str
    limits: dict[str, str]
    payment: str
    you_are_here: GetStartedResultYouAreHere


FindOperationsResultOperationEffect = Literal["read", "write", "spend", "destructive"]


@dataclass(frozen=True, kw_only=True)
class FindOperationsResultOperation:
    name: str
    title: str
    description: str
    rest: str
    """Method and path"""
    effect: FindOperationsResultOperationEffect
    input_schema: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class FindOperationsResult:
    operations: list[FindOperationsResultOperation]
    declaration: str | None = None
    """TypeScript; the parts together are one file"""
    total: int
    """How many were found"""
    next_cursor: str | None = None
    """For the next part"""


FindOperationsSubject = Literal["Guide", "Account", "Catalog", "Balance", "VPS", "Sandboxes", "Events", "Support", "Delegations"]


FindOperationsFormat = Literal["list", "schema", "typescript"]


@dataclass(frozen=True, kw_only=True)
class RegisterAccountResult:
    token: str
    """Shown once; send it as "Authorization: Bearer <token>\""""
    token_type: Literal["Bearer"]
    token_expires_at: datetime
    account: Account


@dataclass(frozen=True, kw_only=True)
class RequestLoginCodeResult:
    message: str
    expires_in: int
    """Seconds"""


@dataclass(frozen=True, kw_only=True)
class VerifyLoginCodeResult:
    token: str
    """Shown once; send it as "Authorization: Bearer <token>\""""
    token_type: Literal["Bearer"]
    token_expires_at: datetime
    account: Account
    unconfirmed_tokens: list[str]
    """From before the mailbox was proven, on a budget: confirm_token or revoke_token"""


@dataclass(frozen=True, kw_only=True)
class RequestWalletChallengeResult:
    message: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class SetEmailResult:
    account: Account


@dataclass(frozen=True, kw_only=True)
class WhoamiResult:
    id: str
    """Identifier: acc_..."""
    email: str | None
    """Null for an account of a wallet until set_email"""
    first_name: str | None
    last_name: str | None
    has_password: bool
    email_verified: bool
    created_at: datetime
    token: Token
    unconfirmed_tokens: list[str]
    """From before the mailbox was proven, on a budget: confirm_token or revoke_token"""


@dataclass(frozen=True, kw_only=True)
class CreateTokenResult:
    token: str
    """Shown once"""
    token_type: Literal["Bearer"]
    token_expires_at: datetime
    details: Token


class CreateTokenBudgetApproveAbove(TypedDict, total=False):
    per_call: Usd
    per_day: Usd


class CreateTokenBudget(TypedDict, total=False):
    max_per_charge: Usd
    per_day: Usd
    """Days are UTC"""
    total: Usd
    max_live_vps: int
    max_live_sandboxes: int
    allow_auto_renew: bool
    """Services that it orders may renew themselves"""
    approve_above: CreateTokenBudgetApproveAbove
    """A person has to approve what one call costs above per_call, or what a day costs above per_day"""


CreateTokenFormat = Literal["coinrack", "e2b"]


@dataclass(frozen=True, kw_only=True)
class UpdateTokenResult:
    details: Token


@dataclass(frozen=True, kw_only=True)
class RevokeTokenResult:
    revoked: list[str]


@dataclass(frozen=True, kw_only=True)
class RefreshTokenResult:
    token: str
    """Shown once"""
    token_type: Literal["Bearer"]
    token_expires_at: datetime
    token_id: str
    """Identifier: tok_..."""
    old_token_expires_at: datetime


ApprovalStatus = Literal["pending", "approved", "denied", "spent", "expired"]


ApprovalAfterwardsPer = Literal["month", "hour"]


@dataclass(frozen=True, kw_only=True)
class ApprovalAfterwards:
    price: Decimal
    per: ApprovalAfterwardsPer


@dataclass(frozen=True, kw_only=True)
class Approval:
    id: str
    """Identifier: apr_..."""
    status: ApprovalStatus
    """approved: send the same call again, before expires_at; spent: that call was charged"""
    token_id: str
    """Whose call it is"""
    operation: str
    """The tool that was called"""
    subject: str
    """What the charge is for"""
    price: Decimal
    """At most this is charged"""
    currency: Literal["USD"]
    afterwards: ApprovalAfterwards | None
    """What is charged in addition, again and again, afterwards"""
    approval_url: str
    """For the owner of the account: no token can approve"""
    created_at: datetime
    expires_at: datetime
    """Until when it can be decided or, once approved, used"""
    decided_at: datetime | None
    spent_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class GetApprovalResultNow:
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""


@dataclass(frozen=True, kw_only=True)
class GetApprovalResult:
    id: str
    """Identifier: apr_..."""
    status: ApprovalStatus
    """approved: send the same call again, before expires_at; spent: that call was charged"""
    token_id: str
    """Whose call it is"""
    operation: str
    """The tool that was called"""
    subject: str
    """What the charge is for"""
    price: Decimal
    """At most this is charged"""
    currency: Literal["USD"]
    afterwards: ApprovalAfterwards | None
    """What is charged in addition, again and again, afterwards"""
    approval_url: str
    """For the owner of the account: no token can approve"""
    created_at: datetime
    expires_at: datetime
    """Until when it can be decided or, once approved, used"""
    decided_at: datetime | None
    spent_at: datetime | None
    now: GetApprovalResultNow
    """The balance as it is"""
    after: GetApprovalResultNow
    """As it is once this is charged, if all of it is"""
    risk: list[str]
    """What the owner should know, in plain words"""


@dataclass(frozen=True, kw_only=True)
class AddSshKeyResult:
    ssh_key: SSHKey


@dataclass(frozen=True, kw_only=True)
class ListReviewsResultRating:
    average: float | None
    """1 to 5, or null when there is no review"""
    count: int
    distribution: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class ListReviewsResultReview:
    id: str
    """Identifier: rev_..."""
    author: str
    rating: int
    title: str | None
    body: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class ListReviewsResult:
    rating: ListReviewsResultRating
    reviews: list[ListReviewsResultReview]


@dataclass(frozen=True, kw_only=True)
class SubmitReviewResult:
    id: str
    """Identifier: rev_..."""
    status: Literal["pending"]


@dataclass(frozen=True, kw_only=True)
class Transaction:
    id: str
    """Identifier: txn_..."""
    kind: str
    """usage: what a sandbox cost on one day (UTC), so far on the present one"""
    description: str
    amount: Decimal
    """Change of the spendable balance"""
    held_change: Decimal
    balance: Decimal
    """Spendable balance after it and all lines before it"""
    reference: str | None
    """The order, service, sandbox or on-chain payment that it was for"""
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class GetStatementResult:
    from_: datetime
    to: datetime
    currency: Literal["USD"]
    opening_balance: Decimal
    closing_balance: Decimal
    lines: int
    csv: str
    next_cursor: str | None
    """Cursor of the rest, when there are more than 5000 lines"""


@dataclass(frozen=True, kw_only=True)
class TopupBalanceResult:
    invoice: Invoice
    checkout_url: str
    balance: Decimal | None = None
    """Can be spent now"""
    burn_per_hour: Decimal | None = None
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None = None
    """When the balance will not cover them"""
    settlement: Settlement | None = None


TopupBalanceMethod = Literal["invoice", "x402"]


PayInvoiceResultStatus = Literal["settled", "initiated"]


@dataclass(frozen=True, kw_only=True)
class PayInvoiceResult:
    status: PayInvoiceResultStatus
    invoice: Invoice
    checkout_url: str


PayInvoiceMethod = Literal["balance", "crypto"]


@dataclass(frozen=True, kw_only=True)
class GetReceiptResultReceiptCharge:
    transaction_id: str
    """Identifier: txn_..."""
    description: str
    amount: str
    """US dollars"""
    charged_at: str
    """RFC 3339, UTC"""


@dataclass(frozen=True, kw_only=True)
class GetReceiptResultReceiptPayment:
    network: PaymentNetwork
    token: PaymentToken
    tx_hash: str
    log_index: int
    amount: str
    """US dollars"""
    credited_at: str
    """RFC 3339, UTC"""


@dataclass(frozen=True, kw_only=True)
class GetReceiptResultReceipt:
    version: Literal["coinrack-receipt-1"]
    issuer: str
    """Address of the service"""
    issued_at: str
    """RFC 3339, UTC"""
    invoice_id: str
    """Identifier: inv_..."""
    kind: InvoiceKind
    account_id: str
    """Identifier: acc_..."""
    email: str | None
    name: str | None
    amount: str
    """US dollars"""
    currency: Literal["USD"]
    paid_at: str
    """RFC 3339, UTC"""
    charges: list[GetReceiptResultReceiptCharge]
    """Charges to the balance for it; none for a top-up"""
    payments: list[GetReceiptResultReceiptPayment]
    """Payments on chain for it; none when the balance paid"""


@dataclass(frozen=True, kw_only=True)
class GetReceiptResultSignature:
    algorithm: Literal["Ed25519"]
    key_id: str
    """RFC 7638 thumbprint"""
    public_key: str
    value: str


@dataclass(frozen=True, kw_only=True)
class GetReceiptResult:
    receipt: GetReceiptResultReceipt
    signature: GetReceiptResultSignature
    """Over the receipt as canonical JSON (RFC 8785); keys: /.well-known/jwks.json"""


@dataclass(frozen=True, kw_only=True)
class GetRefundTermsResultRefundable:
    network: PaymentNetwork
    token: PaymentToken
    amount: Decimal


@dataclass(frozen=True, kw_only=True)
class GetRefundTermsResult:
    refundable: list[GetRefundTermsResultRefundable]
    typed_data: dict[str, Any]
    """As eth_signTypedData_v4 takes it: domain, types, primaryType, message"""
    expires_at: datetime
    """When the signature expires; send it along"""


@dataclass(frozen=True, kw_only=True)
class OrderVpsResultQuote:
    id: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class OrderVpsResult:
    id: str
    """Identifier: ord_..."""
    status: OrderStatus
    """quote: a dry run, nothing was made"""
    product: str
    os_id: int
    hostname: str
    total: Decimal
    currency: Literal["USD"]
    service_id: str | None
    invoice_id: str | None
    failure_reason: str | None
    created_at: datetime
    quote: OrderVpsResultQuote | None
    """For a dry run: until when the price holds for quote_id"""
    paid_from_balance: bool
    service: VPS | None
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""
    settlement: Settlement | None = None


OrderVpsBoot = Literal["auto", "cold"]


@dataclass(frozen=True, kw_only=True)
class BuyVpsResult:
    id: str
    """Identifier: ord_..."""
    status: OrderStatus
    """quote: a dry run, nothing was made"""
    product: str
    os_id: int
    hostname: str
    total: Decimal
    currency: Literal["USD"]
    service_id: str | None
    invoice_id: str | None
    failure_reason: str | None
    created_at: datetime
    quote: OrderVpsResultQuote | None
    """For a dry run: until when the price holds for quote_id"""
    paid_from_balance: bool
    service: VPS | None
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""
    token: str | None
    """Shown once, or again with the same Idempotency-Key of 128 bits; else log in by wallet"""
    token_type: Literal["Bearer"]
    token_expires_at: datetime | None
    account_id: str
    """Account of the wallet"""
    settlement: Settlement


@dataclass(frozen=True, kw_only=True)
class GetVpsStatusResultMetrics:
    cpu_percent: float | None
    memory_used_mb: float | None
    disk_used_gb: float | None
    rx_bytes: float | None
    tx_bytes: float | None
    uptime_s: float | None


@dataclass(frozen=True, kw_only=True)
class GetVpsStatusResult:
    id: str
    """Identifier: vps_..."""
    order_id: str
    """Identifier: ord_..."""
    status: VPSStatus
    ssh_ready: bool
    """An SSH server answered at the address below"""
    failure_reason: str | None
    hostname: str
    ip: str
    ipv6: str | None
    """Its own"""
    ssh_user: str
    ssh_port: int
    ssh: SSHAccess
    rescue: bool
    """It runs its rescue system, or is about to"""
    password_available: bool
    """The root password was not shown yet"""
    product: str
    os: VPSOs
    region: str
    features: list[VPSFeature]
    billing: VPSBilling | None = None
    created_at: datetime
    root_password: str | None = None
    """Present exactly once: in the first answer after ssh_ready. Keep it"""
    metrics: GetVpsStatusResultMetrics
    """Last observation; null where nothing was observed yet"""


GetVpsStatusWait = Literal["ssh_ready", "active", "stopped", "deleted"]


@dataclass(frozen=True, kw_only=True)
class ChangeResult:
    service: VPS
    operation: Operation


PowerAction = Literal["start", "stop", "reboot", "force_stop", "reset"]


@dataclass(frozen=True, kw_only=True)
class CancelServiceResult:
    service: VPS
    operation: Operation
    credited: Decimal
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""


CancelServiceMode = Literal["end_of_period", "immediate"]


@dataclass(frozen=True, kw_only=True)
class RenewServiceResult:
    service: VPS
    charged: Decimal
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""
    settlement: Settlement | None = None


@dataclass(frozen=True, kw_only=True)
class SetAutoRenewResult:
    service: VPS
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""


@dataclass(frozen=True, kw_only=True)
class GetFirewallResult:
    default_in: FirewallRuleAction
    default_out: FirewallRuleAction
    rules: list[FirewallRule]
    applied: bool
    """The machine has these rules now; false for a moment after a change"""


PortProtocol = Literal["tcp", "udp"]


@dataclass(frozen=True, kw_only=True)
class Port:
    protocol: PortProtocol
    port: int
    """Port of the VPS"""
    public_port: int
    host: str
    """The public address"""


@dataclass(frozen=True, kw_only=True)
class ClosePortResult:
    closed: bool
    """False: it was not open"""


@dataclass(frozen=True, kw_only=True)
class SetRdnsResultRecord:
    address: str
    hostname: str | None
    published: bool
    reason: str | None
    """Why not yet"""


@dataclass(frozen=True, kw_only=True)
class SetRdnsResult:
    records: list[SetRdnsResultRecord]


@dataclass(frozen=True, kw_only=True)
class GetUpgradeOptionsResultOption:
    target_plan: str
    """Send it to change_plan"""
    name: str
    vcpus: float
    memory_mb: int
    disk_gb: int
    price: Decimal
    """Per month, from the next period on"""
    price_hourly: Decimal
    charge_now: Decimal
    """The difference for the rest of the paid period"""
    available: bool
    """There is room for it now"""


@dataclass(frozen=True, kw_only=True)
class GetUpgradeOptionsResult:
    current_plan: str
    paid_until: datetime | None
    options: list[GetUpgradeOptionsResultOption]


@dataclass(frozen=True, kw_only=True)
class ChangePlanResult:
    service: VPS
    operation: Operation
    charged: Decimal
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""


@dataclass(frozen=True, kw_only=True)
class Cut:
    part: str
    """stdout, stderr, or a result with its media type"""
    bytes: int
    """All of it"""
    shown: int
    """In this answer, from its beginning on"""
    path: str | None
    """File inside that has all of it"""


@dataclass(frozen=True, kw_only=True)
class RunOnVpsResult:
    stdout: str
    stderr: str
    exit_code: int | None
    """Null when it was ended by the timeout"""
    timed_out: bool
    truncated: bool
    """An output was longer than 1 MiB"""
    duration_ms: int
    cut: list[Cut] | None = None


@dataclass(frozen=True, kw_only=True)
class WriteVpsFileResult:
    path: str
    size: int
    """Size of the file now, in bytes"""


GetVpsMetricsResultRange = Literal["1h", "24h", "7d", "30d"]


GetVpsMetricsResultSerieName = Literal["cpu_percent", "memory_used_mb", "disk_read_bytes", "disk_write_bytes", "rx_bytes", "tx_bytes"]


GetVpsMetricsResultSerieUnit = Literal["percent", "mb", "bytes"]


@dataclass(frozen=True, kw_only=True)
class GetVpsMetricsResultSerie:
    name: GetVpsMetricsResultSerieName
    unit: GetVpsMetricsResultSerieUnit
    points: list[list[float]]
    """[unix seconds, value], oldest first"""


@dataclass(frozen=True, kw_only=True)
class GetVpsMetricsResult:
    range: GetVpsMetricsResultRange
    step: int
    """Seconds"""
    series: list[GetVpsMetricsResultSerie]


OpenConsoleResultType = Literal["serial", "vnc"]


@dataclass(frozen=True, kw_only=True)
class OpenConsoleResult:
    type: OpenConsoleResultType
    url: str
    websocket_url: str
    expires_at: datetime
    """Until then it has to be opened"""


@dataclass(frozen=True, kw_only=True)
class CreateSnapshotResult:
    snapshot: Snapshot


ListSnapshotsWait = Literal["settled"]


class SandboxNetwork(TypedDict, total=False):
    allow_internet: bool
    """Whether what is in no list is reached"""
    allow_out: list[str]
    """Networks, and names: example.com is that one, *.example.com all below it"""
    deny_out: list[str]


GetSandboxWait = Literal["running", "paused", "ended"]


@dataclass(frozen=True, kw_only=True)
class CreateSandboxSnapshotResult:
    snapshot: SandboxSnapshot


@dataclass(frozen=True, kw_only=True)
class DeleteSandboxSnapshotResult:
    deleted: str
    """Identifier: snp_..."""


@dataclass(frozen=True, kw_only=True)
class GetSandboxMetricsResultSample:
    at: datetime
    cpu_percent: float
    """Of one processor"""
    vcpus: float
    memory_used_mb: float
    memory_total_mb: float
    disk_used_mb: float
    disk_total_mb: float
    memory_cache_mb: float


@dataclass(frozen=True, kw_only=True)
class GetSandboxMetricsResult:
    cpu_seconds: float
    vcpus: float
    memory_used_mb: float
    memory_total_mb: float
    disk_used_mb: float
    disk_total_mb: float
    processes: int
    samples: list[GetSandboxMetricsResultSample] | None = None
    """With since: the oldest first"""


@dataclass(frozen=True, kw_only=True)
class BuySandboxResult:
    id: str
    """Identifier: sbx..."""
    state: SandboxState
    reason: SandboxReason | None
    """Why it paused or ended"""
    failure: str | None
    tariff: SandboxTariff
    template: str
    mode: SandboxMode
    vcpus: float
    memory_mb: int
    disk_gb: int
    price_per_hour: Decimal
    seconds: float
    """Run time without pauses"""
    cost: Decimal
    """For those seconds"""
    timeout: int
    idle_timeout: int
    expires_at: datetime | None
    """When it ends or, if persistent, pauses"""
    network: NetworkRules
    metadata: dict[str, str]
    parent_id: str | None
    """Forked from this sandbox"""
    created_at: datetime
    ended_at: datetime | None
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""
    token: str | None
    """Shown once, or again with the same Idempotency-Key of 128 bits; else log in by wallet"""
    token_type: Literal["Bearer"]
    token_expires_at: datetime | None
    account_id: str
    """Account of the wallet"""
    settlement: Settlement


@dataclass(frozen=True, kw_only=True)
class OutputBytes:
    stdout: int
    stderr: int


@dataclass(frozen=True, kw_only=True)
class RunProgramResultError:
    name: str
    message: str
    line: int | None


@dataclass(frozen=True, kw_only=True)
class RunProgramResultOperation:
    operation: str
    """As the method of coinrack"""
    calls: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class RunProgramResult:
    stdout: str
    stderr: str
    left_out: OutputBytes
    """Bytes left out of the middle: both together show 32 kB"""
    exit_code: int | None
    """1 when it threw; null when it was ended"""
    timed_out: bool
    error: RunProgramResultError | None
    """What it threw, and the line of code"""
    operations: list[RunProgramResultOperation]
    budget: Decimal
    spent: Decimal
    """By its calls, of budget"""
    run_cost: Decimal
    """Of its sandbox"""
    duration_ms: int
    sandbox_id: str
    """Identifier: sbx..."""
    balance: Decimal
    """Can be spent now"""
    burn_per_hour: Decimal
    """Average cost of an hour of services that renew themselves and of running sandboxes"""
    runs_out_at: datetime | None
    """When the balance will not cover them"""


@dataclass(frozen=True, kw_only=True)
class CodeResult:
    data: dict[str, str]
    """By media type; text/plain is always there"""
    is_main: bool
    """The last expression, not a display"""


@dataclass(frozen=True, kw_only=True)
class CodeError:
    name: str
    value: str
    traceback: str


@dataclass(frozen=True, kw_only=True)
class RunCodeResult:
    stdout: str
    stderr: str
    exit_code: int | None
    """Null when it was ended by the timeout"""
    timed_out: bool
    truncated: bool
    """An output was longer than 1 MiB"""
    duration_ms: int
    task_id: str | None
    """Task in the background; see get_task"""
    results: list[CodeResult]
    error: CodeError | None
    cut: list[Cut] | None = None


CodeLanguage = Literal["python", "node", "bash"]


@dataclass(frozen=True, kw_only=True)
class ExecCommandResult:
    stdout: str
    stderr: str
    exit_code: int | None
    """Null when it was ended by the timeout"""
    timed_out: bool
    truncated: bool
    """An output was longer than 1 MiB"""
    duration_ms: int
    task_id: str | None
    """Task in the background; see get_task"""
    cut: list[Cut] | None = None


class TerminalSize(TypedDict):
    columns: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class CreateContextResult:
    context: str
    language: CodeLanguage
    cwd: str


@dataclass(frozen=True, kw_only=True)
class Context:
    id: str
    language: CodeLanguage
    cwd: str


@dataclass(frozen=True, kw_only=True)
class RestartContextResult:
    context: str


@dataclass(frozen=True, kw_only=True)
class Task:
    id: str
    title: str
    running: bool
    started_at: datetime


@dataclass(frozen=True, kw_only=True)
class GetTaskResult:
    task_id: str
    running: bool
    stdout: str
    stderr: str
    from_: OutputBytes
    """Later than asked for when the oldest was dropped"""
    next: OutputBytes
    exit_code: int | None
    signal: str | None
    timed_out: bool
    duration_ms: int | None
    results: list[CodeResult]
    error: CodeError | None
    cut: list[Cut] | None = None


TaskSignal = Literal["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]


@dataclass(frozen=True, kw_only=True)
class KillTaskResult:
    task_id: str
    signal: TaskSignal


@dataclass(frozen=True, kw_only=True)
class SendInputResult:
    task_id: str


FileType = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, kw_only=True)
class File:
    path: str
    type: FileType
    size: int
    mode: str
    """Octal, as 0644"""
    user: str
    group: str
    modified_at: datetime
    target: str | None


@dataclass(frozen=True, kw_only=True)
class MakeFolderResult:
    path: str
    created: bool
    """It was not there before"""


@dataclass(frozen=True, kw_only=True)
class MoveFileResult:
    path: str


WatchFolderResultChangeType = Literal["created", "written", "removed", "renamed", "mode", "overflow"]


@dataclass(frozen=True, kw_only=True)
class FileChange:
    type: WatchFolderResultChangeType
    """overflow: there were too many to tell"""
    path: str
    """Below the folder"""


@dataclass(frozen=True, kw_only=True)
class WatchFolderResult:
    changes: list[FileChange]


@dataclass(frozen=True, kw_only=True)
class DeleteFileResult:
    deleted: str


GetUploadUrlResultMethod = Literal["GET", "PUT"]


@dataclass(frozen=True, kw_only=True)
class GetUploadUrlResult:
    url: str
    method: GetUploadUrlResultMethod
    expires_at: datetime
    size: int | None = None
    """As a tool, of a file that is there"""


ExposeAllPortsResultAccess = Literal["public", "token", "none"]


@dataclass(frozen=True, kw_only=True)
class ExposeAllPortsResult:
    access: ExposeAllPortsResultAccess
    url: str | None
    """With {port} in the place of the port"""
    path_url: str | None
    token: str | None
    """Send it as X-Preview-Token, or once as ?preview_token="""


@dataclass(frozen=True, kw_only=True)
class UnexposePortResult:
    port: int


@dataclass(frozen=True, kw_only=True)
class CreateSandboxTemplateResult:
    template: SandboxTemplate


class _CreateSandboxTemplateFile(TypedDict):
    path: str


class CreateSandboxTemplateFile(_CreateSandboxTemplateFile, total=False):
    content: str
    """UTF-8 text"""
    content_base64: str
    mode: str
    """Octal"""


GetSandboxTemplateLogResultLineStream = Literal["step", "stdout", "stderr"]


@dataclass(frozen=True, kw_only=True)
class GetSandboxTemplateLogResultLine:
    number: int
    at: datetime
    stream: GetSandboxTemplateLogResultLineStream
    text: str


@dataclass(frozen=True, kw_only=True)
class GetSandboxTemplateLogResult:
    build_id: str | None
    running: bool
    lines: list[GetSandboxTemplateLogResultLine]
    next: int
    """The number to read on after"""
    error: str | None


@dataclass(frozen=True, kw_only=True)
class GetSandboxTemplateUploadUrlResult:
    url: str
    method: Literal["PUT"]
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class DeleteSandboxTemplateResult:
    deleted: str
    """Identifier: tpl_..."""


@dataclass(frozen=True, kw_only=True)
class Event:
    id: str
    """Identifier: evt_..."""
    position: int
    """1, 2, 3, ... within the account"""
    type: str
    """balance.credited, balance.reversed, balance.low, ..."""
    timestamp: datetime
    data: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class CreateWebhookResult:
    webhook: Webhook
    secret: str
    """whsec_...; keep it"""


CreateWebhookType = Literal["balance.credited", "balance.reversed", "balance.low", "refund.requested", "refund.cancelled", "refund.approved", "refund.rejected", "refund.sent", "approval.requested", "approval.decided", "invoice.paid", "invoice.settled_to_balance", "order.placed", "order.failed", "vps.status_changed", "vps.ssh_ready", "vps.renewal_due", "vps.suspended", "vps.resumed", "vps.maintenance", "vps.lost", "vps.deleted", "sandbox.started", "sandbox.failed", "sandbox.paused", "sandbox.resumed", "sandbox.ended", "delegation.accepted", "delegation.revoked", "delegation.expired", "ticket.replied", "ticket.closed", "webhook.test"]


@dataclass(frozen=True, kw_only=True)
class DeleteWebhookResult:
    id: str
    """Identifier: whk_..."""
    deleted: Literal[True]


@dataclass(frozen=True, kw_only=True)
class TestWebhookResult:
    webhook_id: str
    """Identifier: whk_..."""
    event_id: str
    """Identifier: evt_..."""


@dataclass(frozen=True, kw_only=True)
class ReplayWebhookResult:
    webhook_id: str
    """Identifier: whk_..."""
    replayed: int


@dataclass(frozen=True, kw_only=True)
class DelegateServiceResult:
    delegation: Delegation


@dataclass(frozen=True, kw_only=True)
class AcceptDelegationResult:
    delegation_id: str
    """Identifier: dlg_..."""
    service_id: str
    """Identifier: vps_..."""


@dataclass(frozen=True, kw_only=True)
class DelegatedVps:
    id: str
    """Identifier: dlg_..."""
    service_id: str
    """Identifier: vps_..."""
    hostname: str
    status: VPSStatus
    owner_email: str | None
    expires_at: datetime | None
    accepted_at: datetime


@dataclass(frozen=True, kw_only=True)
class RevokeDelegationResult:
    delegation_id: str
    """Identifier: dlg_..."""
    revoked: Literal[True]


ErrorCode = Literal["malformed_json", "payment_malformed", "unauthorized", "wrong_audience", "invalid_credentials", "invalid_wallet_login", "invalid_code", "insufficient_balance", "payment_required", "payment_not_accepted", "payment_signature_invalid", "payment_expired", "payment_not_yet_valid", "payment_nonce_used", "payment_insufficient_funds", "payment_failed", "account_owes", "not_owner", "account_suspended", "scope_missing", "budget_exceeded", "approval_needed", "approval_limit", "proof_too_old", "closed_to_token", "token_not_below", "child_token", "not_found", "unknown_operation", "file_not_found", "method_not_allowed", "request_too_slow", "email_taken", "email_set", "topup_pending", "payment_arrived", "payment_pending", "payment_used", "invoice_closed", "payment_seen", "receipt_not_ready", "refund_open", "refund_repeated", "refund_closed", "service_busy", "renewal_limit", "too_many_ports", "guest_unreachable", "snapshot_busy", "snapshot_limit", "ssh_key_limit", "unpaid_order_limit", "token_limit", "delegation_limit", "ticket_limit", "webhook_limit", "sandbox_not_running", "sandbox_unreachable", "sandbox_damaged", "sandbox_limit", "sandbox_snapshot_limit", "template_exists", "template_limit", "template_busy", "task_ended", "review_exists", "review_needs_order", "idempotency_running", "answer_not_kept", "body_too_large", "unsupported_media_type", "invalid_input", "invalid_email", "reserved_email", "refund_too_much", "refund_other_chain", "refund_signature_invalid", "refund_signature_expired", "refund_to_token", "refund_to_contract", "refund_address_blocked", "unknown_product", "no_own_address", "plan_not_larger", "os_not_supported", "invalid_ssh_key", "invalid_user_data", "quote_invalid", "price_above_maximum", "unknown_template", "dockerfile_invalid", "unknown_context", "unknown_language", "task_refused", "file_refused", "invalid_invitation", "webhook_url_refused", "topup_by_crypto_only", "payment_method_unavailable", "unknown_chain", "unsupported", "confirmation_required", "idempotency_key_reused", "rate_limited", "internal", "network_unavailable", "link_invalid", "preview_closed", "preview_blocked", "preview_token_missing", "port_refused", "sandboxes_unavailable", "chain_unavailable", "settlement_unavailable", "rdns_unavailable", "mail_unavailable", "overloaded", "capacity", "unavailable", "storage_full"]
"""The codes of refusals."""
