"""What can be asked of the service, as it stands on the wire. Made by `npm run generate` from the contract."""

from __future__ import annotations

from typing import Any

from .._operation import Operation
from . import types

BASE_PATH = "/api/v1/eqvps"

GET_STARTED: Operation[types.GetStartedResult] = Operation(
    "get_started", "GET", "/api/v1/eqvps/get-started", types.GetStartedResult, is_repeatable=True
)

FIND_OPERATIONS: Operation[types.FindOperationsResult] = Operation(
    "find_operations", "GET", "/api/v1/eqvps/catalog/operations", types.FindOperationsResult, is_repeatable=True
)

CALL_OPERATION: Operation[dict[str, Any]] = Operation(
    "call_operation", "POST", "/api/v1/eqvps/catalog/operations/{name}", dict[str, Any], in_path=("name",)
)

REGISTER_ACCOUNT: Operation[types.RegisterAccountResult] = Operation(
    "register_account", "POST", "/api/v1/eqvps/auth/register", types.RegisterAccountResult, is_public=True
)

LOGIN: Operation[types.RegisterAccountResult] = Operation(
    "login", "POST", "/api/v1/eqvps/auth/login", types.RegisterAccountResult, is_public=True
)

REQUEST_LOGIN_CODE: Operation[types.RequestLoginCodeResult] = Operation(
    "request_login_code", "POST", "/api/v1/eqvps/auth/otp/request", types.RequestLoginCodeResult, is_public=True
)

VERIFY_LOGIN_CODE: Operation[types.VerifyLoginCodeResult] = Operation(
    "verify_login_code", "POST", "/api/v1/eqvps/auth/otp/verify", types.VerifyLoginCodeResult, is_public=True
)

REQUEST_WALLET_CHALLENGE: Operation[types.RequestWalletChallengeResult] = Operation(
    "request_wallet_challenge", "POST", "/x402/login/challenge", types.RequestWalletChallengeResult, is_public=True
)

VERIFY_WALLET_LOGIN: Operation[types.RegisterAccountResult] = Operation(
    "verify_wallet_login", "POST", "/x402/login", types.RegisterAccountResult, is_public=True
)

SET_EMAIL: Operation[types.SetEmailResult] = Operation(
    "set_email", "POST", "/api/v1/eqvps/account/email", types.SetEmailResult
)

SET_PASSWORD: Operation[types.SetEmailResult] = Operation(
    "set_password", "POST", "/api/v1/eqvps/auth/set-password", types.SetEmailResult, is_repeatable=True
)

WHOAMI: Operation[types.WhoamiResult] = Operation(
    "whoami", "GET", "/api/v1/eqvps/account", types.WhoamiResult, is_repeatable=True
)

UPDATE_ACCOUNT: Operation[types.SetEmailResult] = Operation(
    "update_account", "PATCH", "/api/v1/eqvps/account", types.SetEmailResult, is_repeatable=True
)

LIST_TOKENS: Operation[types.Token] = Operation(
    "list_tokens", "GET", "/api/v1/eqvps/tokens", types.Token, is_repeatable=True
)

CREATE_TOKEN: Operation[types.CreateTokenResult] = Operation(
    "create_token", "POST", "/api/v1/eqvps/tokens", types.CreateTokenResult
)

UPDATE_TOKEN: Operation[types.UpdateTokenResult] = Operation(
    "update_token", "PATCH", "/api/v1/eqvps/tokens/{token_id}", types.UpdateTokenResult, is_repeatable=True, in_path=("token_id",)
)

CONFIRM_TOKEN: Operation[types.UpdateTokenResult] = Operation(
    "confirm_token", "POST", "/api/v1/eqvps/tokens/{token_id}/confirm", types.UpdateTokenResult, is_repeatable=True, in_path=("token_id",)
)

REVOKE_TOKEN: Operation[types.RevokeTokenResult] = Operation(
    "revoke_token", "DELETE", "/api/v1/eqvps/tokens/{token_id}", types.RevokeTokenResult, is_repeatable=True, in_path=("token_id",)
)

