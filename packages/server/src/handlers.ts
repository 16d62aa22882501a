import { confirmToken } from './account/confirm-token.ts'
import { createToken } from './account/create-token.ts'
import { listTokens } from './account/list-tokens.ts'
import { login } from './account/login.ts'
import { logout } from './account/logout.ts'
import { refreshToken } from './account/refresh-token.ts'
import { registerAccount } from './account/register-account.ts'
import { requestLoginCode } from './account/request-login-code.ts'
import { requestWalletChallenge } from './account/request-wallet-challenge.ts'
import { revokeToken } from './account/revoke-token.ts'
import { setEmail } from './account/set-email.ts'
import { setPassword } from './account/set-password.ts'
import { updateAccount } from './account/update-account.ts'
import { updateToken } from './account/update-token.ts'
import { verifyLoginCode } from './account/verify-login-code.ts'
import { verifyWalletLogin } from './account/verify-wallet-login.ts'
import { whoami } from './account/whoami.ts'
import { getBalance } from './balance/get-balance.ts'
import { getStatement } from './balance/get-statement.ts'
import { listTransactions } from './balance/list-transactions.ts'
import { listPlans } from './catalog/list-plans.ts'
import { listReviews } from './catalog/list-reviews.ts'
import { submitReview } from './catalog/submit-review.ts'
import { acceptDelegation } from './delegations/accept-delegation.ts'
import { delegateService } from './delegations/delegate-service.ts'
import { listDelegatedToMe } from './delegations/list-delegated-to-me.ts'
import { listDelegations } from './delegations/list-delegations.ts'
import { revokeDelegation } from './delegations/revoke-delegation.ts'
import { listEvents } from './events/list-events.ts'
import { createWebhook } from './events/webhooks/create-webhook.ts'
import { deleteWebhook } from './events/webhooks/delete-webhook.ts'
import { listWebhookDeliveries } from './events/webhooks/list-webhook-deliveries.ts'
import { listWebhooks } from './events/webhooks/list-webhooks.ts'
import { replayWebhook } from './events/webhooks/replay-webhook.ts'
import { testWebhook } from './events/webhooks/test-webhook.ts'
import { getStarted } from './guide/get-started.ts'
import type { Handlers, PaidHandlers } from './handler.ts'
import { cancelInvoice } from './payments/cancel-invoice.ts'
import { getInvoice } from './payments/get-invoice.ts'
import { getReceipt } from './payments/get-receipt.ts'
import { listInvoices } from './payments/list-invoices.ts'
import { payInvoice } from './payments/pay-invoice.ts'
import { buySandbox } from './payments/purchase/buy-sandbox.ts'
import { buyVps } from './payments/purchase/buy-vps.ts'
import { orderAndPay } from './payments/purchase/order-and-pay.ts'
import { renewAndPay } from './payments/purchase/renew-and-pay.ts'
import { cancelRefund } from './payments/refunds/cancel-refund.ts'
import { getRefund } from './payments/refunds/get-refund.ts'
import { getRefundTerms } from './payments/refunds/get-refund-terms.ts'
import { listRefunds } from './payments/refunds/list-refunds.ts'
import { requestRefund } from './payments/refunds/request-refund.ts'
import { topupBalance } from './payments/topup-balance.ts'
import { topupByX402 } from './payments/x402/topup-by-x402.ts'
import { createSandbox } from './sandboxes/create-sandbox.ts'
import { createSandboxSnapshot } from './sandboxes/create-sandbox-snapshot.ts'
import { deleteFile } from './sandboxes/delete-file.ts'
import { deleteSandboxSnapshot } from './sandboxes/delete-sandbox-snapshot.ts'
import { execCommand } from './sandboxes/exec-command.ts'
import { exposePort } from './sandboxes/expose-port.ts'
import { forkSandbox } from './sandboxes/fork-sandbox.ts'
import { getDownloadUrl } from './sandboxes/get-download-url.ts'
import { getSandbox } from './sandboxes/get-sandbox.ts'
import { getSandboxMetrics } from './sandboxes/get-sandbox-metrics.ts'
import { getTask } from './sandboxes/get-task.ts'
import { getUploadUrl } from './sandboxes/get-upload-url.ts'
import { killSandbox } from './sandboxes/kill-sandbox.ts'
import { killTask } from './sandboxes/kill-task.ts'
import { listExposedPorts } from './sandboxes/list-exposed-ports.ts'
import { listFiles } from './sandboxes/list-files.ts'
import { listSandboxSnapshots } from './sandboxes/list-sandbox-snapshots.ts'
import { listSandboxes } from './sandboxes/list-sandboxes.ts'
import { listTasks } from './sandboxes/list-tasks.ts'
import { pauseSandbox } from './sandboxes/pause-sandbox.ts'
import { readFile } from './sandboxes/read-file.ts'
import { resumeSandbox } from './sandboxes/resume-sandbox.ts'
import { runCode } from './sandboxes/run-code.ts'
import { sendInput } from './sandboxes/send-input.ts'
import { setSandboxNetwork } from './sandboxes/set-sandbox-network.ts'
import { setSandboxTimeout } from './sandboxes/set-sandbox-timeout.ts'
import { unexposePort } from './sandboxes/unexpose-port.ts'
import { writeFile } from './sandboxes/write-file.ts'
import { closeTicket } from './support/close-ticket.ts'
import { createTicket } from './support/create-ticket.ts'
import { getTicket } from './support/get-ticket.ts'
import { listTickets } from './support/list-tickets.ts'
import { replyTicket } from './support/reply-ticket.ts'
import { cancelService } from './vps/cancel-service.ts'
import { changePlan } from './vps/change-plan.ts'
import { closePort } from './vps/close-port.ts'
import { createSnapshot } from './vps/create-snapshot.ts'
import { deleteSnapshot } from './vps/delete-snapshot.ts'
import { getFirewall } from './vps/get-firewall.ts'
import { getOperation } from './vps/get-operation.ts'
import { getOrder } from './vps/get-order.ts'
import { getUpgradeOptions } from './vps/get-upgrade-options.ts'
import { getVpsMetrics } from './vps/get-vps-metrics.ts'
import { getVpsStatus } from './vps/get-vps-status.ts'
import { listOrders } from './vps/list-orders.ts'
import { listPorts } from './vps/list-ports.ts'
import { listSnapshots } from './vps/list-snapshots.ts'
import { listVps } from './vps/list-vps.ts'
import { openConsole } from './vps/open-console.ts'
import { openPort } from './vps/open-port.ts'
import { orderVps } from './vps/order-vps.ts'
import { powerVps } from './vps/power-vps.ts'
import { readVpsFile } from './vps/read-vps-file.ts'
import { reinstallVps } from './vps/reinstall-vps.ts'
import { renewService } from './vps/renew-service.ts'
import { rescueVps } from './vps/rescue-vps.ts'
import { resetPassword } from './vps/reset-password.ts'
import { restoreSnapshot } from './vps/restore-snapshot.ts'
import { runOnVps } from './vps/run-on-vps.ts'
import { setAutoRenew } from './vps/set-auto-renew.ts'
import { setFirewall } from './vps/set-firewall.ts'
import { setHostname } from './vps/set-hostname.ts'
import { setRdns } from './vps/set-rdns.ts'
import { addSshKey } from './vps/ssh-keys/add-ssh-key.ts'
import { deleteSshKey } from './vps/ssh-keys/delete-ssh-key.ts'
import { listSshKeys } from './vps/ssh-keys/list-ssh-keys.ts'
import { writeVpsFile } from './vps/write-vps-file.ts'

