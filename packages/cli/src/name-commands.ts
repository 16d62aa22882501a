/** The commands for tools that the service names in what it says. Any other is reached by `coinrack call`. */
const COMMANDS: Record<string, string> = {
  register_account: 'coinrack login',
  login: 'coinrack login',
  request_login_code: 'coinrack login',
  verify_login_code: 'coinrack login',
  topup_balance: 'coinrack topup',
  get_balance: 'coinrack balance',
  list_plans: 'coinrack plans',
  order_vps: 'coinrack order',
  list_vps: 'coinrack list',
  get_vps_status: 'coinrack show',
  power_vps: 'coinrack start, stop or reboot',
  run_on_vps: 'coinrack exec',
  open_console: 'coinrack console',
  cancel_service: 'coinrack cancel',
  renew_service: 'coinrack renew',
  get_invoice: 'coinrack pay',
  list_invoices: 'coinrack invoice list',
  cancel_invoice: 'coinrack invoice cancel',
  list_tokens: 'coinrack token list',
  create_token: 'coinrack token create',
  update_token: 'coinrack token budget',
  revoke_token: 'coinrack token revoke',
  list_ssh_keys: 'coinrack key list',
  add_ssh_key: 'coinrack key add',
  delete_ssh_key: 'coinrack key delete',
  create_sandbox: 'coinrack sandbox create',
  list_sandboxes: 'coinrack sandbox list',
  resume_sandbox: 'coinrack sandbox resume',
  kill_sandbox: 'coinrack sandbox kill',
}

/** What the service says, with commands in the place of tools. */
export const commandFor = (text: string): string =>
  text.replace(/\b(?:login\b(?= or| gives)|[a-z]+(?:_[a-z]+)+)\b/g, (tool) => {
    if (tool in COMMANDS) return `"${COMMANDS[tool]}"`
    return TOOL.test(tool) ? `"coinrack call ${tool}"` : tool
  })

/** A tool begins with a verb; other words with an underscore are names of fields. */
const TOOL =
  /^(list|get|create|set|add|delete|update|revoke|confirm|cancel|close|open|resume|pause|kill|unexpose|expose|find|restore|request|verify)_/