REFRESH_TOKEN: Operation[types.RefreshTokenResult] = Operation(
    "refresh_token", "POST", "/api/v1/eqvps/auth/refresh", types.RefreshTokenResult
)

LOGOUT: Operation[types.RevokeTokenResult] = Operation(
    "logout", "POST", "/api/v1/eqvps/auth/logout", types.RevokeTokenResult, is_repeatable=True
)

LIST_APPROVALS: Operation[types.Approval] = Operation(
    "list_approvals", "GET", "/api/v1/eqvps/approvals", types.Approval, is_repeatable=True
)

GET_APPROVAL: Operation[types.GetApprovalResult] = Operation(
    "get_approval", "GET", "/api/v1/eqvps/approvals/{approval_id}", types.GetApprovalResult, is_repeatable=True, in_path=("approval_id",)
)

LIST_SSH_KEYS: Operation[types.SSHKey] = Operation(
    "list_ssh_keys", "GET", "/api/v1/eqvps/ssh-keys", types.SSHKey, is_repeatable=True
)

ADD_SSH_KEY: Operation[types.AddSshKeyResult] = Operation(
    "add_ssh_key", "POST", "/api/v1/eqvps/ssh-keys", types.AddSshKeyResult, is_repeatable=True
)

DELETE_SSH_KEY: Operation[types.AddSshKeyResult] = Operation(
    "delete_ssh_key", "DELETE", "/api/v1/eqvps/ssh-keys/{ssh_key_id}", types.AddSshKeyResult, in_path=("ssh_key_id",)
)

LIST_PLANS: Operation[types.Plan] = Operation(
    "list_plans", "GET", "/api/v1/eqvps/products", types.Plan, is_public=True, is_repeatable=True
)

LIST_REVIEWS: Operation[types.ListReviewsResult] = Operation(
    "list_reviews", "GET", "/api/v1/eqvps/reviews", types.ListReviewsResult, is_public=True, is_repeatable=True
)

SUBMIT_REVIEW: Operation[types.SubmitReviewResult] = Operation(
    "submit_review", "POST", "/api/v1/eqvps/reviews", types.SubmitReviewResult
)

GET_BALANCE: Operation[types.Balance] = Operation(
    "get_balance", "GET", "/api/v1/eqvps/balance", types.Balance, is_repeatable=True
)

LIST_TRANSACTIONS: Operation[types.Transaction] = Operation(
    "list_transactions", "GET", "/api/v1/eqvps/balance/transactions", types.Transaction, is_repeatable=True
)

GET_STATEMENT: Operation[types.GetStatementResult] = Operation(
    "get_statement", "GET", "/api/v1/eqvps/balance/statement", types.GetStatementResult, is_repeatable=True
)

TOPUP_BALANCE: Operation[types.TopupBalanceResult] = Operation(
    "topup_balance", "POST", "/api/v1/eqvps/balance/topup", types.TopupBalanceResult
)

LIST_INVOICES: Operation[types.Invoice] = Operation(
    "list_invoices", "GET", "/api/v1/eqvps/invoices", types.Invoice, is_repeatable=True
)

GET_INVOICE: Operation[types.Invoice] = Operation(
    "get_invoice", "GET", "/api/v1/eqvps/invoices/{invoice_id}", types.Invoice, is_repeatable=True, in_path=("invoice_id",)
)

PAY_INVOICE: Operation[types.PayInvoiceResult] = Operation(
    "pay_invoice", "POST", "/api/v1/eqvps/invoices/{invoice_id}/pay", types.PayInvoiceResult, is_repeatable=True, in_path=("invoice_id",)
)

CANCEL_INVOICE: Operation[types.Invoice] = Operation(
    "cancel_invoice", "POST", "/api/v1/eqvps/invoices/{invoice_id}/cancel", types.Invoice, is_repeatable=True, in_path=("invoice_id",)
)

GET_RECEIPT: Operation[types.GetReceiptResult] = Operation(
    "get_receipt", "GET", "/api/v1/eqvps/invoices/{invoice_id}/receipt", types.GetReceiptResult, is_repeatable=True, in_path=("invoice_id",)
)

