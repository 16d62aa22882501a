import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { mcpAddresses } from '@coinrack/server/transport/mcp/addresses.ts'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { ask, measure, measureIdle, median, type Target, until } from './processor-time.ts'

/*
 * What the lists of tools weigh, and what the agent endpoint costs beside REST: `npm run bench:mcp`. A service is started
 * as an operator starts it. Bytes and tokens are those of name, title, description and input schema, which is what a model
 * sees. Requests are those of the official client, recorded once and sent again; they are measured in alternating rounds,
 * as processor time of the service (see `processor-time.ts`).
 */

const ROUNDS = Number(process.argv[2] ?? 5)
const REQUESTS = Number(process.argv[3] ?? 5_000)

const root = join(import.meta.dirname, '..')
const folder = await mkdtemp('/tmp/coinrack-bench-')
const port = await freePort()
const origin = `http://127.0.0.1:${port}`
const env = {
  ...process.env,
  COINRACK_DATA: folder,
  COINRACK_PORT: String(port),
  COINRACK_METRICS_PORT: '0',
  COINRACK_LOG_LEVEL: 'warn',
  COINRACK_SANDBOXES: 'false',
  COINRACK_RATE_DEFAULT: '100000000/s',
}

/** A client of one revision, whose last request is kept. */
async function connect(path: string, mode: 'auto' | 'legacy', token?: string) {
  let last: { headers: Record<string, string>; body: string } | undefined
  const client = new Client(
    { name: 'bench', version: '1' },
    mode === 'auto' ? { versionNegotiation: { mode } } : {},
  )
  const transport = new StreamableHTTPClientTransport(new URL(path, origin), {
    requestInit: token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
    fetch: (url, init) => {
      if (init?.method === 'POST')
        last = { headers: Object.fromEntries(new Headers(init.headers)), body: String(init.body) }
      return fetch(url, init)
    },
  })
  await client.connect(transport)
  return { client, sent: () => last! }
}

async function printLists(): Promise<void> {
  console.log('| address | tools | bytes that a model sees | tokens (o200k) | bytes of the whole list |')
  console.log('|---|---|---|---|---|')
  // Who connects at the address of grants needs one.
  for (const { path } of mcpAddresses.filter(({ forGrants }) => !forGrants)) {
    const { client } = await connect(path, 'auto')
    const { tools } = await client.listTools()
    await client.close()
    const seen = JSON.stringify(
      tools.map(({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema })),
    )
    const figures = [tools.length, Buffer.byteLength(seen), encode(seen).length]
    const whole = Buffer.byteLength(JSON.stringify(tools))
    console.log(
      `| \`${path}\` | ${[...figures, whole].map((each) => each.toLocaleString('en')).join(' | ')} |`,
    )
  }
}

/** The requests of a client to `/mcp` in one revision, to be sent again. */
async function recorded(
  pid: number,
  mode: 'auto' | 'legacy',
  token: string,
): Promise<Record<string, Target>> {
  const { client, sent } = await connect('/mcp', mode, token)
  const revision = client.getNegotiatedProtocolVersion()
  const target = () => ({ pid, url: `${origin}/mcp`, ...sent() })
  await client.listTools()
  const list = target()
  await client.callTool({ name: 'get_balance', arguments: {} })
  const call = target()
  await client.close()
  return { [`tools/list, ${revision}`]: list, [`tools/call get_balance, ${revision}`]: call }
}

const service = spawn(process.execPath, [join(root, 'packages/server/src/process/main.ts')], {
  env,
  stdio: ['ignore', 'ignore', 'inherit'],
})
try {
  await until('the service answers', async () => (await fetch(`${origin}/healthz`)).ok)
  await until('its images are there', async () => (await fetch(`${origin}/readyz`)).ok)
  await printLists()
  const registered = await fetch(`${origin}/api/v1/eqvps/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'bench@rackmail.net' }),
  })
  const { token } = (await registered.json()) as { token: string }
  const pid = service.pid!
  const rest = { pid, url: `${origin}/api/v1/eqvps/balance`, headers: { authorization: `Bearer ${token}` } }
  const others = { ...(await recorded(pid, 'auto', token)), ...(await recorded(pid, 'legacy', token)) }
  for (const [name, target] of Object.entries(others))
    if (!(await ask(target)).includes('"result"')) throw new Error(`${name} is refused`)

  const idle = await measureIdle({ pid })
  for (const target of [rest, ...Object.values(others)]) await measure(target, 0, REQUESTS)
  const times = new Map<string, { us: number; ratio: number }[]>()
  const restTimes: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const restUs = await measure(rest, idle, REQUESTS)
    restTimes.push(restUs)
    for (const [name, target] of Object.entries(others)) {
      const us = await measure(target, idle, REQUESTS)
      times.set(name, [...(times.get(name) ?? []), { us, ratio: us / restUs }])
    }
    console.log(`round ${round} of ${ROUNDS} is over`)
  }
  const perSecond = (us: number[]) => Math.round(1_000_000 / median(us)).toLocaleString('en')
  console.log('\n| request | a second and core | processor time beside GET /balance |\n|---|---|---|')
  console.log(`| GET /balance by REST | ${perSecond(restTimes)} | 1 |`)
  for (const [name, each] of times) {
    const ratios = each.map(({ ratio }) => ratio)
    const range = [Math.min(...ratios), Math.max(...ratios)].map((value) => value.toFixed(2)).join(' to ')
    console.log(
      `| ${name} | ${perSecond(each.map(({ us }) => us))} | ${median(ratios).toFixed(2)} (${range}) |`,
    )
  }
} finally {
  await runCommand(process.execPath, [join(root, 'packages/server/src/process/stop.ts')], {
    env: env as Record<string, string>,
    timeoutMs: 120_000,
  })
  await rm(folder, { recursive: true, force: true })
}
