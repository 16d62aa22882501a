import { confirmToken } from '../account/confirm-token.ts'
import { createToken } from '../account/create-token.ts'
import { listTokens } from '../account/list-tokens.ts'
import { login } from '../account/login.ts'
import { logout } from '../account/logout.ts'
import { refreshToken } from '../account/refresh-token.ts'
import { registerAccount } from '../account/register-account.ts'
import { requestLoginCode } from '../account/request-login-code.ts'
import { requestWalletChallenge } from '../account/request-wallet-challenge.ts'
import { revokeToken } from '../account/revoke-token.ts'
import { setEmail } from '../account/set-email.ts'
import { setPassword } from '../account/set-password.ts'
import { addSshKey } from '../account/ssh-keys/add-ssh-key.ts'
import { deleteSshKey } from '../account/ssh-keys/delete-ssh-key.ts'
import { listSshKeys } from '../account/ssh-keys/list-ssh-keys.ts'
import { updateAccount } from '../account/update-account.ts'
import { updateToken } from '../account/update-token.ts'
import { verifyLoginCode } from '../account/verify-login-code.ts'
import { verifyWalletLogin } from '../account/verify-wallet-login.ts'
import { whoami } from '../account/whoami.ts'
import { getApproval } from '../approvals/get-approval.ts'
import { listApprovals } from '../approvals/list-approvals.ts'
import { getBalance } from '../balance/get-balance.ts'
import { getStatement } from '../balance/get-statement.ts'
import { listTransactions } from '../balance/list-transactions.ts'
import { listPlans } from '../catalog/list-plans.ts'
import { listReviews } from '../catalog/list-reviews.ts'
import { submitReview } from '../catalog/submit-review.ts'
import { acceptDelegation } from '../delegations/accept-delegation.ts'
import { delegateService } from '../delegations/delegate-service.ts'
import { listDelegatedToMe } from '../delegations/list-delegated-to-me.ts'
import { listDelegations } from '../delegations/list-delegations.ts'
import { revokeDelegation } from '../delegations/revoke-delegation.ts'
import type { Handlers, PaidHandlers } from '../dispatch/handler.ts'
import { listEvents } from '../events/list-events.ts'
import { createWebhook } from '../events/webhooks/create-webhook.ts'
import { deleteWebhook } from '../events/webhooks/delete-webhook.ts'
import { listWebhookDeliveries } from '../events/webhooks/list-webhook-deliveries.ts'
import { listWebhooks } from '../events/webhooks/list-webhooks.ts'
import { replayWebhook } from '../events/webhooks/replay-webhook.ts'
import { testWebhook } from '../events/webhooks/test-webhook.ts'
import { callOperation } from '../guide/call-operation.ts'
import { findOperations } from '../guide/find-operations.ts'
import { getStarted } from '../guide/get-started.ts'
import { cancelInvoice } from '../payments/cancel-invoice.ts'
import { getInvoice } from '../payments/get-invoice.ts'
import { getReceipt } from '../payments/get-receipt.ts'
import { listInvoices } from '../payments/list-invoices.ts'
import { payInvoice } from '../payments/pay-invoice.ts'
import { buySandbox } from '../payments/purchase/buy-sandbox.ts'
import { buyVps } from '../payments/purchase/buy-vps.ts'
import { orderAndPay } from '../payments/purchase/order-and-pay.ts'
import { renewAndPay } from '../payments/purchase/renew-and-pay.ts'
import { cancelRefund } from '../payments/refunds/cancel-refund.ts'
import { getRefund } from '../payments/refunds/get-refund.ts'
import { getRefundTerms } from '../payments/refunds/get-refund-terms.ts'
import { listRefunds } from '../payments/refunds/list-refunds.ts'
import { requestRefund } from '../payments/refunds/request-refund.ts'
import { topupBalance } from '../payments/topup-balance.ts'
import { topupByX402 } from '../payments/x402/topup-by-x402.ts'
import { deleteFile } from '../sandboxes/files/delete-file.ts'
import { getDownloadUrl } from '../sandboxes/files/get-download-url.ts'
import { getUploadUrl } from '../sandboxes/files/get-upload-url.ts'
import { listFiles } from '../sandboxes/files/list-files.ts'
import { makeFolder } from '../sandboxes/files/make-folder.ts'
import { moveFile } from '../sandboxes/files/move-file.ts'
import { readFile } from '../sandboxes/files/read-file.ts'
import { watchFolder } from '../sandboxes/files/watch-folder.ts'
import { writeFile } from '../sandboxes/files/write-file.ts'
import { createSandbox } from '../sandboxes/life/create-sandbox.ts'
import { forkSandbox } from '../sandboxes/life/fork-sandbox.ts'
import { getSandbox } from '../sandboxes/life/get-sandbox.ts'
import { killSandbox } from '../sandboxes/life/kill-sandbox.ts'
import { listSandboxes } from '../sandboxes/life/list-sandboxes.ts'
import { pauseSandbox } from '../sandboxes/life/pause-sandbox.ts'
import { resumeSandbox } from '../sandboxes/life/resume-sandbox.ts'
import { setSandboxNetwork } from '../sandboxes/life/set-sandbox-network.ts'
import { setSandboxTimeout } from '../sandboxes/life/set-sandbox-timeout.ts'
import { getSandboxMetrics } from '../sandboxes/meter/get-sandbox-metrics.ts'
import { exposeAllPorts } from '../sandboxes/ports/expose-all-ports.ts'
import { exposePort } from '../sandboxes/ports/expose-port.ts'
import { listExposedPorts } from '../sandboxes/ports/list-exposed-ports.ts'
import { unexposePort } from '../sandboxes/ports/unexpose-port.ts'
import { runProgram } from '../sandboxes/programs/run-program.ts'
import { createSandboxSnapshot } from '../sandboxes/snapshots/create-sandbox-snapshot.ts'
import { deleteSandboxSnapshot } from '../sandboxes/snapshots/delete-sandbox-snapshot.ts'
import { listSandboxSnapshots } from '../sandboxes/snapshots/list-sandbox-snapshots.ts'
import { createContext } from '../sandboxes/tasks/create-context.ts'
import { deleteContext } from '../sandboxes/tasks/delete-context.ts'
import { execCommand } from '../sandboxes/tasks/exec-command.ts'
import { getTask } from '../sandboxes/tasks/get-task.ts'
import { killTask } from '../sandboxes/tasks/kill-task.ts'
import { listContexts } from '../sandboxes/tasks/list-contexts.ts'
import { listTasks } from '../sandboxes/tasks/list-tasks.ts'
import { restartContext } from '../sandboxes/tasks/restart-context.ts'
import { runCode } from '../sandboxes/tasks/run-code.ts'
import { sendInput } from '../sandboxes/tasks/send-input.ts'
import { buildSandboxTemplate } from '../sandboxes/templates/build-sandbox-template.ts'
import { createSandboxTemplate } from '../sandboxes/templates/create-sandbox-template.ts'
import { deleteSandboxTemplate } from '../sandboxes/templates/delete-sandbox-template.ts'
import { getSandboxTemplate } from '../sandboxes/templates/get-sandbox-template.ts'
import { getSandboxTemplateLog } from '../sandboxes/templates/get-sandbox-template-log.ts'
import { getSandboxTemplateUploadUrl } from '../sandboxes/templates/get-sandbox-template-upload-url.ts'
import { listSandboxTemplates } from '../sandboxes/templates/list-sandbox-templates.ts'
import { closeTicket } from '../support/close-ticket.ts'
import { createTicket } from '../support/create-ticket.ts'
import { getTicket } from '../support/get-ticket.ts'
import { listTickets } from '../support/list-tickets.ts'
import { replyTicket } from '../support/reply-ticket.ts'
import { renewService } from '../vps/billing/renew-service.ts'
import { setAutoRenew } from '../vps/billing/set-auto-renew.ts'
import { openConsole } from '../vps/console/open-console.ts'
import { cancelService } from '../vps/control/cancel-service.ts'
import { changePlan } from '../vps/control/change-plan.ts'
import { getUpgradeOptions } from '../vps/control/get-upgrade-options.ts'
import { powerVps } from '../vps/control/power-vps.ts'
import { reinstallVps } from '../vps/control/reinstall-vps.ts'
import { rescueVps } from '../vps/control/rescue-vps.ts'
import { resetPassword } from '../vps/control/reset-password.ts'
import { setHostname } from '../vps/control/set-hostname.ts'
import { readVpsFile } from '../vps/guest/read-vps-file.ts'
import { runOnVps } from '../vps/guest/run-on-vps.ts'
import { writeVpsFile } from '../vps/guest/write-vps-file.ts'
import { getOperation } from '../vps/machine/get-operation.ts'
import { getVpsStatus } from '../vps/machine/get-vps-status.ts'
import { listVps } from '../vps/machine/list-vps.ts'
import { getVpsMetrics } from '../vps/meter/get-vps-metrics.ts'
import { closePort } from '../vps/network/close-port.ts'
import { getFirewall } from '../vps/network/get-firewall.ts'
import { listPorts } from '../vps/network/list-ports.ts'
import { openPort } from '../vps/network/open-port.ts'
import { setFirewall } from '../vps/network/set-firewall.ts'
import { setRdns } from '../vps/network/set-rdns.ts'
import { getOrder } from '../vps/orders/get-order.ts'
import { listOrders } from '../vps/orders/list-orders.ts'
import { orderVps } from '../vps/orders/order-vps.ts'
import { createSnapshot } from '../vps/snapshot/create-snapshot.ts'
import { deleteSnapshot } from '../vps/snapshot/delete-snapshot.ts'
import { listSnapshots } from '../vps/snapshot/list-snapshots.ts'
import { restoreSnapshot } from '../vps/snapshot/restore-snapshot.ts'

/** One handler for each operation of the contract. */
export const handlers: Handlers = {
  getStarted,
  findOperations,
  callOperation,
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
  listApprovals,
  getApproval,
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
  runProgram,
  runCode,
  execCommand,
  createContext,
  listContexts,
  restartContext,
  deleteContext,
  listTasks,
  getTask,
  killTask,
  sendInput,
  writeFile,
  readFile,
  listFiles,
  makeFolder,
  moveFile,
  watchFolder,
  deleteFile,
  getUploadUrl,
  getDownloadUrl,
  exposePort,
  exposeAllPorts,
  listExposedPorts,
  unexposePort,
  createSandboxTemplate,
  listSandboxTemplates,
  getSandboxTemplate,
  getSandboxTemplateLog,
  buildSandboxTemplate,
  getSandboxTemplateUploadUrl,
  deleteSandboxTemplate,
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

/** The handlers of operations that are paid in the same request. */
export const paidHandlers: PaidHandlers = {
  topupBalance: topupByX402,
  orderVps: orderAndPay,
  renewService: renewAndPay,
  buyVps,
  buySandbox,
}