GET_REFUND_TERMS: Operation[types.GetRefundTermsResult] = Operation(
    "get_refund_terms", "GET", "/api/v1/eqvps/refunds/terms", types.GetRefundTermsResult, is_repeatable=True
)

REQUEST_REFUND: Operation[types.Refund] = Operation(
    "request_refund", "POST", "/api/v1/eqvps/refunds", types.Refund
)

LIST_REFUNDS: Operation[types.Refund] = Operation(
    "list_refunds", "GET", "/api/v1/eqvps/refunds", types.Refund, is_repeatable=True
)

GET_REFUND: Operation[types.Refund] = Operation(
    "get_refund", "GET", "/api/v1/eqvps/refunds/{refund_id}", types.Refund, is_repeatable=True, in_path=("refund_id",)
)

CANCEL_REFUND: Operation[types.Refund] = Operation(
    "cancel_refund", "POST", "/api/v1/eqvps/refunds/{refund_id}/cancel", types.Refund, is_repeatable=True, in_path=("refund_id",)
)

ORDER_VPS: Operation[types.OrderVpsResult] = Operation(
    "order_vps", "POST", "/api/v1/eqvps/orders", types.OrderVpsResult
)

LIST_ORDERS: Operation[types.Order] = Operation(
    "list_orders", "GET", "/api/v1/eqvps/orders/list", types.Order, is_repeatable=True
)

GET_ORDER: Operation[types.Order] = Operation(
    "get_order", "GET", "/api/v1/eqvps/orders/{order_id}", types.Order, is_repeatable=True, in_path=("order_id",)
)

BUY_VPS: Operation[types.BuyVpsResult] = Operation(
    "buy_vps", "POST", "/x402/orders", types.BuyVpsResult, is_public=True
)

LIST_VPS: Operation[types.VPS] = Operation(
    "list_vps", "GET", "/api/v1/eqvps/services", types.VPS, is_repeatable=True
)

GET_VPS_STATUS: Operation[types.GetVpsStatusResult] = Operation(
    "get_vps_status", "GET", "/api/v1/eqvps/services/{service_id}", types.GetVpsStatusResult, is_repeatable=True, in_path=("service_id",)
)

POWER_VPS: Operation[types.ChangeResult] = Operation(
    "power_vps", "POST", "/api/v1/eqvps/services/{service_id}/power", types.ChangeResult, is_repeatable=True, in_path=("service_id",)
)

CANCEL_SERVICE: Operation[types.CancelServiceResult] = Operation(
    "cancel_service", "POST", "/api/v1/eqvps/services/{service_id}/cancel", types.CancelServiceResult, is_repeatable=True, in_path=("service_id",)
)

RENEW_SERVICE: Operation[types.RenewServiceResult] = Operation(
    "renew_service", "POST", "/api/v1/eqvps/services/{service_id}/renew", types.RenewServiceResult, in_path=("service_id",)
)

SET_AUTO_RENEW: Operation[types.SetAutoRenewResult] = Operation(
    "set_auto_renew", "PUT", "/api/v1/eqvps/services/{service_id}/auto-renew", types.SetAutoRenewResult, is_repeatable=True, in_path=("service_id",)
)

GET_FIREWALL: Operation[types.GetFirewallResult] = Operation(
    "get_firewall", "GET", "/api/v1/eqvps/services/{service_id}/firewall", types.GetFirewallResult, is_repeatable=True, in_path=("service_id",)
)

SET_FIREWALL: Operation[types.GetFirewallResult] = Operation(
    "set_firewall", "PUT", "/api/v1/eqvps/services/{service_id}/firewall", types.GetFirewallResult, is_repeatable=True, in_path=("service_id",)
)

LIST_PORTS: Operation[types.Port] = Operation(
    "list_ports", "GET", "/api/v1/eqvps/services/{service_id}/ports", types.Port, is_repeatable=True, in_path=("service_id",)
)

