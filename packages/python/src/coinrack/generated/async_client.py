"""A method for each operation. Made by `npm run generate` from the contract."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from .._operation import NOT_GIVEN, NotGiven, given
from .._async.caller import AsyncCaller
from .._async.listing import AsyncListing
from . import operations, types


class AsyncOperations(AsyncCaller):
    """Every operation as a method. All raise `CoinrackError` for a refusal and `ConnectionError` when no answer came."""

    async def get_started(self) -> types.GetStartedResult:
        """Shows the whole flow from registration to a shell or a sandbox, with rules and limits. With a token it also shows your balance, what you run and the next call."""
        return await self._call(operations.GET_STARTED, {})

    async def find_operations(self, *, query: str | None = None, subject: types.FindOperationsSubject | None = None, format: types.FindOperationsFormat | None = None, limit: int | None = None, cursor: str | None = None) -> types.FindOperationsResult:
        """Finds all operations of this service, also those in no list of yours, by words or subject, the best first. Format schema adds what each takes, for call_operation; typescript declares them as methods of a global coinrack.

        :param query: Such as: snapshot of a vps
        """
        return await self._call(operations.FIND_OPERATIONS, {"query": given(query), "subject": given(subject), "format": given(format), "limit": given(limit), "cursor": given(cursor)})

    async def call_operation(self, *, name: str, arguments: dict[str, Any] | None = None, idempotency_key: str | None = None) -> dict[str, Any]:
        """Calls any operation by its name from find_operations and answers exactly what it answers. Its rights, limits, price and confirmations hold."""
        return await self._call(operations.CALL_OPERATION, {"name": name, "arguments": given(arguments)}, idempotency_key)

    async def register_account(self, *, email: str, first_name: str | None = None, last_name: str | None = None, password: str | None = None) -> types.RegisterAccountResult:
        """Creates an account from an e-mail address alone and returns its Bearer token at once. Keep the token, and send it as Authorization header or as access_token of every tool.

        :param password: 8 to 200 characters
        """
        return await self._call(operations.REGISTER_ACCOUNT, {"email": email, "first_name": given(first_name), "last_name": given(last_name), "password": given(password)})

    async def login(self, *, email: str, password: str) -> types.RegisterAccountResult:
        """Returns a new Bearer token for an account that has a password (see set_password)."""
        return await self._call(operations.LOGIN, {"email": email, "password": password})

    async def request_login_code(self, *, email: str) -> types.RequestLoginCodeResult:
        """Sends a login code by e-mail, which is good for 10 minutes: 6 digits, or 12 characters after many wrong tries or requests for the address, and then at most one in 10 minutes. The answer is the same whether or not an account exists."""
        return await self._call(operations.REQUEST_LOGIN_CODE, {"email": email})

    async def verify_login_code(self, *, email: str, code: str) -> types.VerifyLoginCodeResult:
        """Exchanges a login code for a Bearer token, and creates the account when there is none for this address."""
        return await self._call(operations.VERIFY_LOGIN_CODE, {"email": email, "code": code})

    async def request_wallet_challenge(self, *, address: str, chain_id: int | None = None) -> types.RequestWalletChallengeResult:
        """Shows a Sign-In-With-Ethereum message (EIP-4361) for the wallet to sign, which logs in once within 5 minutes.

        :param chain_id: For a contract wallet: the chain that it is on
        """
        return await self._call(operations.REQUEST_WALLET_CHALLENGE, {"address": address, "chain_id": given(chain_id)})

    async def verify_wallet_login(self, *, message: str, signature: str) -> types.RegisterAccountResult:
        """Exchanges the signed message of request_wallet_challenge for a Bearer token of the account of the wallet, and creates the account when there is none.

        :param message: As it was answered
        :param signature: Made with personal_sign; for a contract wallet, in the form that its ERC-1271 method accepts
        """
        return await self._call(operations.VERIFY_WALLET_LOGIN, {"message": message, "signature": signature})

    async def set_email(self, *, email: str, code: str, idempotency_key: str | None = None) -> types.SetEmailResult:
        """Sets the e-mail address of an account that has none, for mail and for logging in: request_login_code sends a code to it, which proves that it is yours."""
        return await self._call(operations.SET_EMAIL, {"email": email, "code": code}, idempotency_key)

    async def set_password(self, *, password: str, current_password: str | None = None, revoke_others: bool | None = None, idempotency_key: str | None = None) -> types.SetEmailResult:
        """Sets the password that login takes. Send current_password when one is set and the token is older than 10 minutes. With revoke_others every other token of the account ends. A child token cannot set a password.

        :param password: 8 to 200 characters
        """
        return await self._call(operations.SET_PASSWORD, {"password": password, "current_password": given(current_password), "revoke_others": given(revoke_others)}, idempotency_key)

    async def whoami(self) -> types.WhoamiResult:
        """Shows the account that the token belongs to, the rights and the budget of the token with what it has spent, and the tokens that wait for confirm_token."""
        return await self._call(operations.WHOAMI, {})

    async def update_account(self, *, first_name: str | None | NotGiven = NOT_GIVEN, last_name: str | None | NotGiven = NOT_GIVEN, idempotency_key: str | None = None) -> types.SetEmailResult:
        """Changes the first or last name of the account. A field that is left out stays as it is, and null removes a name."""
        return await self._call(operations.UPDATE_ACCOUNT, {"first_name": first_name, "last_name": last_name}, idempotency_key)

    def list_tokens(self, *, limit: int | None = None, cursor: str | None = None, ended: bool | None = None) -> AsyncListing[types.Token]:
        """Lists tokens with their budgets and what each has spent, newest first. A token from a login sees all tokens of the account; a child token sees itself and those below it. With ended=true revoked and expired ones are included."""
        return self._list(operations.LIST_TOKENS, {"limit": given(limit), "cursor": given(cursor), "ended": given(ended)})

    async def create_token(self, *, name: str | None = None, scopes: list[types.TokenScope] | None = None, expires_in_days: int | None = None, budget: types.CreateTokenBudget | None = None, format: types.CreateTokenFormat | None = None, idempotency_key: str | None = None) -> types.CreateTokenResult:
        """Creates a token for another agent or program, with at most the rights of this one and a budget if you give one. Without scopes or expires_in_days it has those of this token. It ends when this token is revoked. A charge over its budget answers 403 budget_exceeded; one over approve_above answers 403 approval_needed until the owner of the account approves it on a page.

        :param budget: USD and counts, for the token and all below it; what is left out has no cap
        :param format: e2b: a text that E2B's packages take as their API key, with the scope sandbox unless you give others
        """
        return await self._call(operations.CREATE_TOKEN, {"name": given(name), "scopes": given(scopes), "expires_in_days": given(expires_in_days), "budget": given(budget), "format": given(format)}, idempotency_key)

    async def update_token(self, *, token_id: str, name: str | None | NotGiven = NOT_GIVEN, budget: types.CreateTokenBudget | None | NotGiven = NOT_GIVEN, idempotency_key: str | None = None) -> types.UpdateTokenResult:
        """Renames a token below this one or replaces its budget. A budget of null removes it. A token cannot change its own budget, but one above it can.

        :param token_id: Identifier: tok_...
        """
        return await self._call(operations.UPDATE_TOKEN, {"token_id": token_id, "name": name, "budget": budget}, idempotency_key)

    async def confirm_token(self, *, token_id: str, idempotency_key: str | None = None) -> types.UpdateTokenResult:
        """Confirms a token from before the mailbox was proven: it gets its full rights and its budget is lifted. This is for an owner who logs in by a code to an account that an agent had registered. Revoke tokens that you do not know with revoke_token.

        :param token_id: Identifier: tok_...
        """
        return await self._call(operations.CONFIRM_TOKEN, {"token_id": token_id}, idempotency_key)

    async def revoke_token(self, *, token_id: str, idempotency_key: str | None = None) -> types.RevokeTokenResult:
        """Revokes a token and all tokens below it, at once. It can be this token itself, one below it or, for a token from a login, any token of the account.

        :param token_id: Identifier: tok_...
        """
        return await self._call(operations.REVOKE_TOKEN, {"token_id": token_id}, idempotency_key)

    async def refresh_token(self, *, idempotency_key: str | None = None) -> types.RefreshTokenResult:
        """Replaces the text of this token, and keeps its rights, budget and children. The old text works for 10 more minutes. A token from a login lasts another year; a child token keeps its end."""
        return await self._call(operations.REFRESH_TOKEN, {}, idempotency_key)

    async def logout(self, *, idempotency_key: str | None = None) -> types.RevokeTokenResult:
        """Revokes the token of this call and all tokens below it, at once."""
        return await self._call(operations.LOGOUT, {}, idempotency_key)

    def list_approvals(self, *, limit: int | None = None, cursor: str | None = None, status: types.ApprovalStatus | None = None) -> AsyncListing[types.Approval]:
        """Lists the charges that the owner of the account was asked to approve, newest first: those of this token and of the tokens below it, or of all tokens for the token of a login."""
        return self._list(operations.LIST_APPROVALS, {"limit": given(limit), "cursor": given(cursor), "status": given(status)})

    async def get_approval(self, *, approval_id: str, wait: Literal["decided"] | None = None, timeout: int | None = None) -> types.GetApprovalResult:
        """Shows whether the owner of the account has approved a charge. With wait=decided the answer comes when it is decided or over, or after timeout seconds (at most 50). Once it is approved, send the same call again: it is charged then, once.

        :param approval_id: Identifier: apr_...
        """
        return await self._call(operations.GET_APPROVAL, {"approval_id": approval_id, "wait": given(wait), "timeout": given(timeout)})

    def list_ssh_keys(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.SSHKey]:
        """Lists the stored SSH keys, newest first. The ssh_key of order_vps and reinstall_vps takes the id of one."""
        return self._list(operations.LIST_SSH_KEYS, {"limit": given(limit), "cursor": given(cursor)})

    async def add_ssh_key(self, *, public_key: str, name: str | None = None, idempotency_key: str | None = None) -> types.AddSshKeyResult:
        """Stores an SSH public key: ed25519, ecdsa, rsa of 2048 bits or more, or sk-*. Storing the same key again returns the one that is there.

        :param public_key: One line of a .pub file
        :param name: Without: the comment of the key
        """
        return await self._call(operations.ADD_SSH_KEY, {"public_key": public_key, "name": given(name)}, idempotency_key)

    async def delete_ssh_key(self, *, ssh_key_id: str, idempotency_key: str | None = None) -> types.AddSshKeyResult:
        """Deletes a stored SSH key. Machines keep the keys that they were made with.

        :param ssh_key_id: Identifier: key_...
        """
        return await self._call(operations.DELETE_SSH_KEY, {"ssh_key_id": ssh_key_id}, idempotency_key)

    def list_plans(self) -> AsyncListing[types.Plan]:
        """Lists every plan with its specification, its price in USD and the OS images it supports."""
        return self._list(operations.LIST_PLANS, {})

    async def list_reviews(self) -> types.ListReviewsResult:
        """Lists the approved reviews of customers, with the average rating, the count and the distribution."""
        return await self._call(operations.LIST_REVIEWS, {})

    async def submit_review(self, *, rating: int, body: str, title: str | None = None, author: str | None = None, idempotency_key: str | None = None) -> types.SubmitReviewResult:
        """Submits the review of your account, which is possible once, after a paid order. It is shown when the operator has approved it.

        :param author: The name to show; default: Customer
        """
        return await self._call(operations.SUBMIT_REVIEW, {"rating": rating, "title": given(title), "body": body, "author": given(author)}, idempotency_key)

    async def get_balance(self) -> types.Balance:
        """Shows the balance in USD that can be spent, what is held beside it, and how long it lasts."""
        return await self._call(operations.GET_BALANCE, {})

    def list_transactions(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.Transaction]:
        """Lists every change of the balance, newest first, with the running balance. A sandbox has one line for each day on which it ran, at the place where that day began for it."""
        return self._list(operations.LIST_TRANSACTIONS, {"limit": given(limit), "cursor": given(cursor)})

    async def get_statement(self, *, from_: datetime | None = None, to: datetime | None = None, cursor: str | None = None) -> types.GetStatementResult:
        """Returns the changes of the balance in a period as CSV, oldest first, with the running balance; a sandbox has a line for each day. The columns: time, id, kind, description, amount, held_change, balance, reference. By REST with Accept: text/csv the answer is the file itself.

        :param from_: Default: the start of the month of to
        :param to: Not included; default: now
        """
        return await self._call(operations.GET_STATEMENT, {"from": given(from_), "to": given(to), "cursor": given(cursor)})

    async def topup_balance(self, *, amount: types.Usd, network: types.PaymentNetwork | None = None, token: types.PaymentToken | None = None, method: types.TopupBalanceMethod | None = None, idempotency_key: str | None = None) -> types.TopupBalanceResult:
        """Makes a top-up invoice. Send USDC, USDT or PYUSD on Base, Ethereum or Polygon to the address of one of its payment_options, or let a person pay at checkout_url: the balance is credited with what arrives. With method x402 it is paid in the same call, by a signature and without gas.

        :param amount: US dollars, at least 3
        :param method: x402: the 402 says what to sign (EIP-3009), and the same call with the payment settles it
        """
        return await self._call(operations.TOPUP_BALANCE, {"amount": amount, "network": given(network), "token": given(token), "method": given(method)}, idempotency_key)

    def list_invoices(self, *, limit: int | None = None, cursor: str | None = None, status: types.InvoiceStatus | None = None) -> AsyncListing[types.Invoice]:
        """Lists the invoices of the account, newest first."""
        return self._list(operations.LIST_INVOICES, {"limit": given(limit), "cursor": given(cursor), "status": given(status)})

    async def get_invoice(self, *, invoice_id: str, wait: Literal["paid"] | None = None, timeout: int | None = None) -> types.Invoice:
        """Shows an invoice, how to pay it and its payments. With wait=paid the answer comes when the invoice is paid, or after timeout seconds (at most 50).

        :param invoice_id: Identifier: inv_...
        """
        return await self._call(operations.GET_INVOICE, {"invoice_id": invoice_id, "wait": given(wait), "timeout": given(timeout)})

    async def pay_invoice(self, *, invoice_id: str, method: types.PayInvoiceMethod | None = None, idempotency_key: str | None = None) -> types.PayInvoiceResult:
        """Pays an invoice from the balance, or shows how to pay it by crypto. Method "balance" settles the invoice of an order or a renewal at once; "crypto" answers the checkout_url and the payment options. By default the balance is used when it covers the invoice. A top-up is paid by crypto only.

        :param invoice_id: Identifier: inv_...
        """
        return await self._call(operations.PAY_INVOICE, {"invoice_id": invoice_id, "method": given(method)}, idempotency_key)

    async def cancel_invoice(self, *, invoice_id: str, idempotency_key: str | None = None) -> types.Invoice:
        """Closes an invoice on which nothing was paid, and cancels the order that it was for. Money that still arrives at its address is credited to the balance.

        :param invoice_id: Identifier: inv_...
        """
        return await self._call(operations.CANCEL_INVOICE, {"invoice_id": invoice_id}, idempotency_key)

    async def get_receipt(self, *, invoice_id: str) -> types.GetReceiptResult:
        """Returns the receipt of a paid invoice, signed with the key of the operator. Keep the whole answer as a file: anyone can check it offline with "coinrack receipt verify". By REST with Accept: text/html it is a page to print. An order has one once it was delivered and charged.

        :param invoice_id: Identifier: inv_...
        """
        return await self._call(operations.GET_RECEIPT, {"invoice_id": invoice_id})

    async def get_refund_terms(self, *, amount: types.Usd, network: types.PaymentNetwork, token: types.PaymentToken, address: str) -> types.GetRefundTermsResult:
        """Shows how much can be refunded on which network and token: money that came there, is final on its chain, is not spent, and is no credit by the operator. The typed data (EIP-712) is what the key of the address signs for request_refund.

        :param amount: US dollars, at least 1
        :param address: Address that the refund goes to: one whose key you hold, not that of an exchange or a contract
        """
        return await self._call(operations.GET_REFUND_TERMS, {"amount": amount, "network": network, "token": token, "address": address})

    async def request_refund(self, *, amount: types.Usd, network: types.PaymentNetwork, token: types.PaymentToken, address: str, expires_at: datetime, signature: str, idempotency_key: str | None = None) -> types.Refund:
        """Opens a refund: the operator pays money back to an address that you prove by its signature over the typed data of get_refund_terms. The token has to be one of a login whose mailbox was proven by a code within the last 10 minutes. The amount is held at once, mail and an event tell of it, and for 24 hours cancel_refund takes it back; after that the operator decides.

        :param amount: US dollars, at least 1
        :param address: Address that the refund goes to: one whose key you hold, not that of an exchange or a contract
        :param expires_at: The expires_at that get_refund_terms answered
        """
        return await self._call(operations.REQUEST_REFUND, {"amount": amount, "network": network, "token": token, "address": address, "expires_at": expires_at, "signature": signature}, idempotency_key)

    def list_refunds(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.Refund]:
        """Lists the refunds that you asked for, newest first."""
        return self._list(operations.LIST_REFUNDS, {"limit": given(limit), "cursor": given(cursor)})

    async def get_refund(self, *, refund_id: str) -> types.Refund:
        """Shows how far a refund is, and its transaction once it was sent.

        :param refund_id: Identifier: rfd_...
        """
        return await self._call(operations.GET_REFUND, {"refund_id": refund_id})

    async def cancel_refund(self, *, refund_id: str, idempotency_key: str | None = None) -> types.Refund:
        """Takes back a refund that the operator has not approved yet: the amount is on the balance again. A refund that you did not ask for means that a stranger has your token and access to your mailbox: log in, and revoke the other tokens.

        :param refund_id: Identifier: rfd_...
        """
        return await self._call(operations.CANCEL_REFUND, {"refund_id": refund_id}, idempotency_key)

    async def order_vps(self, *, product: str, os_id: int, ssh_key: str | None = None, hostname: str | None = None, user_data: str | None = None, billing_cycle: types.VPSBillingCycle | None = None, months: int | None = None, auto_renew: bool | None = None, max_price: types.Usd | None = None, dry_run: bool | None = None, quote_id: str | None = None, create_invoice: bool | None = None, region: str | None = None, boot: types.OrderVpsBoot | None = None, idempotency_key: str | None = None) -> types.OrderVpsResult:
        """Orders a VPS and pays it from the balance. The price is held now and charged when SSH answers; the paid time begins then, and is renewed from the balance. When the balance does not cover it the 402 has an unpaid invoice and x402 terms: pay either, or top up and send the same order again, which continues it.

        :param product: A slug from list_plans
        :param os_id: From os_images of the plan
        :param ssh_key: For root: a public key, or the id of a stored one
        :param user_data: For cloud-init, such as #cloud-config or a #! script (gzip as base64). Runs once; SSH does not wait for it
        :param months: Paid in advance; not for hourly
        :param auto_renew: Default: true, if the token may
        :param max_price: Refuse when the total is above this
        :param dry_run: Only check, and answer a quote
        :param quote_id: Order at the price of a dry run
        :param create_invoice: false: a 402 leaves nothing behind
        :param boot: cold: slower, shares no memory layout
        """
        return await self._call(operations.ORDER_VPS, {"product": product, "os_id": os_id, "ssh_key": given(ssh_key), "hostname": given(hostname), "user_data": given(user_data), "billing_cycle": given(billing_cycle), "months": given(months), "auto_renew": given(auto_renew), "max_price": given(max_price), "dry_run": given(dry_run), "quote_id": given(quote_id), "create_invoice": given(create_invoice), "region": given(region), "boot": given(boot)}, idempotency_key)

    def list_orders(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.Order]:
        """Lists the orders of the account, newest first."""
        return self._list(operations.LIST_ORDERS, {"limit": given(limit), "cursor": given(cursor)})

    async def get_order(self, *, order_id: str) -> types.Order:
        """Shows an order with its status, its invoice while it awaits payment, and its service.

        :param order_id: Identifier: ord_...
        """
        return await self._call(operations.GET_ORDER, {"order_id": order_id})

    async def buy_vps(self, *, product: str, os_id: int, ssh_key: str | None = None, hostname: str | None = None, user_data: str | None = None, billing_cycle: types.VPSBillingCycle | None = None, months: int | None = None, auto_renew: bool | None = None, max_price: types.Usd | None = None, dry_run: bool | None = None, quote_id: str | None = None, create_invoice: bool | None = None, region: str | None = None, boot: types.OrderVpsBoot | None = None, hours: int | None = None) -> types.BuyVpsResult:
        """Orders a VPS with one signed payment (x402, EIP-3009), without an account or a token. The first call answers 402 with what to sign, and the same call with the payment orders. It takes what order_vps takes. The terms cover the months, or the hours of an hourly VPS; what is not used stays on the balance of the wallet. The answer has a token, once; verify_wallet_login gives another.

        :param product: A slug from list_plans
        :param os_id: From os_images of the plan
        :param ssh_key: For root: a public key, or the id of a stored one
        :param user_data: For cloud-init, such as #cloud-config or a #! script (gzip as base64). Runs once; SSH does not wait for it
        :param months: Paid in advance; not for hourly
        :param auto_renew: Default: true, if the token may
        :param max_price: Refuse when the total is above this
        :param dry_run: Only check, and answer a quote
        :param quote_id: Order at the price of a dry run
        :param create_invoice: false: a 402 leaves nothing behind
        :param boot: cold: slower, shares no memory layout
        :param hours: Paid in advance, for hourly alone
        """
        return await self._call(operations.BUY_VPS, {"product": product, "os_id": os_id, "ssh_key": given(ssh_key), "hostname": given(hostname), "user_data": given(user_data), "billing_cycle": given(billing_cycle), "months": given(months), "auto_renew": given(auto_renew), "max_price": given(max_price), "dry_run": given(dry_run), "quote_id": given(quote_id), "create_invoice": given(create_invoice), "region": given(region), "boot": given(boot), "hours": given(hours)})

    def list_vps(self, *, limit: int | None = None, cursor: str | None = None, status: types.VPSStatus | None = None) -> AsyncListing[types.VPS]:
        """Lists the VPS that are live or in transition, newest first. Failed and deleted ones are listed only with the status filter."""
        return self._list(operations.LIST_VPS, {"limit": given(limit), "cursor": given(cursor), "status": given(status)})

    async def get_vps_status(self, *, service_id: str, wait: types.GetVpsStatusWait | None = None, timeout: int | None = None, reveal: bool | None = None) -> types.GetVpsStatusResult:
        """Shows a VPS with its status, its SSH access and, once, its root password. With wait=ssh_ready the answer comes when SSH answers, or after timeout seconds (at most 50): repeat until ssh_ready is true. The root password is in exactly one answer after that; reveal=false leaves it for later.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.GET_VPS_STATUS, {"service_id": service_id, "wait": given(wait), "timeout": given(timeout), "reveal": given(reveal)})

    async def power_vps(self, *, service_id: str, action: types.PowerAction, idempotency_key: str | None = None) -> types.ChangeResult:
        """Starts a VPS, stops it or reboots it. The actions stop and reboot ask the guest first and force it after a time-out; force_stop and reset do not ask.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.POWER_VPS, {"service_id": service_id, "action": action}, idempotency_key)

    async def cancel_service(self, *, service_id: str, mode: types.CancelServiceMode | None = None, confirm: bool | str | None = None, idempotency_key: str | None = None) -> types.CancelServiceResult:
        """Cancels a VPS, by default at the end of its paid time. With mode immediate, which needs confirm, it is gone now, the used time is charged at the hourly price and the rest is credited. With retained_disks, restore_snapshot undoes it for 24 hours.

        :param service_id: Identifier: vps_...
        :param confirm: true, the hostname of the VPS, or DELETE
        """
        return await self._call(operations.CANCEL_SERVICE, {"service_id": service_id, "mode": given(mode), "confirm": given(confirm)}, idempotency_key)

    async def renew_service(self, *, service_id: str, months: int | None = None, idempotency_key: str | None = None) -> types.RenewServiceResult:
        """Charges the balance for more months of a VPS (hourly: one hour), beyond the time that is paid. A suspended VPS is charged from now on and started again; a cancellation is withdrawn. When the balance does not cover it the 402 has an unpaid invoice (hourly: none) and x402 terms: paying either renews it.

        :param service_id: Identifier: vps_...
        :param months: 1 for an hourly VPS
        """
        return await self._call(operations.RENEW_SERVICE, {"service_id": service_id, "months": given(months)}, idempotency_key)

    async def set_auto_renew(self, *, service_id: str, enabled: bool, idempotency_key: str | None = None) -> types.SetAutoRenewResult:
        """Turns the automatic renewal of a VPS on or off. With enabled the balance is charged for one more period whenever the paid time ends; this also withdraws a cancellation to the end of the period. A token needs allow_auto_renew for it, and each renewal counts for the budget of the token that ordered; one above approve_above of either token is not made. Without renewal, money or budget the VPS is suspended then: powered off, and deleted after 7 days (hourly: 3).

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.SET_AUTO_RENEW, {"service_id": service_id, "enabled": enabled}, idempotency_key)

    async def get_firewall(self, *, service_id: str) -> types.GetFirewallResult:
        """Shows the firewall rules of a VPS. The first rule that fits a new connection decides, in the given order; where none fits, the default of its direction does. A new VPS allows everything. What the operator blocks for all customers (private networks, outgoing mail) is blocked whatever the rules say.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.GET_FIREWALL, {"service_id": service_id})

    async def set_firewall(self, *, service_id: str, rules: list[types.FirewallRule], default_in: types.FirewallRuleAction | None = None, default_out: types.FirewallRuleAction | None = None, idempotency_key: str | None = None) -> types.GetFirewallResult:
        """Replaces all firewall rules of a VPS in one step, while it runs; open connections go on. The rules hold over reboots. With default_in deny, allow tcp port 22 or you cannot log in. Answers to allowed connections always pass. Call get_firewall until applied is true.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.SET_FIREWALL, {"service_id": service_id, "default_in": given(default_in), "default_out": given(default_out), "rules": rules}, idempotency_key)

    def list_ports(self, *, service_id: str) -> AsyncListing[types.Port]:
        """Lists the ports of the shared public address that lead to a VPS, beside SSH. A VPS with an address of its own has none in the list: all its ports are open.

        :param service_id: Identifier: vps_...
        """
        return self._list(operations.LIST_PORTS, {"service_id": service_id})

    async def open_port(self, *, service_id: str, port: int, protocol: types.PortProtocol | None = None, idempotency_key: str | None = None) -> types.Port:
        """Opens a port of the public address that leads to a port of a VPS, within a second or two. A port that is open already keeps its public port. A VPS with an address of its own has every port open: the answer is the same port. The firewall of the VPS still decides who may connect.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.OPEN_PORT, {"service_id": service_id, "port": port, "protocol": given(protocol)}, idempotency_key)

    async def close_port(self, *, service_id: str, public_port: float, idempotency_key: str | None = None) -> types.ClosePortResult:
        """Closes a public port that leads to a VPS. Open connections go on and new ones are refused. The port of SSH cannot be closed.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.CLOSE_PORT, {"service_id": service_id, "public_port": public_port}, idempotency_key)

    async def set_rdns(self, *, service_id: str, hostname: str | None, idempotency_key: str | None = None) -> types.SetRdnsResult:
        """Sets the reverse DNS name of a VPS's own addresses: ip where the plan is dedicated, and ipv6. Point the name to them first (A, AAAA): it is published once it leads there. A hostname of null removes it. Repeat the call to have the name checked again and to see how far it is.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.SET_RDNS, {"service_id": service_id, "hostname": hostname}, idempotency_key)

    async def set_hostname(self, *, service_id: str, hostname: str, idempotency_key: str | None = None) -> types.ChangeResult:
        """Sets the host name of a VPS, at once and for every boot (/etc/hostname and /etc/hosts). While it is off or its guest agent does not answer, the operation goes on.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.SET_HOSTNAME, {"service_id": service_id, "hostname": hostname}, idempotency_key)

    async def reset_password(self, *, service_id: str, confirm: bool | str | None = None, idempotency_key: str | None = None) -> types.ChangeResult:
        """Sets a new root password in a VPS at once. When the VPS is off or its guest agent does not answer, it is set at the next boot by power_vps (start, or reboot). Once the operation has succeeded, get_vps_status shows the password, exactly once.

        :param service_id: Identifier: vps_...
        :param confirm: true, the hostname of the VPS, or DELETE
        """
        return await self._call(operations.RESET_PASSWORD, {"service_id": service_id, "confirm": given(confirm)}, idempotency_key)

    async def reinstall_vps(self, *, service_id: str, os_id: int, confirm: bool | str | None = None, ssh_key: str | None = None, new_host_key: bool | None = None, user_data: str | None = None, idempotency_key: str | None = None) -> types.ChangeResult:
        """Wipes the disk of a VPS and installs the system of os_id. It needs confirm. Identifier, address and SSH port stay, and the SSH host key unless new_host_key is true; there is a new one-time root password. With the feature retained_disks the old disk is a snapshot for 24 hours.

        :param service_id: Identifier: vps_...
        :param os_id: From os_images of the plan
        :param confirm: true, the hostname of the VPS, or DELETE
        :param ssh_key: For root. Default: the same as now
        :param user_data: For cloud-init, such as #cloud-config or a #! script (gzip as base64). Runs once; SSH does not wait for it
        """
        return await self._call(operations.REINSTALL_VPS, {"service_id": service_id, "os_id": os_id, "confirm": given(confirm), "ssh_key": given(ssh_key), "new_host_key": given(new_host_key), "user_data": given(user_data)}, idempotency_key)

    async def rescue_vps(self, *, service_id: str, enabled: bool, idempotency_key: str | None = None) -> types.ChangeResult:
        """Boots the rescue system of a VPS with enabled true, and its own disk again with enabled false. It is small and fresh, at the same address, with the same SSH key and host key, and the root password that was shown last. The disk of the VPS is /dev/vdb: mount /dev/vdb1 and repair it, by SSH or run_on_vps. What is written elsewhere is lost. Power works meanwhile; snapshots, hostname and password do not.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.RESCUE_VPS, {"service_id": service_id, "enabled": enabled}, idempotency_key)

    async def get_upgrade_options(self, *, service_id: str) -> types.GetUpgradeOptionsResult:
        """Lists the plans that a VPS can grow to, with what change_plan would charge for the rest of the paid period. A VPS does not shrink.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.GET_UPGRADE_OPTIONS, {"service_id": service_id})

    async def change_plan(self, *, service_id: str, target_plan: str, confirm: bool | str | None = None, idempotency_key: str | None = None) -> types.ChangePlanResult:
        """Grows a VPS to a larger plan: charges the difference for the rest of the paid period from the balance, and boots the VPS once with more processors, memory and disk. Its file system grows by itself. It needs confirm.

        :param service_id: Identifier: vps_...
        :param target_plan: From get_upgrade_options
        :param confirm: true, the hostname of the VPS, or DELETE
        """
        return await self._call(operations.CHANGE_PLAN, {"service_id": service_id, "target_plan": target_plan, "confirm": given(confirm)}, idempotency_key)

    async def run_on_vps(self, *, service_id: str, command: str, cwd: str | None = None, env: dict[str, str] | None = None, input: str | None = None, timeout: float | None = None, max_output: int | None = None, idempotency_key: str | None = None) -> types.RunOnVpsResult:
        """Runs a shell command as root on a VPS through its guest agent, without SSH, and answers when it has ended. After timeout seconds the command is ended and timed_out is true. A program that shall go on needs its own session: setsid PROGRAM >/dev/null 2>&1 </dev/null &.

        :param service_id: Identifier: vps_...
        :param cwd: Default: /root
        :param input: Standard input
        :param timeout: Seconds
        :param max_output: Bytes of output to answer; as a tool 31000
        """
        return await self._call(operations.RUN_ON_VPS, {"service_id": service_id, "command": command, "cwd": given(cwd), "env": given(env), "input": given(input), "timeout": given(timeout), "max_output": given(max_output)}, idempotency_key)

    async def read_vps_file(self, *, service_id: str, path: str, offset: int | None = None, length: int | None = None) -> types.FileRead:
        """Reads up to 5 MB of a regular file of a VPS from offset on. UTF-8 text comes as content, and anything else as content_base64. While eof is false there is more: go on with offset + length.

        :param service_id: Identifier: vps_...
        :param length: Bytes; default 5 MB, as a tool 31000
        """
        return await self._call(operations.READ_VPS_FILE, {"service_id": service_id, "path": path, "offset": given(offset), "length": given(length)})

    async def write_vps_file(self, *, service_id: str, path: str, content: str | None = None, content_base64: str | None = None, offset: int | None = None, idempotency_key: str | None = None) -> types.WriteVpsFileResult:
        """Writes content or content_base64 to a file of a VPS, at most 5 MB (as a tool 700 kB). Without offset the file is replaced as a whole, at once; with offset the bytes are written there, so that a larger file can be sent in pieces. The folder has to exist.

        :param service_id: Identifier: vps_...
        :param content: Text
        """
        return await self._call(operations.WRITE_VPS_FILE, {"service_id": service_id, "path": path, "content": given(content), "content_base64": given(content_base64), "offset": given(offset)}, idempotency_key)

    async def get_operation(self, *, operation_id: str, wait: Literal["done"] | None = None, timeout: int | None = None) -> types.Operation:
        """Shows how far an operation on a VPS is, such as a reinstall. Every change of a VPS answers one. With wait=done the answer comes when it has ended, or after timeout seconds (at most 50): repeat while status is running.

        :param operation_id: Identifier: op_...
        """
        return await self._call(operations.GET_OPERATION, {"operation_id": operation_id, "wait": given(wait), "timeout": given(timeout)})

    async def get_vps_metrics(self, *, service_id: str, range: types.GetVpsMetricsResultRange | None = None, step: int | None = None) -> types.GetVpsMetricsResult:
        """Shows how a VPS used processor, memory, disk and network over the last 1h, 24h, 7d or 30d. A point is [unix seconds, value] for the step that begins then: the mean of cpu_percent (100 is one busy processor, two reach 200) and memory_used_mb (as free shows it), the sum of the bytes. Processor and memory are what the VPS itself counts; without its guest agent, what it takes of the host. Steps without an observation have no point. Longer ranges have coarser steps; "step" in the answer says which one you got.

        :param service_id: Identifier: vps_...
        :param step: Seconds; rounded up to what is kept for the range
        """
        return await self._call(operations.GET_VPS_METRICS, {"service_id": service_id, "range": given(range), "step": given(step)})

    async def open_console(self, *, service_id: str, type: types.OpenConsoleResultType | None = None, idempotency_key: str | None = None) -> types.OpenConsoleResult:
        """Opens the serial console or the screen of a running VPS, for when SSH does not answer. The url is a page for a person; the websocket_url carries the bytes of the serial line, or RFB (VNC), in binary messages. Both hold one secret, which opens one connection within ten minutes.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.OPEN_CONSOLE, {"service_id": service_id, "type": given(type)}, idempotency_key)

    async def create_snapshot(self, *, service_id: str, name: str | None = None, include_memory: bool | None = None, idempotency_key: str | None = None) -> types.CreateSnapshotResult:
        """Keeps the state of a VPS as a snapshot, while it runs on. With include_memory its running programs are kept too, and it stands still for some seconds. A snapshot counts against the limit of the plan and lives on the disk of the VPS: it is no backup against the loss of the host.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.CREATE_SNAPSHOT, {"service_id": service_id, "name": given(name), "include_memory": given(include_memory)}, idempotency_key)

    def list_snapshots(self, *, service_id: str, limit: int | None = None, cursor: str | None = None, wait: types.ListSnapshotsWait | None = None, timeout: int | None = None) -> AsyncListing[types.Snapshot]:
        """Lists the snapshots of a VPS, newest first. Those with a reason were taken by the service, delete themselves and do not count against the plan. With wait=settled the answer comes when none is being created, restored or deleted, or after timeout seconds (at most 50).

        :param service_id: Identifier: vps_...
        """
        return self._list(operations.LIST_SNAPSHOTS, {"service_id": service_id, "limit": given(limit), "cursor": given(cursor), "wait": given(wait), "timeout": given(timeout)})

    async def restore_snapshot(self, *, service_id: str, snapshot_id: str, idempotency_key: str | None = None) -> types.CreateSnapshotResult:
        """Brings a VPS back to a snapshot. What came after the snapshot is lost, passwords and keys included. A snapshot with a reason brings the whole disk of that time back, once, with its system and host key. A cancelled VPS comes back, paid for one month from the balance. A snapshot with memory lets the VPS run on from that moment; without, a running VPS boots from the disk of that time. A snapshot that cannot be read is refused (status damaged), and the VPS stays as it is.

        :param service_id: Identifier: vps_...
        :param snapshot_id: Identifier: snp_...
        """
        return await self._call(operations.RESTORE_SNAPSHOT, {"service_id": service_id, "snapshot_id": snapshot_id}, idempotency_key)

    async def delete_snapshot(self, *, service_id: str, snapshot_id: str, idempotency_key: str | None = None) -> types.CreateSnapshotResult:
        """Deletes a snapshot of a VPS. Its space is free again, and its place among the snapshots of the plan.

        :param service_id: Identifier: vps_...
        :param snapshot_id: Identifier: snp_...
        """
        return await self._call(operations.DELETE_SNAPSHOT, {"service_id": service_id, "snapshot_id": snapshot_id}, idempotency_key)

    async def create_sandbox(self, *, tariff: types.SandboxTariff | None = None, template: str | None = None, mode: types.SandboxMode | None = None, timeout: int | None = None, idle_timeout: int | None = None, env: dict[str, str] | None = None, metadata: dict[str, str] | None = None, network: types.SandboxNetwork | None = None, idempotency_key: str | None = None) -> types.PaidSandbox:
        """Starts an isolated Linux micro-VM for Python, Node.js and shell, running when this answers, paid by the second from the balance. The tariffs in vCPU/GB/USD an hour: micro 0.25/0.5/0.0165, small 0.5/1/0.033, standard 1/2/0.066, plus 2/4/0.132, pro 4/8/0.264, max 8/16/0.528. It ends (persistent: pauses) after timeout seconds, after idle_timeout seconds without use, or when the balance ends.

        :param tariff: Default: micro, or that of the template
        :param template: base, code-interpreter, yours, or a snapshot id
        :param timeout: Seconds
        :param idle_timeout: Seconds; 0: never
        :param network: Default: the internet, if hosts have networks
        """
        return await self._call(operations.CREATE_SANDBOX, {"tariff": given(tariff), "template": given(template), "mode": given(mode), "timeout": given(timeout), "idle_timeout": given(idle_timeout), "env": given(env), "metadata": given(metadata), "network": given(network)}, idempotency_key)

    def list_sandboxes(self, *, limit: int | None = None, cursor: str | None = None, state: types.SandboxState | None = None, metadata: str | None = None) -> AsyncListing[types.Sandbox]:
        """Lists sandboxes that are not over, or are in one state, newest first."""
        return self._list(operations.LIST_SANDBOXES, {"limit": given(limit), "cursor": given(cursor), "state": given(state), "metadata": given(metadata)})

    async def get_sandbox(self, *, sandbox_id: str, wait: types.GetSandboxWait | None = None, timeout: int | None = None) -> types.Sandbox:
        """Shows a sandbox with what it has cost so far. With wait the answer comes when it is in that state, or over, or after timeout seconds.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.GET_SANDBOX, {"sandbox_id": sandbox_id, "wait": given(wait), "timeout": given(timeout)})

    async def kill_sandbox(self, *, sandbox_id: str, idempotency_key: str | None = None) -> types.PaidSandbox:
        """Ends a sandbox with all that is in it. It costs nothing from then on. Its snapshots stay.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.KILL_SANDBOX, {"sandbox_id": sandbox_id}, idempotency_key)

    async def set_sandbox_timeout(self, *, sandbox_id: str, timeout: int | None = None, idle_timeout: int | None = None, idempotency_key: str | None = None) -> types.Sandbox:
        """Changes when a sandbox ends by itself. The new timeout counts from now on, and the new idle_timeout from its last use.

        :param sandbox_id: Identifier: sbx...
        :param timeout: Seconds
        :param idle_timeout: Seconds; 0: never
        """
        return await self._call(operations.SET_SANDBOX_TIMEOUT, {"sandbox_id": sandbox_id, "timeout": given(timeout), "idle_timeout": given(idle_timeout)}, idempotency_key)

    async def set_sandbox_network(self, *, sandbox_id: str, allow_internet: bool | None = None, allow_out: list[str] | None = None, deny_out: list[str] | None = None, idempotency_key: str | None = None) -> types.Sandbox:
        """Replaces the rules for what a sandbox may reach, while it runs; connections that stay allowed go on. With names in a list, names are resolved by its own resolver alone, which refuses the others. The host, other machines, private networks and mail are never reached.

        :param sandbox_id: Identifier: sbx...
        :param allow_internet: Whether what is in no list is reached
        :param allow_out: Networks, and names: example.com is that one, *.example.com all below it
        """
        return await self._call(operations.SET_SANDBOX_NETWORK, {"sandbox_id": sandbox_id, "allow_internet": given(allow_internet), "allow_out": given(allow_out), "deny_out": given(deny_out)}, idempotency_key)

    async def pause_sandbox(self, *, sandbox_id: str, idempotency_key: str | None = None) -> types.PaidSandbox:
        """Pauses a sandbox and keeps its memory and disk for 30 days. It costs nothing meanwhile, also when it is ephemeral.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.PAUSE_SANDBOX, {"sandbox_id": sandbox_id}, idempotency_key)

    async def resume_sandbox(self, *, sandbox_id: str, timeout: int | None = None, idempotency_key: str | None = None) -> types.PaidSandbox:
        """Resumes a paused sandbox: its programs go on where they were, and its timeout begins anew.

        :param sandbox_id: Identifier: sbx...
        :param timeout: Seconds; default: as before
        """
        return await self._call(operations.RESUME_SANDBOX, {"sandbox_id": sandbox_id, "timeout": given(timeout)}, idempotency_key)

    async def fork_sandbox(self, *, sandbox_id: str, timeout: int | None = None, metadata: dict[str, str] | None = None, idempotency_key: str | None = None) -> types.PaidSandbox:
        """Makes a second sandbox that goes on from where the first is now, with its memory, files and programs. It is paid like any other, and the first stays as it was.

        :param sandbox_id: Identifier: sbx...
        :param timeout: Seconds; the same as the sandbox that is forked, by default
        """
        return await self._call(operations.FORK_SANDBOX, {"sandbox_id": sandbox_id, "timeout": given(timeout), "metadata": given(metadata)}, idempotency_key)

    async def create_sandbox_snapshot(self, *, sandbox_id: str, name: str | None = None, idempotency_key: str | None = None) -> types.CreateSandboxSnapshotResult:
        """Keeps memory, files and programs of a sandbox, which runs on. Its id is a template for sandboxes of the same tariff. An account can have 20.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.CREATE_SANDBOX_SNAPSHOT, {"sandbox_id": sandbox_id, "name": given(name)}, idempotency_key)

    def list_sandbox_snapshots(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.SandboxSnapshot]:
        """Lists your snapshots of sandboxes, newest first."""
        return self._list(operations.LIST_SANDBOX_SNAPSHOTS, {"limit": given(limit), "cursor": given(cursor)})

    async def delete_sandbox_snapshot(self, *, snapshot_id: str, idempotency_key: str | None = None) -> types.DeleteSandboxSnapshotResult:
        """Deletes a sandbox snapshot. Sandboxes made from it live on.

        :param snapshot_id: Identifier: snp_...
        """
        return await self._call(operations.DELETE_SANDBOX_SNAPSHOT, {"snapshot_id": snapshot_id}, idempotency_key)

    async def get_sandbox_metrics(self, *, sandbox_id: str, since: datetime | None = None, until: datetime | None = None) -> types.GetSandboxMetricsResult:
        """Shows the processor time, memory, disk and processes of a sandbox, as its own system measures them. With since, also what it used from then on, in the last hour at most.

        :param sandbox_id: Identifier: sbx...
        :param until: Default: now
        """
        return await self._call(operations.GET_SANDBOX_METRICS, {"sandbox_id": sandbox_id, "since": given(since), "until": given(until)})

    async def buy_sandbox(self, *, tariff: types.SandboxTariff | None = None, template: str | None = None, mode: types.SandboxMode | None = None, timeout: int | None = None, idle_timeout: int | None = None, env: dict[str, str] | None = None, metadata: dict[str, str] | None = None, network: types.SandboxNetwork | None = None) -> types.BuySandboxResult:
        """Starts a sandbox with one signed payment (x402, EIP-3009), as buy_vps orders a VPS. It takes what create_sandbox takes. The terms cover its timeout, at least 0.01 USD.

        :param tariff: Default: micro, or that of the template
        :param template: base, code-interpreter, yours, or a snapshot id
        :param timeout: Seconds
        :param idle_timeout: Seconds; 0: never
        :param network: Default: the internet, if hosts have networks
        """
        return await self._call(operations.BUY_SANDBOX, {"tariff": given(tariff), "template": given(template), "mode": given(mode), "timeout": given(timeout), "idle_timeout": given(idle_timeout), "env": given(env), "metadata": given(metadata), "network": given(network)})

    async def run_program(self, *, code: str, budget: types.Usd | None = None, timeout: int | None = None, idempotency_key: str | None = None) -> types.RunProgramResult:
        """Runs TypeScript in a fresh sandbox, which reaches no network, and answers what it printed, so that many calls cost one. The global coinrack has a method for each operation: await coinrack.listPlans({}) takes the input of list_plans and returns its answer, a list as {items, next_cursor}. A refused call throws an error with code, message and fix. The sandbox is paid as a micro and destroyed at the end. Its calls may spend budget. It cannot change tokens or the account.

        :param code: TypeScript of a module, without enums
        :param budget: USD; default 0
        :param timeout: Seconds
        """
        return await self._call(operations.RUN_PROGRAM, {"code": code, "budget": given(budget), "timeout": given(timeout)}, idempotency_key)

    async def run_code(self, *, sandbox_id: str, code: str, language: types.CodeLanguage | None = None, context: str | None = None, env: dict[str, str] | None = None, timeout: float | None = None, background: bool | None = None, max_output: int | None = None, idempotency_key: str | None = None) -> types.RunCodeResult:
        """Runs code in a sandbox and answers when it has ended, with its outputs and the values that it showed. A context (python, node, bash, or any new name) keeps variables from one run to the next. With background it answers a task_id at once. By REST with Accept: text/event-stream the outputs are streamed, and each value as an event result when it is shown.

        :param sandbox_id: Identifier: sbx...
        :param timeout: Seconds; default 30, at most 50 unless streamed or in background
        :param max_output: Bytes of output to answer; as a tool 31000
        """
        return await self._call(operations.RUN_CODE, {"sandbox_id": sandbox_id, "language": given(language), "code": code, "context": given(context), "env": given(env), "timeout": given(timeout), "background": given(background), "max_output": given(max_output)}, idempotency_key)

    async def exec_command(self, *, sandbox_id: str, command: str, cwd: str | None = None, env: dict[str, str] | None = None, user: str | None = None, input: str | None = None, timeout: float | None = None, background: bool | None = None, terminal: types.TerminalSize | None = None, max_output: int | None = None, idempotency_key: str | None = None) -> types.ExecCommandResult:
        """Runs a command in a sandbox by /bin/bash -c and answers when it has ended. With background it answers a task_id at once, and send_input types into it. By REST with Accept: text/event-stream the outputs are streamed.

        :param sandbox_id: Identifier: sbx...
        :param user: Default user, who may sudo; or root
        :param input: Standard input
        :param timeout: Seconds; default 30, at most 50 unless streamed or in background
        :param terminal: In the background
        :param max_output: Bytes of output to answer; as a tool 31000
        """
        return await self._call(operations.EXEC_COMMAND, {"sandbox_id": sandbox_id, "command": command, "cwd": given(cwd), "env": given(env), "user": given(user), "input": given(input), "timeout": given(timeout), "background": given(background), "terminal": given(terminal), "max_output": given(max_output)}, idempotency_key)

    async def create_context(self, *, sandbox_id: str, context: str, language: types.CodeLanguage | None = None, cwd: str | None = None, idempotency_key: str | None = None) -> types.CreateContextResult:
        """Creates an interpreter that keeps what code defines from one run to the next, in a folder of your choice. Code that is run in a new context makes it as well, in the home folder.

        :param sandbox_id: Identifier: sbx...
        :param cwd: Default: the home folder
        """
        return await self._call(operations.CREATE_CONTEXT, {"sandbox_id": sandbox_id, "context": context, "language": given(language), "cwd": given(cwd)}, idempotency_key)

    def list_contexts(self, *, sandbox_id: str, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.Context]:
        """Lists the contexts that keep what code defines. There is one for each language from the beginning.

        :param sandbox_id: Identifier: sbx...
        """
        return self._list(operations.LIST_CONTEXTS, {"sandbox_id": sandbox_id, "limit": given(limit), "cursor": given(cursor)})

    async def restart_context(self, *, sandbox_id: str, context: str, idempotency_key: str | None = None) -> types.RestartContextResult:
        """Ends the code that runs in a context and forgets all that was defined in it. The next code in it begins anew.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.RESTART_CONTEXT, {"sandbox_id": sandbox_id, "context": context}, idempotency_key)

    async def delete_context(self, *, sandbox_id: str, context: str, idempotency_key: str | None = None) -> types.RestartContextResult:
        """Deletes a context with all that was defined in it. One that is not there is no error.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.DELETE_CONTEXT, {"sandbox_id": sandbox_id, "context": context}, idempotency_key)

    def list_tasks(self, *, sandbox_id: str, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.Task]:
        """Lists the tasks that run in the background of a sandbox, and those that ended last.

        :param sandbox_id: Identifier: sbx...
        """
        return self._list(operations.LIST_TASKS, {"sandbox_id": sandbox_id, "limit": given(limit), "cursor": given(cursor)})

    async def get_task(self, *, sandbox_id: str, task_id: str, stdout: int | None = None, stderr: int | None = None, results: int | None = None, timeout: int | None = None, max_output: int | None = None) -> types.GetTaskResult:
        """Reads what a background task of a sandbox wrote, from the given offsets on. Send the "next" of an answer as the offsets of the next call and nothing is lost, except the oldest beyond 1 MiB of each output. It waits up to timeout seconds for more, or for the end of the task. By REST with Accept: text/event-stream it is streamed to its end, with each value that code showed.

        :param sandbox_id: Identifier: sbx...
        :param stdout: Offset in bytes
        :param stderr: Offset in bytes
        :param results: In a stream: how many results were read before
        :param max_output: Bytes of output to answer; as a tool 31000
        """
        return await self._call(operations.GET_TASK, {"sandbox_id": sandbox_id, "task_id": task_id, "stdout": given(stdout), "stderr": given(stderr), "results": given(results), "timeout": given(timeout), "max_output": given(max_output)})

    async def kill_task(self, *, sandbox_id: str, task_id: str, signal: types.TaskSignal | None = None, idempotency_key: str | None = None) -> types.KillTaskResult:
        """Sends a signal to a background task of a sandbox and to all that it started. SIGINT stops code in a context without losing the context.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.KILL_TASK, {"sandbox_id": sandbox_id, "task_id": task_id, "signal": given(signal)}, idempotency_key)

    async def send_input(self, *, sandbox_id: str, task_id: str, input: str | None = None, end: bool | None = None, terminal: types.TerminalSize | None = None, idempotency_key: str | None = None) -> types.SendInputResult:
        """Sends input to a background task of a sandbox. With end its input is closed, and terminal gives its terminal another size.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.SEND_INPUT, {"sandbox_id": sandbox_id, "task_id": task_id, "input": given(input), "end": given(end), "terminal": given(terminal)}, idempotency_key)

    async def write_file(self, *, sandbox_id: str, path: str, content: str | None = None, content_base64: str | None = None, idempotency_key: str | None = None) -> types.WriteVpsFileResult:
        """Writes a file of a sandbox as a whole, and makes the folders on the way. A tool call carries up to 700 kB and a REST call up to 5 MB: larger ones go by get_upload_url.

        :param sandbox_id: Identifier: sbx...
        :param path: Absolute, or relative to /home/user
        :param content: Text
        """
        return await self._call(operations.WRITE_FILE, {"sandbox_id": sandbox_id, "path": path, "content": given(content), "content_base64": given(content_base64)}, idempotency_key)

    async def read_file(self, *, sandbox_id: str, path: str, offset: int | None = None, length: int | None = None) -> types.FileRead:
        """Reads up to 5 MB of a file of a sandbox from offset on. UTF-8 text comes as content, and anything else as content_base64. Read larger files by get_download_url.

        :param sandbox_id: Identifier: sbx...
        :param path: Absolute, or relative to /home/user
        :param length: Bytes; default 5 MB, as a tool 31000
        """
        return await self._call(operations.READ_FILE, {"sandbox_id": sandbox_id, "path": path, "offset": given(offset), "length": given(length)})

    def list_files(self, *, sandbox_id: str, path: str | None = None, depth: int | None = None, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.File]:
        """Lists a folder of a sandbox, sorted by path. With a depth of more than 1 the folders in it are listed too.

        :param sandbox_id: Identifier: sbx...
        :param path: Absolute, or relative to /home/user
        """
        return self._list(operations.LIST_FILES, {"sandbox_id": sandbox_id, "path": given(path), "depth": given(depth), "limit": given(limit), "cursor": given(cursor)})

    async def make_folder(self, *, sandbox_id: str, path: str, idempotency_key: str | None = None) -> types.MakeFolderResult:
        """Makes a folder in a sandbox, with those on the way to it. One that is there already is no error.

        :param sandbox_id: Identifier: sbx...
        :param path: Absolute, or relative to /home/user
        """
        return await self._call(operations.MAKE_FOLDER, {"sandbox_id": sandbox_id, "path": path}, idempotency_key)

    async def move_file(self, *, sandbox_id: str, path: str, to: str, idempotency_key: str | None = None) -> types.MoveFileResult:
        """Renames or moves a file or a folder of a sandbox, and makes the folders on the way. A file that is at the new path is replaced.

        :param sandbox_id: Identifier: sbx...
        :param path: Absolute, or relative to /home/user
        :param to: Absolute, or relative to /home/user
        """
        return await self._call(operations.MOVE_FILE, {"sandbox_id": sandbox_id, "path": path, "to": to}, idempotency_key)

    async def watch_folder(self, *, sandbox_id: str, path: str | None = None, recursive: bool | None = None, timeout: int | None = None) -> types.WatchFolderResult:
        """Shows what changes in a folder of a sandbox from the call on: it answers with the first changes, or with none after timeout seconds. By REST with Accept: text/event-stream the event watching says from when on, and each change is streamed until the caller hangs up.

        :param sandbox_id: Identifier: sbx...
        :param path: Absolute, or relative to /home/user
        """
        return await self._call(operations.WATCH_FOLDER, {"sandbox_id": sandbox_id, "path": given(path), "recursive": given(recursive), "timeout": given(timeout)})

    async def delete_file(self, *, sandbox_id: str, path: str, idempotency_key: str | None = None) -> types.DeleteFileResult:
        """Deletes a file of a sandbox, or a folder with all that is in it. A path that is not there is no error.

        :param sandbox_id: Identifier: sbx...
        :param path: Absolute, or relative to /home/user
        """
        return await self._call(operations.DELETE_FILE, {"sandbox_id": sandbox_id, "path": path}, idempotency_key)

    async def get_upload_url(self, *, sandbox_id: str, path: str, expires_in: int | None = None, idempotency_key: str | None = None) -> types.GetUploadUrlResult:
        """Creates a link by which one file of a sandbox is uploaded without a token. PUT up to 2 GB to it: curl -T FILE URL.

        :param sandbox_id: Identifier: sbx...
        :param path: Absolute, or relative to /home/user
        :param expires_in: Seconds
        """
        return await self._call(operations.GET_UPLOAD_URL, {"sandbox_id": sandbox_id, "path": path, "expires_in": given(expires_in)}, idempotency_key)

    async def get_download_url(self, *, sandbox_id: str, path: str, expires_in: int | None = None, idempotency_key: str | None = None) -> types.GetUploadUrlResult:
        """Creates a link by which one file of a sandbox is downloaded without a token. GET it; Range is understood.

        :param sandbox_id: Identifier: sbx...
        :param path: Absolute, or relative to /home/user
        :param expires_in: Seconds
        """
        return await self._call(operations.GET_DOWNLOAD_URL, {"sandbox_id": sandbox_id, "path": path, "expires_in": given(expires_in)}, idempotency_key)

    async def expose_port(self, *, sandbox_id: str, port: int, access: types.ExposedPortAccess | None = None, idempotency_key: str | None = None) -> types.ExposedPort:
        """Gives a port of a sandbox a URL, for HTTP and WebSocket servers in it. With access public the URL is enough; with access token it takes the token of the answer as well.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.EXPOSE_PORT, {"sandbox_id": sandbox_id, "port": port, "access": given(access)}, idempotency_key)

    async def expose_all_ports(self, *, sandbox_id: str, access: types.ExposeAllPortsResultAccess | None = None, idempotency_key: str | None = None) -> types.ExposeAllPortsResult:
        """Gives every port of a sandbox a URL, also those that nothing listens on yet, or takes them away again. A port that was exposed by itself keeps what it was given.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.EXPOSE_ALL_PORTS, {"sandbox_id": sandbox_id, "access": given(access)}, idempotency_key)

    def list_exposed_ports(self, *, sandbox_id: str, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.ExposedPort]:
        """Lists the ports of a sandbox that have a URL, with their URLs and tokens.

        :param sandbox_id: Identifier: sbx...
        """
        return self._list(operations.LIST_EXPOSED_PORTS, {"sandbox_id": sandbox_id, "limit": given(limit), "cursor": given(cursor)})

    async def unexpose_port(self, *, sandbox_id: str, port: int, idempotency_key: str | None = None) -> types.UnexposePortResult:
        """Removes the URL of a port of a sandbox and cuts open connections. When it is exposed again, it has another token.

        :param sandbox_id: Identifier: sbx...
        """
        return await self._call(operations.UNEXPOSE_PORT, {"sandbox_id": sandbox_id, "port": port}, idempotency_key)

    async def create_sandbox_template(self, *, name: str, dockerfile: str | None = None, snapshot_id: str | None = None, image: bool | None = None, files: list[types.CreateSandboxTemplateFile] | None = None, upload: bool | None = None, args: dict[str, str] | None = None, ready: str | None = None, tariff: types.SandboxTariff | None = None, timeout: int | None = None, network: types.SandboxNetwork | None = None, idempotency_key: str | None = None) -> types.CreateSandboxTemplateResult:
        """Makes a template for sandboxes of your own from a Dockerfile, a snapshot, or an OCI or Docker image archive. A Dockerfile (FROM base, code-interpreter or a template of yours; ARG, RUN, COPY, ENV, WORKDIR, USER, CMD, ENTRYPOINT) is built in a sandbox that is paid like others, and the answer comes when that has begun. Its sandboxes start with CMD running. An account can have 20.

        :param snapshot_id: Identifier: snp_...
        :param image: From an archive of docker save or skopeo, uploaded next
        :param files: For COPY
        :param upload: An archive of files for COPY is uploaded before the build
        :param args: Values of ARG
        :param ready: Command that succeeds when CMD is ready; default: it has run for 2 seconds
        :param tariff: Default: micro, or that of FROM or the snapshot
        :param timeout: Of a build, in seconds
        :param network: Of a build; default: the internet
        """
        return await self._call(operations.CREATE_SANDBOX_TEMPLATE, {"name": name, "dockerfile": given(dockerfile), "snapshot_id": given(snapshot_id), "image": given(image), "files": given(files), "upload": given(upload), "args": given(args), "ready": given(ready), "tariff": given(tariff), "timeout": given(timeout), "network": given(network)}, idempotency_key)

    def list_sandbox_templates(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.SandboxTemplate]:
        """Lists your own templates for sandboxes, newest first."""
        return self._list(operations.LIST_SANDBOX_TEMPLATES, {"limit": given(limit), "cursor": given(cursor)})

    async def get_sandbox_template(self, *, template_id: str, wait: Literal["built"] | None = None, timeout: int | None = None) -> types.SandboxTemplate:
        """Shows a template for sandboxes and its last build. With wait=built the answer comes when nothing is being built, or after timeout seconds.

        :param template_id: Identifier: tpl_...
        """
        return await self._call(operations.GET_SANDBOX_TEMPLATE, {"template_id": template_id, "wait": given(wait), "timeout": given(timeout)})

    async def get_sandbox_template_log(self, *, template_id: str, after: int | None = None, timeout: float | None = None) -> types.GetSandboxTemplateLogResult:
        """Reads the log of the last build of a template from after on, and waits up to timeout seconds for more. By REST with Accept: text/event-stream it is followed to its end.

        :param template_id: Identifier: tpl_...
        :param after: The number of the last line that was read
        :param timeout: Seconds
        """
        return await self._call(operations.GET_SANDBOX_TEMPLATE_LOG, {"template_id": template_id, "after": given(after), "timeout": given(timeout)})

    async def build_sandbox_template(self, *, template_id: str, dockerfile: str | None = None, args: dict[str, str] | None = None, ready: str | None | NotGiven = NOT_GIVEN, tariff: types.SandboxTariff | None = None, fresh: bool | None = None, idempotency_key: str | None = None) -> types.CreateSandboxTemplateResult:
        """Makes a template again in a new sandbox, which is paid like others; instructions whose result is known are taken from the cache. Until it succeeds new sandboxes are made from the build before.

        :param template_id: Identifier: tpl_...
        :param dockerfile: Default: as before
        :param args: Default: as before
        :param ready: Default: as before; null: none
        :param tariff: Default: as before
        :param fresh: Without the cache
        """
        return await self._call(operations.BUILD_SANDBOX_TEMPLATE, {"template_id": template_id, "dockerfile": given(dockerfile), "args": given(args), "ready": ready, "tariff": given(tariff), "fresh": given(fresh)}, idempotency_key)

    async def get_sandbox_template_upload_url(self, *, template_id: str, folder: str | Literal[""] | None = None, expires_in: int | None = None, idempotency_key: str | None = None) -> types.GetSandboxTemplateUploadUrlResult:
        """Creates a link to PUT an archive to, without a token: for a Dockerfile tar or tar.gz with the files for COPY, up to 64 MB, before the build; for an image its archive, up to 2 GB, while it is being built. Use it as curl -T FILE URL.

        :param template_id: Identifier: tpl_...
        :param folder: Of the context, in which it is unpacked
        :param expires_in: Seconds
        """
        return await self._call(operations.GET_SANDBOX_TEMPLATE_UPLOAD_URL, {"template_id": template_id, "folder": given(folder), "expires_in": given(expires_in)}, idempotency_key)

    async def delete_sandbox_template(self, *, template_id: str, idempotency_key: str | None = None) -> types.DeleteSandboxTemplateResult:
        """Deletes a template for sandboxes. Sandboxes made from it live on, a snapshot that it was made from stays, and a build of it ends.

        :param template_id: Identifier: tpl_...
        """
        return await self._call(operations.DELETE_SANDBOX_TEMPLATE, {"template_id": template_id}, idempotency_key)

    def list_events(self, *, limit: int | None = None, cursor: str | None = None, timeout: int | None = None) -> AsyncListing[types.Event]:
        """Lists what happened to the account (payments, orders, VPS), oldest first. Send the position of your last event as cursor; with timeout the answer waits for the next one (at most 50 s). By REST with Accept: text/event-stream they are streamed, and Last-Event-ID resumes."""
        return self._list(operations.LIST_EVENTS, {"limit": given(limit), "cursor": given(cursor), "timeout": given(timeout)})

    async def create_webhook(self, *, url: str, types: list[types.CreateWebhookType] | None = None, idempotency_key: str | None = None) -> types.CreateWebhookResult:
        """Creates a webhook: each event is sent to its URL as a POST of JSON, signed as in Standard Webhooks with the secret of this answer, which is shown once. A delivery is repeated with growing pauses until a 2xx answer, with the same webhook-id each time.

        :param types: Default: all
        """
        return await self._call(operations.CREATE_WEBHOOK, {"url": url, "types": given(types)}, idempotency_key)

    def list_webhooks(self) -> AsyncListing[types.Webhook]:
        """Lists your webhooks without their secrets, newest first."""
        return self._list(operations.LIST_WEBHOOKS, {})

    async def delete_webhook(self, *, webhook_id: str, idempotency_key: str | None = None) -> types.DeleteWebhookResult:
        """Deletes a webhook for good. Nothing is sent to it from then on, not even deliveries that were to be repeated.

        :param webhook_id: Identifier: whk_...
        """
        return await self._call(operations.DELETE_WEBHOOK, {"webhook_id": webhook_id}, idempotency_key)

    async def test_webhook(self, *, webhook_id: str, idempotency_key: str | None = None) -> types.TestWebhookResult:
        """Sends an event webhook.test to this webhook alone, whatever types it wants.

        :param webhook_id: Identifier: whk_...
        """
        return await self._call(operations.TEST_WEBHOOK, {"webhook_id": webhook_id}, idempotency_key)

    def list_webhook_deliveries(self, *, webhook_id: str, limit: int | None = None, cursor: str | None = None, status: types.DeliveryStatus | None = None) -> AsyncListing[types.Delivery]:
        """Lists what was sent to a webhook, newest first. A delivery with status dead was given up after the last attempt; replay_webhook tries it again.

        :param webhook_id: Identifier: whk_...
        """
        return self._list(operations.LIST_WEBHOOK_DELIVERIES, {"webhook_id": webhook_id, "limit": given(limit), "cursor": given(cursor), "status": given(status)})

    async def replay_webhook(self, *, webhook_id: str, delivery_id: str | None = None, idempotency_key: str | None = None) -> types.ReplayWebhookResult:
        """Sends one delivery of a webhook again, or without delivery_id all that are dead. A disabled webhook is enabled by it.

        :param webhook_id: Identifier: whk_...
        :param delivery_id: Identifier: dlv_...
        """
        return await self._call(operations.REPLAY_WEBHOOK, {"webhook_id": webhook_id, "delivery_id": given(delivery_id)}, idempotency_key)

    async def create_ticket(self, *, subject: str, body: str, service_id: str | None = None, idempotency_key: str | None = None) -> types.TicketDetail:
        """Opens a ticket with the operator. The reply is an event ticket.replied, and is mailed.

        :param service_id: Identifier: vps_...
        """
        return await self._call(operations.CREATE_TICKET, {"subject": subject, "body": body, "service_id": given(service_id)}, idempotency_key)

    def list_tickets(self, *, limit: int | None = None, cursor: str | None = None, status: types.TicketStatus | None = None) -> AsyncListing[types.Ticket]:
        """Lists your tickets, newest first."""
        return self._list(operations.LIST_TICKETS, {"limit": given(limit), "cursor": given(cursor), "status": given(status)})

    async def get_ticket(self, *, ticket_id: str) -> types.TicketDetail:
        """Shows a ticket with its messages, oldest first.

        :param ticket_id: Identifier: tkt_...
        """
        return await self._call(operations.GET_TICKET, {"ticket_id": ticket_id})

    async def reply_ticket(self, *, ticket_id: str, body: str, idempotency_key: str | None = None) -> types.TicketDetail:
        """Adds a message to a ticket. A closed ticket is opened again.

        :param ticket_id: Identifier: tkt_...
        """
        return await self._call(operations.REPLY_TICKET, {"ticket_id": ticket_id, "body": body}, idempotency_key)

    async def close_ticket(self, *, ticket_id: str, rating: int | None = None, idempotency_key: str | None = None) -> types.TicketDetail:
        """Closes a ticket, with a rating of the help if you give one.

        :param ticket_id: Identifier: tkt_...
        """
        return await self._call(operations.CLOSE_TICKET, {"ticket_id": ticket_id, "rating": given(rating)}, idempotency_key)

    async def delegate_service(self, *, service_id: str, email: str, expires_at: datetime | None = None, idempotency_key: str | None = None) -> types.DelegateServiceResult:
        """Invites another account by mail to operate a VPS. The invitation is good for 7 days and one account. Its holder may see, power, reinstall and rename the VPS, read metrics and open consoles, but never gets at billing, cancelling, files or the root password.

        :param service_id: Identifier: vps_...
        :param expires_at: When the rights end; default: never
        """
        return await self._call(operations.DELEGATE_SERVICE, {"service_id": service_id, "email": email, "expires_at": given(expires_at)}, idempotency_key)

    async def accept_delegation(self, *, token: str, idempotency_key: str | None = None) -> types.AcceptDelegationResult:
        """Accepts an invitation to operate the VPS of another account, with the token of the mail. The token works once."""
        return await self._call(operations.ACCEPT_DELEGATION, {"token": token}, idempotency_key)

    def list_delegations(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.Delegation]:
        """Lists whom you let operate your VPS, newest first, ended delegations included."""
        return self._list(operations.LIST_DELEGATIONS, {"limit": given(limit), "cursor": given(cursor)})

    def list_delegated_to_me(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncListing[types.DelegatedVps]:
        """Lists the VPS of others that you may operate, newest first."""
        return self._list(operations.LIST_DELEGATED_TO_ME, {"limit": given(limit), "cursor": given(cursor)})

    async def revoke_delegation(self, *, delegation_id: str, idempotency_key: str | None = None) -> types.RevokeDelegationResult:
        """Takes back the right to operate a VPS at once, open consoles included. The account that it was given to can give it back too.

        :param delegation_id: Identifier: dlg_...
        """
        return await self._call(operations.REVOKE_DELEGATION, {"delegation_id": delegation_id}, idempotency_key)
