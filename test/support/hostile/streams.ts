import type { Duplex } from 'node:stream'
import { setTimeout as pass } from 'node:timers/promises'
import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput, toolName } from '@coinrack/contract/operation.ts'
import type { Draw, Facts } from './facts.ts'

/*
 * What comes out of a sandbox whose program does not use the client, but speaks over the connection as it likes. Each
 * attack follows from the numbers that are drawn, so a seed plays it again.
 */

export type Attack = (line: Line, draw: Draw, facts: Facts) => Promise<void>

/** The connection from inside the sandbox. */
export interface Line {
  /** Sends a call. */
  call(name: string, input?: unknown, more?: object): void
  /** Sends bytes as they are. */
  raw(bytes: string | Uint8Array): Promise<void>
  /** Waits until so many answers have come (default: one for each call), or the connection is cut, or a moment is over. */
  answers(count?: number): Promise<string[]>
  /** Reads nothing from now on. */
  stopReading(): void
  end(): void
  cut(): void
}

export function lineOn(guest: Duplex): Line {
  const heard: string[] = []
  let text = ''
  let id = 0
  guest.on('error', () => {})
  guest.on('data', (chunk) => {
    text += chunk
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
      heard.push(text.slice(0, at))
      text = text.slice(at + 1)
    }
  })
  const raw = async (bytes: string | Uint8Array) => {
    if (!guest.writable || guest.write(bytes)) return
    for (let waits = 0; waits < 20 && guest.writableNeedDrain && !guest.destroyed; waits++) await pass(5)
  }
  return {
    call: (name, input = {}, more = {}) =>
      void raw(`${JSON.stringify({ id: ++id, name, input, ...more })}\n`),
    raw,
    async answers(count = id) {
      for (let waits = 0; waits < 400 && heard.length < count && !guest.closed; waits++) await pass(5)
      return heard
    },
    stopReading: () => void guest.pause().removeAllListeners('data'),
    end: () => void guest.end(),
    cut: () => void guest.destroy(),
  }
}

/** Operations that a program must not reach, whatever it calls itself. */
const closed = operationList.filter(([, op]) => op.closedTo?.includes('program') || op.atOrigin)
const open = operationList.filter(
  ([, op]) => !op.closedTo?.includes('program') && !op.atOrigin && op.effect === 'read' && !op.onMachine,
)
const ofSandboxes = operationList.filter(([, op]) => op.resource === 'sandbox')

const NAMES = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', '', ' ', '\0', '.', '..'],
  ...[
    '../tokens',
    '/api/v1/eqvps/tokens',
    '//example.com/',
    'https://example.com/',
    'http://169.254.169.254/',
  ],
  ...[
    'http://127.0.0.1:5432/',
    'file:///etc/passwd',
    'list_plans\r\nAuthorization: Bearer x',
    'GET /balance',
  ],
  ...['listPlans%2e%2e%2ftokens', 'listPlans?x=1', 'listPlans#', 'listPlans\n', 'LISTPLANS', 'list_Plans'],
  ...['call_operation', 'callOperation', 'buy_vps', 'buySandbox', '𝓁istPlans', 'x'.repeat(5000)],
]
const POLLUTED = [
  '{"__proto__":{"scopes":["account"],"accountId":"x"}}',
  '{"constructor":{"prototype":{"isAdmin":true}}}',
  '{"__proto__":null}',
  '{"toString":1,"valueOf":1,"hasOwnProperty":1}',
]
const LINES = [
  ...[
    '{',
    '}',
    '[]',
    'null',
    'true',
    '0',
    '""',
    '{}',
    '\0\0\0',
    '\u001b[2J',
    'GET / HTTP/1.1\r\nHost: x\r\n\r',
  ],
  ...[
    '{"id":1,"name":"listPlans"}',
    '{"id":"1","name":"listPlans","input":{}}',
    '{"id":1e999,"name":"a","input":{}}',
  ],
  ...[
    '{"id":1,"name":"listPlans","input":{},"token":"crk_x"}',
    '{"id":1,"name":"listPlans","input":{},"host":"x"}',
  ],
  ...[
    '{"id":1,"answer":{}}',
    '{"id":1,"name":["listPlans"],"input":{}}',
    '{"id":1,"name":"listPlans","input":[[]]}',
  ],
  ...['[{"id":1,"name":"listPlans","input":{}}]', '\ufeff{"id":1,"name":"listPlans","input":{}}', '{"id":1,'],
]