OPEN_PORT: Operation[types.Port] = Operation(
    "open_port", "POST", "/api/v1/eqvps/services/{service_id}/ports", types.Port, is_repeatable=True, in_path=("service_id",)
)

CLOSE_PORT: Operation[types.ClosePortResult] = Operation(
    "close_port", "DELETE", "/api/v1/eqvps/services/{service_id}/ports/{public_port}", types.ClosePortResult, is_repeatable=True, in_path=("service_id", "public_port",)
)

SET_RDNS: Operation[types.SetRdnsResult] = Operation(
    "set_rdns", "PUT", "/api/v1/eqvps/services/{service_id}/rdns", types.SetRdnsResult, is_repeatable=True, in_path=("service_id",)
)

SET_HOSTNAME: Operation[types.ChangeResult] = Operation(
    "set_hostname", "POST", "/api/v1/eqvps/services/{service_id}/hostname", types.ChangeResult, is_repeatable=True, in_path=("service_id",)
)

RESET_PASSWORD: Operation[types.ChangeResult] = Operation(
    "reset_password", "POST", "/api/v1/eqvps/services/{service_id}/reset-password", types.ChangeResult, in_path=("service_id",)
)

REINSTALL_VPS: Operation[types.ChangeResult] = Operation(
    "reinstall_vps", "POST", "/api/v1/eqvps/services/{service_id}/reinstall", types.ChangeResult, in_path=("service_id",)
)

RESCUE_VPS: Operation[types.ChangeResult] = Operation(
    "rescue_vps", "POST", "/api/v1/eqvps/services/{service_id}/rescue", types.ChangeResult, is_repeatable=True, in_path=("service_id",)
)

GET_UPGRADE_OPTIONS: Operation[types.GetUpgradeOptionsResult] = Operation(
    "get_upgrade_options", "GET", "/api/v1/eqvps/services/{service_id}/upgrade-options", types.GetUpgradeOptionsResult, is_repeatable=True, in_path=("service_id",)
)

CHANGE_PLAN: Operation[types.ChangePlanResult] = Operation(
    "change_plan", "POST", "/api/v1/eqvps/services/{service_id}/change-plan", types.ChangePlanResult, in_path=("service_id",)
)

RUN_ON_VPS: Operation[types.RunOnVpsResult] = Operation(
    "run_on_vps", "POST", "/api/v1/eqvps/services/{service_id}/exec", types.RunOnVpsResult, in_path=("service_id",)
)

READ_VPS_FILE: Operation[types.FileRead] = Operation(
    "read_vps_file", "GET", "/api/v1/eqvps/services/{service_id}/files", types.FileRead, is_repeatable=True, in_path=("service_id",)
)

WRITE_VPS_FILE: Operation[types.WriteVpsFileResult] = Operation(
    "write_vps_file", "PUT", "/api/v1/eqvps/services/{service_id}/files", types.WriteVpsFileResult, is_repeatable=True, in_path=("service_id",), in_query=("path",)
)

GET_OPERATION: Operation[types.Operation] = Operation(
    "get_operation", "GET", "/api/v1/eqvps/operations/{operation_id}", types.Operation, is_repeatable=True, in_path=("operation_id",)
)

GET_VPS_METRICS: Operation[types.GetVpsMetricsResult] = Operation(
    "get_vps_metrics", "GET", "/api/v1/eqvps/services/{service_id}/metrics", types.GetVpsMetricsResult, is_repeatable=True, in_path=("service_id",)
)

OPEN_CONSOLE: Operation[types.OpenConsoleResult] = Operation(
    "open_console", "POST", "/api/v1/eqvps/services/{service_id}/console", types.OpenConsoleResult, in_path=("service_id",)
)

CREATE_SNAPSHOT: Operation[types.CreateSnapshotResult] = Operation(
    "create_snapshot", "POST", "/api/v1/eqvps/services/{service_id}/snapshots", types.CreateSnapshotResult, in_path=("service_id",)
)

