/** The statuses that ask to come back later do so after `retryAfter` seconds, where what failed does not know better. */
type Failure =
  | { status: 400 | 401 | 402 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 422 | 500 | 502; fix: string }
  | { status: 429 | 503; retryAfter: number; fix: string }

/**
 * Every error code the service can answer with, once: its HTTP status, and what the caller can do.
 * The body on the wire is `{message, code, fix, next_steps, request_id, ...fields}` (see `ErrorBody`).
 */
export const errors = {
  malformed_json: { status: 400, fix: 'Send a JSON object as the request body.' },
  payment_malformed: {
    status: 400,
    fix: 'Send a PaymentPayload of x402 version 2, scheme exact: in base64 as PAYMENT-SIGNATURE, as a tool as it is.',
  },
  unauthorized: {
    status: 401,
    fix: 'Send "Authorization: Bearer <token>"; register_account or login gives a token.',
  },
  wrong_audience: {
    status: 401,
    fix: 'Use the token at the address that it was issued for, or one that login or create_token gave.',
  },
  invalid_credentials: {
    status: 401,
    fix: 'Check e-mail and password, or ask for a code with request_login_code.',
  },
  invalid_wallet_login: {
    status: 401,
    fix: 'Ask for a new message with request_wallet_challenge, sign it as it is, and send it within 5 minutes, once.',
  },
  invalid_code: { status: 401, fix: 'Ask for a new code with request_login_code.' },
  insufficient_balance: {
    status: 402,
    fix: 'Top up with topup_balance, then repeat the call.',
  },
  payment_required: {
    status: 402,
    fix: 'Sign one of "accepts" and repeat the call with it: in PAYMENT-SIGNATURE, as a tool in _meta["x402/payment"]. Stock clients pay more than 1 USD, and tokens they do not know, only when their spend controls are set so.',
  },
  payment_not_accepted: {
    status: 402,
    fix: 'Sign exactly one of "accepts": its network, asset, amount and payTo.',
  },
  payment_signature_invalid: {
    status: 402,
    fix: 'Sign with the key of "from", under the name and version in "extra".',
  },
  payment_expired: { status: 402, fix: 'Sign anew, with validBefore at least a minute from now.' },
  payment_not_yet_valid: { status: 402, fix: 'Sign anew, with validAfter in the past.' },
  payment_nonce_used: { status: 402, fix: 'Sign anew, with another nonce.' },
  payment_insufficient_funds: {
    status: 402,
    fix: 'Bring the tokens to the address that signs, or sign another of "accepts".',
  },
  payment_failed: {
    status: 402,
    fix: 'Sign another of "accepts", or top up without method x402; nothing was taken.',
  },
  account_owes: { status: 402, fix: 'Top up the account: arriving money pays what is owed first.' },
  not_owner: { status: 403, fix: 'Use a token of the account that owns this resource.' },
  account_suspended: { status: 403, fix: 'Contact the operator.' },
  scope_missing: { status: 403, fix: 'Use a token that has the scope named in "scope".' },
  budget_exceeded: {
    status: 403,
    fix: 'Wait for another day when "cap" is per_day, or let the token in "raised_by" raise the budget with update_token.',
  },
  approval_needed: {
    status: 403,
    fix: 'Give the owner of the account the link in "approval_url", wait with get_approval, and after the approval send the same call again.',
  },
  approval_limit: {
    status: 403,
    fix: 'Wait until the owner of the account has decided on a pending approval: list_approvals shows them.',
  },
  proof_too_old: {
    status: 403,
    fix: 'Prove the mailbox with request_login_code and verify_login_code, and repeat the call with the new token within 10 minutes.',
  },
  closed_to_token: {
    status: 403,
    fix: 'Let the owner of the account do it, with the token of a login: request_login_code and verify_login_code give one.',
  },
  token_not_below: { status: 403, fix: 'Use a token of a login, or one above the token that is meant.' },
  child_token: { status: 403, fix: 'Use the token of a login: login, or verify_login_code.' },
  not_found: { status: 404, fix: 'Check the identifier; the list operations show the ones you have.' },
  unknown_operation: { status: 404, fix: 'Use a name that find_operations shows.' },
  file_not_found: {
    status: 404,
    fix: 'Check the path; in a sandbox list_files shows what is there, and relative paths start at /home/user.',
  },
  method_not_allowed: { status: 405, fix: 'See openapi.json for the methods of this path.' },
  request_too_slow: { status: 408, fix: 'Send the body without pauses: at least 500 bytes a second.' },
  email_taken: { status: 409, fix: 'Log in with login, or with request_login_code and verify_login_code.' },
  email_set: { status: 409, fix: 'The account has an e-mail address already: see whoami.' },
  topup_pending: { status: 409, fix: 'Pay the open invoice, or cancel it with cancel_invoice.' },
  payment_arrived: {
    status: 409,
    fix: 'Do not pay again: the money came, and is credited like any deposit; see get_invoice and get_balance. Only for another top-up of the same amount, repeat the call.',
  },
  payment_pending: {
    status: 409,
    fix: 'Do not pay again, and sign no other payment: it may still come, and is credited then. See get_balance and list_transactions; the same payment may be sent again at any time.',
  },
  payment_used: {
    status: 409,
    fix: 'Send the payment with the request that it was signed for, or sign another one for this request.',
  },
  invoice_closed: { status: 409, fix: 'Read the invoice with get_invoice; a closed invoice cannot change.' },
  payment_seen: { status: 409, fix: 'Wait for the payment to be confirmed with get_invoice.' },
  receipt_not_ready: {
    status: 409,
    fix: 'Ask again once get_invoice says paid and what it is for was delivered.',
  },
  refund_open: {
    status: 409,
    fix: 'Wait until it is closed, or take it back with cancel_refund; list_refunds shows it.',
  },
  refund_repeated: {
    status: 409,
    fix: 'Ask for new terms with get_refund_terms, and sign those: a signature is good for one refund.',
  },
  refund_closed: { status: 409, fix: 'Read with get_refund how far it is; it can no longer be cancelled.' },
  service_busy: {
    status: 409,
    fix: 'Wait with get_vps_status until the service is active or stopped; a suspended one goes on after renew_service.',
  },
  renewal_limit: {
    status: 409,
    fix: 'Ask for fewer months: at most 12 months, or 12 hours, are paid beyond the present period.',
  },
  too_many_ports: { status: 409, fix: 'Close a port that is not needed with close_port.' },
  guest_unreachable: {
    status: 409,
    fix: 'Wait until it has booted and repeat the call; if it fails again, see with open_console whether qemu-guest-agent runs.',
  },
  snapshot_busy: {
    status: 409,
    fix: 'Wait with list_snapshots and wait=settled until no snapshot of the service is in work, then look at its status.',
  },
  snapshot_limit: { status: 409, fix: 'Delete one with delete_snapshot first.' },
  ssh_key_limit: { status: 409, fix: 'Delete one with delete_ssh_key first; list_ssh_keys shows them.' },
  unpaid_order_limit: {
    status: 409,
    fix: 'Pay an unpaid order, cancel its invoice with cancel_invoice, or top up first: orders that the balance covers have no limit.',
  },
  token_limit: { status: 409, fix: 'Revoke one with revoke_token first; list_tokens shows them.' },
  delegation_limit: { status: 409, fix: 'Revoke one with revoke_delegation, or wait a day.' },
  ticket_limit: { status: 409, fix: 'Close a ticket with close_ticket, or wait a day.' },
  webhook_limit: { status: 409, fix: 'Delete one with delete_webhook first.' },
  sandbox_not_running: {
    status: 409,
    fix: 'Let a paused one go on with resume_sandbox; in place of an ended one make another with create_sandbox.',
  },
  sandbox_unreachable: {
    status: 409,
    fix: 'Repeat the call; if it fails again end the sandbox with kill_sandbox and make another.',
  },
  sandbox_damaged: {
    status: 409,
    fix: 'Its saved state cannot be used: end it with kill_sandbox and create another.',
  },
  sandbox_limit: { status: 409, fix: 'End what is no longer needed with kill_task or unexpose_port.' },
  sandbox_snapshot_limit: { status: 409, fix: 'Delete one with delete_sandbox_snapshot first.' },
  template_exists: {
    status: 409,
    fix: 'Choose another name, or build that template again with build_sandbox_template.',
  },
  template_limit: { status: 409, fix: 'Delete one with delete_sandbox_template first.' },
  template_busy: {
    status: 409,
    fix: 'Wait with get_sandbox_template and wait=built until nothing is being built, then repeat the call.',
  },
  task_ended: {
    status: 409,
    fix: 'Read with get_task how it ended; only tasks with an open input can be typed into.',
  },
  review_exists: { status: 409, fix: 'An account can submit one review.' },
  review_needs_order: { status: 409, fix: 'Order a VPS first; reviews come from customers.' },
  idempotency_running: { status: 409, fix: 'Wait a second and repeat the same request with the same key.' },
  answer_not_kept: {
    status: 409,
    fix: 'The first call was done. Read what came of it with the operations that show it; a new key does it once more.',
  },
  body_too_large: { status: 413, fix: 'Send at most 1 MiB, and write larger files in pieces.' },
  unsupported_media_type: { status: 415, fix: 'Send the body as application/json.' },
  invalid_input: { status: 422, fix: 'Correct the fields named in "details" and send the request again.' },
  invalid_email: { status: 422, fix: 'Send an address of the form name@domain.tld.' },
  reserved_email: { status: 422, fix: 'Use a mailbox of your own; this address is reserved.' },
  refund_too_much: {
    status: 422,
    fix: 'Ask for at most what get_refund_terms shows as refundable; payments that are not final yet count later.',
  },
  refund_other_chain: {
    status: 422,
    fix: 'Choose a network and token on which money came to this account; get_refund_terms shows them.',
  },
  refund_signature_invalid: {
    status: 422,
    fix: 'Sign the typed data of get_refund_terms with the key of the address, and send the same fields with it.',
  },
  refund_signature_expired: { status: 422, fix: 'Ask for new terms with get_refund_terms, and sign those.' },
  refund_to_token: {
    status: 422,
    fix: 'Name the address of a wallet of yours: this one belongs to a token or to this service, and money would be lost there.',
  },
  refund_to_contract: {
    status: 422,
    fix: 'Name the address of a wallet with a key of its own: no contract can prove by a signature that it can move the money on.',
  },
  refund_address_blocked: {
    status: 422,
    fix: 'Name another address, or another token: the issuer of this one refuses payments to the address now.',
  },
  unknown_product: { status: 422, fix: 'Use a slug from list_plans.' },
  no_own_address: {
    status: 422,
    fix: 'Order a plan of list_plans whose network is dedicated: it has an address of its own.',
  },
  plan_not_larger: { status: 422, fix: 'Choose a plan that get_upgrade_options shows.' },
  os_not_supported: { status: 422, fix: 'Use an os_id that list_plans shows for this plan.' },
  invalid_ssh_key: {
    status: 422,
    fix: 'Send one line of a public key file: ssh-ed25519, ecdsa, rsa of 2048 bits or more, or sk-*.',
  },
  invalid_user_data: {
    status: 422,
    fix: 'Begin it with #cloud-config and valid YAML, or with #! and an interpreter, or send a MIME message with its headers.',
  },
  quote_invalid: { status: 422, fix: 'Ask order_vps for a new quote.' },
  price_above_maximum: { status: 422, fix: 'Raise max_price, or choose a cheaper plan from list_plans.' },
  unknown_template: {
    status: 422,
    fix: 'Use base, code-interpreter, a ready template from list_sandbox_templates, or the id of a ready snapshot from list_sandbox_snapshots, with its tariff.',
  },
  dockerfile_invalid: {
    status: 422,
    fix: 'Correct the line named in "line" and send the request again: FROM base, code-interpreter or a template of yours, then ARG, RUN, COPY, ENV, WORKDIR, USER, CMD and ENTRYPOINT.',
  },
  unknown_context: { status: 422, fix: 'Use the name of a context of this language, or a new name.' },
  unknown_language: { status: 422, fix: 'Make the sandbox with the template code-interpreter.' },
  task_refused: { status: 422, fix: 'Name a user, a folder and a program that exist in the sandbox.' },
  file_refused: {
    status: 422,
    fix: 'Name a regular file that may be opened there; on a VPS its folder has to exist.',
  },
  invalid_invitation: { status: 422, fix: 'Use the token of the mail; ask the owner to invite you again.' },
  webhook_url_refused: { status: 422, fix: 'Name a public host; https, without user and password.' },
  topup_by_crypto_only: { status: 422, fix: 'Pay a top-up invoice at its checkout_url.' },
  payment_method_unavailable: {
    status: 422,
    fix: 'Choose a network and token from the payment_options of an invoice.',
  },
  unknown_chain: {
    status: 422,
    fix: 'Name a chain of the payment_options of an invoice, or leave it out for a wallet with a key.',
  },
  unsupported: {
    status: 422,
    fix: 'Do it in another way: the host of this VPS lacks the feature in "feature"; get_vps_status shows those that it has.',
  },
  confirmation_required: {
    status: 422,
    fix: 'Send "confirm" with true, the hostname of the service, or DELETE.',
  },
  idempotency_key_reused: { status: 422, fix: 'Use a new Idempotency-Key for another request.' },
  rate_limited: { status: 429, retryAfter: 60, fix: 'Wait for the seconds in retry_after, then repeat.' },
  internal: { status: 500, fix: 'Repeat the request; if it fails again send the operator the request_id.' },
  network_unavailable: {
    status: 503,
    retryAfter: 3600,
    fix: 'Start one without a network, or ask the operator: this host gives sandboxes no network of their own.',
  },
  link_invalid: { status: 403, fix: 'Get a new link with get_upload_url or get_download_url.' },
  preview_closed: { status: 404, fix: 'Open the port with expose_port; list_exposed_ports shows its URL.' },
  preview_blocked: {
    status: 403,
    fix: 'Write to the operator with create_ticket; other ports can be exposed meanwhile.',
  },
  preview_token_missing: {
    status: 401,
    fix: 'Send the token that list_exposed_ports shows in the header X-Preview-Token.',
  },
  port_refused: { status: 502, fix: 'Start a server on that port of the sandbox, then repeat.' },
  sandboxes_unavailable: {
    status: 503,
    retryAfter: 3600,
    fix: 'Repeat after the seconds in retry_after; where that is an hour, this host runs no sandboxes: ask the operator.',
  },
  chain_unavailable: {
    status: 503,
    retryAfter: 10,
    fix: 'Repeat after the seconds in retry_after: the chain of the contract wallet has to be asked.',
  },
  settlement_unavailable: {
    status: 503,
    retryAfter: 15,
    fix: 'Repeat after the seconds in retry_after with the same payment, which is settled once, and sign no other before it is over; see get_balance.',
  },
  rdns_unavailable: {
    status: 503,
    retryAfter: 3600,
    fix: 'Ask the operator: reverse names cannot be set here.',
  },
  mail_unavailable: {
    status: 503,
    retryAfter: 60,
    fix: 'Ask for another code after the seconds in retry_after, or log in with a password.',
  },
  overloaded: {
    status: 503,
    retryAfter: 5,
    fix: 'Wait for the seconds in retry_after, then send the same request again; nothing was done.',
  },
  capacity: {
    status: 503,
    retryAfter: 60,
    fix: 'Ask for a smaller one, or again after retry_after seconds; nothing was charged.',
  },
  unavailable: {
    status: 503,
    retryAfter: 5,
    fix: 'Wait for the seconds in retry_after, then repeat; a write with the same Idempotency-Key, so that it has the effect of one.',
  },
  storage_full: {
    status: 503,
    retryAfter: 60,
    fix: 'Repeat after the seconds in retry_after: the operator has to make room first. Nothing was charged.',
  },
} as const satisfies Record<string, Failure>

export type ErrorCode = keyof typeof errors
