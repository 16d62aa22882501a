import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { playDemo } from './play-demo.ts'
import { createProgress } from './progress.ts'

/*
 * `npm run demo`: plays an agent against a running service, which COINRACK_URL names.
 */

const DEFAULT_URL = 'http://127.0.0.1:8080'

async function main(): Promise<void> {
  const { origin } = new URL(process.env.COINRACK_URL || DEFAULT_URL)
  await demandService(origin)
  const write = (line: string) => console.log(line)
  write(`An agent that knows only ${origin}/mcp\n`)
  const { output, sshArguments } = await playDemo({
    origin,
    email: `agent-${randomBytes(6).toString('hex')}@rackmail.net`,
    folder: await mkdtemp(join(tmpdir(), 'coinrack-demo-')),
    progress: createProgress(() => performance.now(), write),
    sleep: (milliseconds) => sleep(milliseconds),
  })
  write(
    `\n${output.replace(/^/gm, '    ')}\n\nThe machine stays. Log in with:\n\n    ssh ${sshArguments.join(' ')}\n`,
  )
}

async function demandService(origin: string): Promise<void> {
  const healthy = await fetch(`${origin}/healthz`).then(
    (response) => response.ok,
    () => false,
  )
  if (healthy) return
  throw new Error(
    `No Coinrack service answers at ${origin}.\n  Start one with "npm start" in another terminal, or name it: COINRACK_URL=https://vps.example.net npm run demo`,
  )
}

try {
  await main()
} catch (error) {
  console.error(`\n${(error as Error).message}`)
  process.exit(1)
}