LIST_SNAPSHOTS: Operation[types.Snapshot] = Operation(
    "list_snapshots", "GET", "/api/v1/eqvps/services/{service_id}/snapshots", types.Snapshot, is_repeatable=True, in_path=("service_id",)
)

RESTORE_SNAPSHOT: Operation[types.CreateSnapshotResult] = Operation(
    "restore_snapshot", "POST", "/api/v1/eqvps/services/{service_id}/snapshots/{snapshot_id}/restore", types.CreateSnapshotResult, is_repeatable=True, in_path=("service_id", "snapshot_id",)
)

DELETE_SNAPSHOT: Operation[types.CreateSnapshotResult] = Operation(
    "delete_snapshot", "DELETE", "/api/v1/eqvps/services/{service_id}/snapshots/{snapshot_id}", types.CreateSnapshotResult, is_repeatable=True, in_path=("service_id", "snapshot_id",)
)

CREATE_SANDBOX: Operation[types.PaidSandbox] = Operation(
    "create_sandbox", "POST", "/api/v1/eqvps/sandboxes", types.PaidSandbox
)

LIST_SANDBOXES: Operation[types.Sandbox] = Operation(
    "list_sandboxes", "GET", "/api/v1/eqvps/sandboxes", types.Sandbox, is_repeatable=True
)

GET_SANDBOX: Operation[types.Sandbox] = Operation(
    "get_sandbox", "GET", "/api/v1/eqvps/sandboxes/{sandbox_id}", types.Sandbox, is_repeatable=True, in_path=("sandbox_id",)
)

KILL_SANDBOX: Operation[types.PaidSandbox] = Operation(
    "kill_sandbox", "DELETE", "/api/v1/eqvps/sandboxes/{sandbox_id}", types.PaidSandbox, is_repeatable=True, in_path=("sandbox_id",)
)

SET_SANDBOX_TIMEOUT: Operation[types.Sandbox] = Operation(
    "set_sandbox_timeout", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/timeout", types.Sandbox, is_repeatable=True, in_path=("sandbox_id",)
)

SET_SANDBOX_NETWORK: Operation[types.Sandbox] = Operation(
    "set_sandbox_network", "PUT", "/api/v1/eqvps/sandboxes/{sandbox_id}/network", types.Sandbox, is_repeatable=True, in_path=("sandbox_id",)
)

PAUSE_SANDBOX: Operation[types.PaidSandbox] = Operation(
    "pause_sandbox", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/pause", types.PaidSandbox, is_repeatable=True, in_path=("sandbox_id",)
)

RESUME_SANDBOX: Operation[types.PaidSandbox] = Operation(
    "resume_sandbox", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/resume", types.PaidSandbox, is_repeatable=True, in_path=("sandbox_id",)
)

FORK_SANDBOX: Operation[types.PaidSandbox] = Operation(
    "fork_sandbox", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/fork", types.PaidSandbox, in_path=("sandbox_id",)
)

CREATE_SANDBOX_SNAPSHOT: Operation[types.CreateSandboxSnapshotResult] = Operation(
    "create_sandbox_snapshot", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/snapshots", types.CreateSandboxSnapshotResult, in_path=("sandbox_id",)
)

LIST_SANDBOX_SNAPSHOTS: Operation[types.SandboxSnapshot] = Operation(
    "list_sandbox_snapshots", "GET", "/api/v1/eqvps/sandbox-snapshots", types.SandboxSnapshot, is_repeatable=True
)

DELETE_SANDBOX_SNAPSHOT: Operation[types.DeleteSandboxSnapshotResult] = Operation(
    "delete_sandbox_snapshot", "DELETE", "/api/v1/eqvps/sandbox-snapshots/{snapshot_id}", types.DeleteSandboxSnapshotResult, is_repeatable=True, in_path=("snapshot_id",)
)

GET_SANDBOX_METRICS: Operation[types.GetSandboxMetricsResult] = Operation(
    "get_sandbox_metrics", "GET", "/api/v1/eqvps/sandboxes/{sandbox_id}/metrics", types.GetSandboxMetricsResult, is_repeatable=True, in_path=("sandbox_id",)
)

