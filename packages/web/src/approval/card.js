/*
 * An approval as a card in a chat (MCP Apps, SEP-1865, revision 2026-01-26): what it is for, how long the balance lasts, and
 * the risk. It reads get_approval through its host and can decide nothing: its button asks the host to open the page where
 * the owner of the account does.
 */

const WAIT_S = 50
const body = document.querySelector('main')
const said = document.querySelector('.said')
const waiting = new Map()
let asked = 0
/** The arguments of the call that the card is for. */
let input
let host = {}
let isWatching = false

addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return
  if (data.method === undefined) return settle(data)
  if (data.id !== undefined) return send({ id: data.id, result: {} })
  if (data.method === 'ui/notifications/tool-input') start(data.params.arguments ?? {})
  if (data.method === 'ui/notifications/tool-result') show(data.params)
})

const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')

const ask = (method, params) =>
  new Promise((resolve, reject) => {
    waiting.set(++asked, { resolve, reject })
    send({ id: asked, method, params })
  })

function settle({ id, result, error }) {
  const asker = waiting.get(id)
  waiting.delete(id)
  if (error) asker?.reject(new Error(error.message))
  else asker?.resolve(result)
}

/** Shows the approval before the call is answered, which may wait for the decision. */
async function start(given) {
  input = given
  const { wait: _wait, timeout: _timeout, ...now } = given
  if (host.serverTools) await read(now).catch(complain)
}

const read = async (given) => show(await ask('tools/call', { name: 'get_approval', arguments: given }))

/** Watches until it is decided. */
async function watch() {
  if (isWatching || !host.serverTools || !input) return
  isWatching = true
  try {
    const { timeout: _timeout, ...given } = input
    await read({ ...given, wait: 'decided', timeout: WAIT_S })
  } catch (error) {
    complain(error)
    return
  } finally {
    isWatching = false
  }
  if (body.dataset.status === 'pending') watch()
}

function show(answer) {
  const approval = answer.structuredContent ?? JSON.parse(answer.content?.[0]?.text ?? '{}')
  if (answer.isError || approval.status === undefined) return complain(new Error(approval.message))
  body.dataset.status = approval.status
  body.replaceChildren(...(approval.status === 'pending' ? pending(approval) : over(approval)))
  said.textContent = ''
  const { height } = document.documentElement.getBoundingClientRect()
  send({ method: 'ui/notifications/size-changed', params: { height: Math.ceil(height) } })
  if (approval.status === 'pending') watch()
}

const complain = ({ message }) => {
  said.textContent = message ?? 'The approval could not be read.'
}

const HEADINGS = {
  approved: 'Approved: the call can be made now',
  denied: 'Denied: nothing is charged',
  spent: 'Approved, and charged',
  expired: 'This is over',
}

const over = ({ status, subject, price }) => [
  element('h1', HEADINGS[status] ?? status),
  facts([
    ['For', subject],
    ['At most', `${price} USD`],
  ]),
]

function pending({ subject, price, afterwards, now, after, risk, approval_url, expires_at }) {
  const button = element('button', 'Open the page to approve or deny')
  button.type = 'button'
  button.addEventListener('click', () => open(approval_url))
  return [
    element('h1', `Approve ${price} USD?`),
    facts([
      ['For', subject],
      ['At most', `${price} USD, once`],
      ['Then', afterwards ? `${afterwards.price} USD more each ${afterwards.per}` : 'nothing more'],
      ['Balance', `${now.balance} USD, after it ${after.balance} USD`],
      ['It lasts', `${lasting(now.runs_out_at)}; after it ${lasting(after.runs_out_at)}`],
      ['Until', minute(expires_at)],
    ]),
    element('ul', ...risk.map((sentence) => element('li', sentence))),
    button,
  ]
}

async function open(url) {
  const { isError } = host.openLinks
    ? await ask('ui/open-link', { url }).catch(() => ({ isError: true }))
    : { isError: true }
  said.textContent = isError
    ? `Please open this page: ${url}`
    : 'The page is open: prove there that the account is yours.'
}

const facts = (rows) =>
  element('dl', ...rows.flatMap(([name, value]) => [element('dt', name), element('dd', value)]))
const lasting = (until) => (until ? `until ${minute(until)}` : 'with no end in sight')
const minute = (at) => `${at.slice(0, 16).replace('T', ' ')} UTC`

function element(name, ...children) {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

ask('ui/initialize', {
  protocolVersion: '2026-01-26',
  appInfo: { name: 'coinrack-approval', version: '1.0.0' },
  appCapabilities: {},
})
  .then(({ hostCapabilities }) => {
    host = hostCapabilities ?? {}
    send({ method: 'ui/notifications/initialized', params: {} })
  })
  .catch(complain)
