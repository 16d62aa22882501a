import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { ask, measure, measureIdle, median, type Target, until } from './processor-time.ts'

/*
 * Processor time per authenticated `GET /services/{id}` of the whole service (started as an operator starts it), beside
 * a bare node:http handler that returns the same bytes from memory: `npm run bench:read`. Both are asked the same
 * number of times over the same number of kept-alive connections, in alternating rounds. The figure is the answering
 * process's use, from /proc/<pid>/stat, less what it uses in the same time when idle.
 */

const ROUNDS = 5

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
  COINRACK_RATE_DEFAULT: '100000000/s',
}

async function post(path: string, body: object, token?: string) {
  const response = await fetch(`${origin}/api/v1/eqvps${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(JSON.stringify(answer))
  return answer
}

const service = spawn(process.execPath, [join(root, 'packages/server/src/process/main.ts')], {
  env,
  stdio: ['ignore', 'ignore', 'inherit'],
})
let bare: ReturnType<typeof spawn> | undefined
try {
  console.log('Starting a service; the first time on a machine, its images are built')
  await until('the service is ready', async () => (await fetch(`${origin}/readyz`)).ok)
  const { token, account } = await post('/auth/register', { email: 'bench@rackmail.net' })
  await runCommand(
    process.execPath,
    [join(root, 'packages/server/src/operator/cli.ts'), 'credit', account.email, '10', '--reason', 'bench'],
    { env: env as Record<string, string> },
  )
  const order = await post('/orders', { product: 'nano', os_id: 1 }, token)
  const ours: Target = {
    pid: service.pid!,
    url: `${origin}/api/v1/eqvps/services/${order.service_id}?reveal=false`,
    headers: { authorization: `Bearer ${token}` },
  }
  console.log('Waiting for the VPS, so that nothing else is under way')
  await until('the VPS is active', async () => JSON.parse(await ask(ours)).ssh_ready)

  const barePort = await freePort()
  bare = spawn(process.execPath, ['--eval', bareServer(), String(barePort), await ask(ours)], {
    stdio: 'inherit',
  })
  const floor: Target = { pid: bare.pid!, url: `http://127.0.0.1:${barePort}/`, headers: ours.headers }
  await until('the bare server listens', async () => (await ask(floor)) !== '')

  const idle = await measureIdle(ours)
  for (const target of [ours, floor]) await measure(target, 0)
  const ratios: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const us = await measure(ours, idle)
    const floorUs = await measure(floor, 0)
    ratios.push(us / floorUs)
    console.log(
      `round ${round}: service ${us.toFixed(0)} us, bare ${floorUs.toFixed(0)} us, ratio ${(us / floorUs).toFixed(2)}`,
    )
  }
  console.log(`median ratio: ${median(ratios).toFixed(2)}`)
} finally {
  bare?.kill()
  await runCommand(process.execPath, [join(root, 'packages/server/src/process/stop.ts')], {
    env: env as Record<string, string>,
    timeoutMs: 120_000,
  })
  await rm(folder, { recursive: true, force: true })
}

/** A server that knows one answer. */
function bareServer(): string {
  return `
    const [port, text] = process.argv.slice(1)
    const body = Buffer.from(text)
    require('node:http')
      .createServer((request, response) => {
        response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length })
        response.end(body)
      })
      .listen(Number(port), '127.0.0.1')`
}