BUY_SANDBOX: Operation[types.BuySandboxResult] = Operation(
    "buy_sandbox", "POST", "/x402/sandboxes", types.BuySandboxResult, is_public=True
)

RUN_PROGRAM: Operation[types.RunProgramResult] = Operation(
    "run_program", "POST", "/api/v1/eqvps/programs", types.RunProgramResult
)

RUN_CODE: Operation[types.RunCodeResult] = Operation(
    "run_code", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/run", types.RunCodeResult, in_path=("sandbox_id",)
)

EXEC_COMMAND: Operation[types.ExecCommandResult] = Operation(
    "exec_command", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/exec", types.ExecCommandResult, in_path=("sandbox_id",)
)

CREATE_CONTEXT: Operation[types.CreateContextResult] = Operation(
    "create_context", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/contexts", types.CreateContextResult, is_repeatable=True, in_path=("sandbox_id",)
)

LIST_CONTEXTS: Operation[types.Context] = Operation(
    "list_contexts", "GET", "/api/v1/eqvps/sandboxes/{sandbox_id}/contexts", types.Context, is_repeatable=True, in_path=("sandbox_id",)
)

RESTART_CONTEXT: Operation[types.RestartContextResult] = Operation(
    "restart_context", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/contexts/{context}/restart", types.RestartContextResult, is_repeatable=True, in_path=("sandbox_id", "context",)
)

DELETE_CONTEXT: Operation[types.RestartContextResult] = Operation(
    "delete_context", "DELETE", "/api/v1/eqvps/sandboxes/{sandbox_id}/contexts/{context}", types.RestartContextResult, is_repeatable=True, in_path=("sandbox_id", "context",)
)

LIST_TASKS: Operation[types.Task] = Operation(
    "list_tasks", "GET", "/api/v1/eqvps/sandboxes/{sandbox_id}/tasks", types.Task, is_repeatable=True, in_path=("sandbox_id",)
)

GET_TASK: Operation[types.GetTaskResult] = Operation(
    "get_task", "GET", "/api/v1/eqvps/sandboxes/{sandbox_id}/tasks/{task_id}", types.GetTaskResult, is_repeatable=True, in_path=("sandbox_id", "task_id",)
)

KILL_TASK: Operation[types.KillTaskResult] = Operation(
    "kill_task", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/tasks/{task_id}/kill", types.KillTaskResult, is_repeatable=True, in_path=("sandbox_id", "task_id",)
)

SEND_INPUT: Operation[types.SendInputResult] = Operation(
    "send_input", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/tasks/{task_id}/input", types.SendInputResult, in_path=("sandbox_id", "task_id",)
)

WRITE_FILE: Operation[types.WriteVpsFileResult] = Operation(
    "write_file", "PUT", "/api/v1/eqvps/sandboxes/{sandbox_id}/files", types.WriteVpsFileResult, is_repeatable=True, in_path=("sandbox_id",), in_query=("path",)
)

READ_FILE: Operation[types.FileRead] = Operation(
    "read_file", "GET", "/api/v1/eqvps/sandboxes/{sandbox_id}/files", types.FileRead, is_repeatable=True, in_path=("sandbox_id",)
)

LIST_FILES: Operation[types.File] = Operation(
    "list_files", "GET", "/api/v1/eqvps/sandboxes/{sandbox_id}/files/list", types.File, is_repeatable=True, in_path=("sandbox_id",)
)

MAKE_FOLDER: Operation[types.MakeFolderResult] = Operation(
    "make_folder", "PUT", "/api/v1/eqvps/sandboxes/{sandbox_id}/folders", types.MakeFolderResult, is_repeatable=True, in_path=("sandbox_id",), in_query=("path",)
)

MOVE_FILE: Operation[types.MoveFileResult] = Operation(
    "move_file", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/files/move", types.MoveFileResult, in_path=("sandbox_id",)
)

WATCH_FOLDER: Operation[types.WatchFolderResult] = Operation(
    "watch_folder", "GET", "/api/v1/eqvps/sandboxes/{sandbox_id}/folders/changes", types.WatchFolderResult, is_repeatable=True, in_path=("sandbox_id",)
)

