import { exampleEmail } from './examples.ts'
import type { NextStep } from './wire.ts'

/*
 * The ways through the service, each from its beginning to its end: `get_started` shows them, and so do the documents for
 * agents. Their arguments are examples of the form.
 */

/** From nothing to a shell on a VPS. */
export const vpsFlow: readonly NextStep[] = [
  {
    tool: 'register_account',
    why: 'Get a token; pass it as access_token of every later tool, or as the Authorization header',
    arguments: { email: exampleEmail },
  },
  { tool: 'list_plans', why: 'Choose a plan (slug) and an OS image (os_id)' },
  {
    tool: 'topup_balance',
    why: 'Get an address and the exact amount for each network and token',
    arguments: { amount: 10 },
  },
  {
    tool: 'get_invoice',
    why: 'After the tokens were sent, wait until the payment is confirmed; repeat while it is not paid',
    arguments: { invoice_id: 'inv_...', wait: 'paid', timeout: 50 },
  },
  {
    tool: 'order_vps',
    why: 'Order; the price is held, and charged when SSH answers',
    arguments: { product: 'nano', os_id: 1, ssh_key: 'ssh-ed25519 AAAA...' },
  },
  {
    tool: 'get_vps_status',
    why: 'Wait for ssh_ready; the answer has the ssh command, the host key and, once, the root password',
    arguments: { service_id: 'vps_...', wait: 'ssh_ready', timeout: 50 },
  },
]

/** From a balance to code that has run. */
export const sandboxFlow: readonly NextStep[] = [
  {
    tool: 'create_sandbox',
    why: 'It runs when this answers, and is paid by the second; template base has Python, Node.js and shell, code-interpreter also numpy, pandas and matplotlib',
    arguments: { template: 'code-interpreter' },
  },
  {
    tool: 'run_code',
    why: 'Run Python, Node.js or Bash; a context keeps variables for the next run',
    arguments: { sandbox_id: 'sbx...', language: 'python', code: '6 * 7', context: 'python' },
  },
  {
    tool: 'exec_command',
    why: 'Run a command; write_file, read_file and expose_port do the rest',
    arguments: { sandbox_id: 'sbx...', command: 'uname -a' },
  },
  {
    tool: 'kill_sandbox',
    why: 'End it, and with it what it costs; it ends by itself after its timeout',
    arguments: { sandbox_id: 'sbx...' },
  },
]