/** Spends money, if it is let. */
function spend(line: Line, draw: Draw, { owners }: Facts, more: object = {}): void {
  const calls: [string, unknown][] = [
    ['createSandbox', { tariff: draw.of(['micro', 'small', 'max']), timeout: 60 }],
    ['orderVps', { product: 'nano', os_id: 1 }],
    ['resumeSandbox', { sandbox_id: owners.paused, timeout: 86_400 }],
    ['forkSandbox', { sandbox_id: owners.running, timeout: 86_400 }],
    ['setSandboxTimeout', { sandbox_id: owners.running, timeout: 86_400 }],
    ['topupBalance', { amount: '100', method: 'x402' }],
  ]
  line.call(...draw.of(calls), more)
}

const someId = (draw: Draw, { victim, owners, ownSandbox }: Facts) =>
  draw.of([victim.sandbox, victim.sandbox, owners.running, ownSandbox, '../x', 'sbx_1', '*', '', null, 1, {}])

/** The input of an operation as in its documentation, of something that is not the program's. */
function foreignInput(op: Operation, draw: Draw, facts: Facts): Record<string, unknown> {
  return {
    ...op.example,
    ...(op.resource && { [resourceInput(op.resource)]: someId(draw, facts) }),
    confirm: true,
  }
}

export const attacks: Record<string, Attack> = {
  async 'calls what is closed to programs'(line, draw, facts) {
    for (let count = 1 + draw.below(6); count > 0; count--) {
      const [name, op] = draw.of(closed)
      const input = {
        ...op.example,
        ...(op.resource && { [resourceInput(op.resource)]: facts.victim.tokenId }),
      }
      line.call(draw.of([name, toolName(name)]), input, draw.of([{}, { key: `k${draw.below(9)}` }]))
    }
    await line.answers()
  },
  async 'calls closed operations by way of others'(line, draw, { owners }) {
    const [name, op] = draw.of(closed)
    for (const by of ['callOperation', 'call_operation', 'findOperations'])
      line.call(by, { name: toolName(name), arguments: op.example, access_token: owners.token })
    line.call('listPlans', { access_token: owners.token, authorization: `Bearer ${owners.token}` })
    await line.answers()
  },
  async 'names that lead elsewhere'(line, draw) {
    for (let count = 1 + draw.below(8); count > 0; count--)
      line.call(draw.of(NAMES), draw.of([{}, { url: 'http://127.0.0.1/' }, { path: '../..' }]))
    await line.answers()
  },
  async 'lines that are none'(line, draw) {
    line.call('listPlans')
    await line.raw(`${draw.of(LINES)}\n`)
    spendNothing(line)
    await line.answers()
  },
  async 'random bytes'(line, draw) {
    const bytes = Uint8Array.from({ length: 1 + draw.below(4000) }, () => draw.below(256))
    await line.raw(bytes)
    await line.raw('\n')
    spendNothing(line)
    await line.answers()
  },
  async 'a line without end'(line, draw) {
    const piece = Buffer.alloc(65_536, draw.of(['x', '{', '[', '"', '\0']))
    for (let count = 4 + draw.below(20); count > 0; count--) await line.raw(piece)
    await line.answers()
  },
  async 'deep and polluted inputs'(line, draw, facts) {
    const [name] = draw.of(open)
    const deep = draw.of(['[', '{"a":'])
    const depth = 1 + draw.below(20_000)
    const value = deep.repeat(depth) + (deep === '[' ? ']' : '1}').repeat(depth)
    const input = draw.of([draw.of(POLLUTED), `{"a":${deep === '[' ? value : value.replace('1}', '1}')}}`])
    await line.raw(`{"id":1,"name":"${name}","input":${input}}\n`)
    line.call('createSandbox', { metadata: JSON.parse(draw.of(POLLUTED)), env: { __proto__: 'x' } })
    line.call('getBalance', { account_id: facts.victim.accountId })
    await line.answers()
  },
  async 'many orders at once'(line, draw, facts) {
    const key = draw.of([undefined, 'same'])
    for (let count = draw.of([10, 10, 10, 50]); count > 0; count--)
      spend(line, draw, facts, key === undefined ? {} : { key })
    await line.answers(draw.of([0, 5, 50]))
  },
  async 'orders, and is gone'(line, draw, facts) {
    for (let count = 1 + draw.below(10); count > 0; count--) spend(line, draw, facts)
    if (draw.below(2) === 0) await pass(draw.below(30))
    draw.of([line.end, line.cut])()
  },
  async "somebody else's"(line, draw, facts) {
    for (let count = 1 + draw.below(6); count > 0; count--) {
      const [name, op] = draw.of(ofSandboxes)
      line.call(name, { ...foreignInput(op, draw, facts), sandbox_id: facts.victim.sandbox })
    }
    await line.answers()
  },
  async 'its own sandbox'(line, draw, facts) {
    for (let count = 1 + draw.below(6); count > 0; count--) {
      const [name, op] = draw.of(ofSandboxes.filter(([each]) => each !== 'killSandbox'))
      line.call(name, { ...op.example, sandbox_id: facts.ownSandbox })
    }
    if (draw.below(4) === 0) line.call('killSandbox', { sandbox_id: facts.ownSandbox })
    await line.answers()
  },
  async 'reads nothing'(line, draw) {
    line.stopReading()
    for (let count = 20 + draw.below(80); count > 0; count--) line.call('listPlans')
    await pass(draw.below(60))
  },
  async 'a flood'(line, draw) {
    const count = draw.below(20) === 0 ? 2500 : 150
    for (let sent = 0; sent < count; sent++) {
      line.call(draw.of(['nothing', 'listTokens']), {})
      if (sent % 250 === 0) await line.answers(sent - 200)
    }
    await line.answers()
  },
  async 'numbers that are used twice'(line, draw, facts) {
    const id = draw.of([0, -1, 1, Number.MAX_SAFE_INTEGER])
    for (let count = 5; count > 0; count--)
      await line.raw(
        `${JSON.stringify({ id, name: 'getBalance', input: {}, key: draw.of([1, {}, [], 'x']) })}\n`,
      )
    spend(line, draw, facts)
    await line.answers()
  },
  async 'characters in pieces'(line, draw) {
    const text = Buffer.from(`${JSON.stringify({ id: 1, name: 'listPlans', input: {}, key: 'ü€😀' })}\n`)
    for (let at = 0; at < text.length; at += 1 + draw.below(5))
      await line.raw(text.subarray(at, at + 1 + draw.below(5)))
    await line.raw('\n')
    await line.answers()
  },
  async 'inputs of the wrong kind'(line, draw, facts) {
    for (let count = 1 + draw.below(8); count > 0; count--) {
      const [name, op] = draw.of(open)
      const wrong = draw.of([null, -1, 1e308, '', '\0', 'x'.repeat(10_000), [], {}, true, '\ud800'])
      const fields = Object.keys(op.input.shape)
      line.call(name, { ...foreignInput(op, draw, facts), [draw.of([...fields, 'more'])]: wrong })
    }
    await line.answers()
  },
}

/** Shows that nothing more is asked after what came before. */
const spendNothing = (line: Line) => line.call('createWebhook', { url: 'https://example.com/' })