DELETE_FILE: Operation[types.DeleteFileResult] = Operation(
    "delete_file", "DELETE", "/api/v1/eqvps/sandboxes/{sandbox_id}/files", types.DeleteFileResult, is_repeatable=True, in_path=("sandbox_id",), in_query=("path",)
)

GET_UPLOAD_URL: Operation[types.GetUploadUrlResult] = Operation(
    "get_upload_url", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/upload-url", types.GetUploadUrlResult, is_repeatable=True, in_path=("sandbox_id",)
)

GET_DOWNLOAD_URL: Operation[types.GetUploadUrlResult] = Operation(
    "get_download_url", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/download-url", types.GetUploadUrlResult, is_repeatable=True, in_path=("sandbox_id",)
)

EXPOSE_PORT: Operation[types.ExposedPort] = Operation(
    "expose_port", "POST", "/api/v1/eqvps/sandboxes/{sandbox_id}/ports/{port}", types.ExposedPort, is_repeatable=True, in_path=("sandbox_id", "port",)
)

EXPOSE_ALL_PORTS: Operation[types.ExposeAllPortsResult] = Operation(
    "expose_all_ports", "PUT", "/api/v1/eqvps/sandboxes/{sandbox_id}/ports", types.ExposeAllPortsResult, is_repeatable=True, in_path=("sandbox_id",)
)

LIST_EXPOSED_PORTS: Operation[types.ExposedPort] = Operation(
    "list_exposed_ports", "GET", "/api/v1/eqvps/sandboxes/{sandbox_id}/ports", types.ExposedPort, is_repeatable=True, in_path=("sandbox_id",)
)

UNEXPOSE_PORT: Operation[types.UnexposePortResult] = Operation(
    "unexpose_port", "DELETE", "/api/v1/eqvps/sandboxes/{sandbox_id}/ports/{port}", types.UnexposePortResult, is_repeatable=True, in_path=("sandbox_id", "port",)
)

CREATE_SANDBOX_TEMPLATE: Operation[types.CreateSandboxTemplateResult] = Operation(
    "create_sandbox_template", "POST", "/api/v1/eqvps/sandbox-templates", types.CreateSandboxTemplateResult
)

LIST_SANDBOX_TEMPLATES: Operation[types.SandboxTemplate] = Operation(
    "list_sandbox_templates", "GET", "/api/v1/eqvps/sandbox-templates", types.SandboxTemplate, is_repeatable=True
)

GET_SANDBOX_TEMPLATE: Operation[types.SandboxTemplate] = Operation(
    "get_sandbox_template", "GET", "/api/v1/eqvps/sandbox-templates/{template_id}", types.SandboxTemplate, is_repeatable=True, in_path=("template_id",)
)

GET_SANDBOX_TEMPLATE_LOG: Operation[types.GetSandboxTemplateLogResult] = Operation(
    "get_sandbox_template_log", "GET", "/api/v1/eqvps/sandbox-templates/{template_id}/log", types.GetSandboxTemplateLogResult, is_repeatable=True, in_path=("template_id",)
)

BUILD_SANDBOX_TEMPLATE: Operation[types.CreateSandboxTemplateResult] = Operation(
    "build_sandbox_template", "POST", "/api/v1/eqvps/sandbox-templates/{template_id}/build", types.CreateSandboxTemplateResult, in_path=("template_id",)
)

GET_SANDBOX_TEMPLATE_UPLOAD_URL: Operation[types.GetSandboxTemplateUploadUrlResult] = Operation(
    "get_sandbox_template_upload_url", "POST", "/api/v1/eqvps/sandbox-templates/{template_id}/upload-url", types.GetSandboxTemplateUploadUrlResult, is_repeatable=True, in_path=("template_id",)
)

DELETE_SANDBOX_TEMPLATE: Operation[types.DeleteSandboxTemplateResult] = Operation(
    "delete_sandbox_template", "DELETE", "/api/v1/eqvps/sandbox-templates/{template_id}", types.DeleteSandboxTemplateResult, is_repeatable=True, in_path=("template_id",)
)