/** Who answers what: one handler for each operation of the contract. */
export const handlers: Handlers = {
  getStarted,
  registerAccount,
  login,
  requestLoginCode,
  verifyLoginCode,
  requestWalletChallenge,
  verifyWalletLogin,
  setEmail,
  setPassword,
  whoami,
  updateAccount,
  listTokens,
  createToken,
  updateToken,
  confirmToken,
  revokeToken,
  refreshToken,
  logout,
  listSshKeys,
  addSshKey,
  deleteSshKey,
  listPlans,
  listReviews,
  submitReview,
  getBalance,
  getStatement,
  listTransactions,
  topupBalance,
  listInvoices,
  getInvoice,
  getReceipt,
  payInvoice,
  getRefundTerms,
  requestRefund,
  listRefunds,
  getRefund,
  cancelRefund,
  cancelInvoice,
  orderVps,
  listOrders,
  getOrder,
  listVps,
  getVpsStatus,
  powerVps,
  cancelService,
  renewService,
  setAutoRenew,
  getFirewall,
  setFirewall,
  listPorts,
  openPort,
  closePort,
  setRdns,
  setHostname,
  resetPassword,
  reinstallVps,
  rescueVps,
  getUpgradeOptions,
  changePlan,
  runOnVps,
  readVpsFile,
  writeVpsFile,
  getOperation,
  getVpsMetrics,
  openConsole,
  createSnapshot,
  listSnapshots,
  restoreSnapshot,
  deleteSnapshot,
  createSandbox,
  listSandboxes,
  getSandbox,
  killSandbox,
  setSandboxTimeout,
  setSandboxNetwork,
  pauseSandbox,
  resumeSandbox,
  forkSandbox,
  getSandboxMetrics,
  createSandboxSnapshot,
  listSandboxSnapshots,
  deleteSandboxSnapshot,
  runCode,
  execCommand,
  listTasks,
  getTask,
  killTask,
  sendInput,
  writeFile,
  readFile,
  listFiles,
  deleteFile,
  getUploadUrl,
  getDownloadUrl,
  exposePort,
  listExposedPorts,
  unexposePort,
  listEvents,
  createWebhook,
  listWebhooks,
  deleteWebhook,
  testWebhook,
  listWebhookDeliveries,
  replayWebhook,
  createTicket,
  listTickets,
  getTicket,
  replyTicket,
  closeTicket,
  delegateService,
  acceptDelegation,
  listDelegations,
  listDelegatedToMe,
  revokeDelegation,
}

/** Who answers what is paid in the same request. */
export const paidHandlers: PaidHandlers = {
  topupBalance: topupByX402,
  orderVps: orderAndPay,
  renewService: renewAndPay,
  buyVps,
  buySandbox,
}