LIST_EVENTS: Operation[types.Event] = Operation(
    "list_events", "GET", "/api/v1/eqvps/events", types.Event, is_repeatable=True
)

CREATE_WEBHOOK: Operation[types.CreateWebhookResult] = Operation(
    "create_webhook", "POST", "/api/v1/eqvps/webhooks", types.CreateWebhookResult
)

LIST_WEBHOOKS: Operation[types.Webhook] = Operation(
    "list_webhooks", "GET", "/api/v1/eqvps/webhooks", types.Webhook, is_repeatable=True
)

DELETE_WEBHOOK: Operation[types.DeleteWebhookResult] = Operation(
    "delete_webhook", "DELETE", "/api/v1/eqvps/webhooks/{webhook_id}", types.DeleteWebhookResult, is_repeatable=True, in_path=("webhook_id",)
)

TEST_WEBHOOK: Operation[types.TestWebhookResult] = Operation(
    "test_webhook", "POST", "/api/v1/eqvps/webhooks/{webhook_id}/test", types.TestWebhookResult, in_path=("webhook_id",)
)

LIST_WEBHOOK_DELIVERIES: Operation[types.Delivery] = Operation(
    "list_webhook_deliveries", "GET", "/api/v1/eqvps/webhooks/{webhook_id}/deliveries", types.Delivery, is_repeatable=True, in_path=("webhook_id",)
)

REPLAY_WEBHOOK: Operation[types.ReplayWebhookResult] = Operation(
    "replay_webhook", "POST", "/api/v1/eqvps/webhooks/{webhook_id}/replay", types.ReplayWebhookResult, is_repeatable=True, in_path=("webhook_id",)
)

CREATE_TICKET: Operation[types.TicketDetail] = Operation(
    "create_ticket", "POST", "/api/v1/eqvps/tickets", types.TicketDetail
)

LIST_TICKETS: Operation[types.Ticket] = Operation(
    "list_tickets", "GET", "/api/v1/eqvps/tickets", types.Ticket, is_repeatable=True
)

GET_TICKET: Operation[types.TicketDetail] = Operation(
    "get_ticket", "GET", "/api/v1/eqvps/tickets/{ticket_id}", types.TicketDetail, is_repeatable=True, in_path=("ticket_id",)
)

REPLY_TICKET: Operation[types.TicketDetail] = Operation(
    "reply_ticket", "POST", "/api/v1/eqvps/tickets/{ticket_id}/replies", types.TicketDetail, in_path=("ticket_id",)
)

CLOSE_TICKET: Operation[types.TicketDetail] = Operation(
    "close_ticket", "POST", "/api/v1/eqvps/tickets/{ticket_id}/close", types.TicketDetail, is_repeatable=True, in_path=("ticket_id",)
)

DELEGATE_SERVICE: Operation[types.DelegateServiceResult] = Operation(
    "delegate_service", "POST", "/api/v1/eqvps/services/{service_id}/delegations", types.DelegateServiceResult, in_path=("service_id",)
)

ACCEPT_DELEGATION: Operation[types.AcceptDelegationResult] = Operation(
    "accept_delegation", "POST", "/api/v1/eqvps/delegations/accept", types.AcceptDelegationResult
)

LIST_DELEGATIONS: Operation[types.Delegation] = Operation(
    "list_delegations", "GET", "/api/v1/eqvps/delegations", types.Delegation, is_repeatable=True
)

LIST_DELEGATED_TO_ME: Operation[types.DelegatedVps] = Operation(
    "list_delegated_to_me", "GET", "/api/v1/eqvps/delegations/received", types.DelegatedVps, is_repeatable=True
)

REVOKE_DELEGATION: Operation[types.RevokeDelegationResult] = Operation(
    "revoke_delegation", "DELETE", "/api/v1/eqvps/delegations/{delegation_id}", types.RevokeDelegationResult, is_repeatable=True, in_path=("delegation_id",)
)
