import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { makeSandboxes } from '@coinrack/compute/sandbox/testing.ts'
import { processesOf } from '@coinrack/compute/sandbox/testing.ts'
import { expect, vi } from 'vitest'
import { chances } from '../chances.ts'
import { openProgramWorld } from '../program-world.ts'
import { beginAudit } from './audit.ts'
import { drawFrom } from './facts.ts'
import { hostileProgram } from './programs.ts'

const TIDY_EVERY = 20
const SETTLE_MS = 500
/** How long a program waits for room at most. */
const ROOM_MS = 10 * 60_000
/** Those that are made in advance. */
export const POOL = 1

/**
 * Runs so many hostile programs by run_program, each in a real sandbox of its own, and audits what is left.
 * @param sandboxes of which nothing else makes any
 * @returns how many there were of each kind
 */
export async function runHostilePrograms(
  sandboxes: Awaited<ReturnType<typeof makeSandboxes>>,
  { seed, programs, from = 0 }: { seed: number; programs: number; from?: number },
) {
  const world = await openProgramWorld(sandboxes)
  let reached = 0
  const server = createServer((socket) => {
    reached++
    socket.on('error', () => {}).end('secret\n')
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  const { port } = server.address() as { port: number }
  const addresses = Object.values(networkInterfaces()).flatMap((each) =>
    each!.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
  )
  const other = await world.customer(1_000_000n)
  const owner = await world.customer(50_000_000n)
  const { body } = await world.ask('createSandbox', other.token, { timeout: 86_400, idle_timeout: 0 })
  expect(body).toMatchObject({ state: 'running' })
  const outside = { addresses: [...addresses, '127.0.0.1'], port, victim: String(body.id) }
  const audit = await beginAudit(world, { victimId: other.accountId, ownerIds: [owner.accountId] })
  // As in the service: what runs beyond its budget ends.
  let tick: Promise<void> | undefined
  const ticking = setInterval(() => {
    tick ??= world
      .reconcile()
      .catch(() => {})
      .finally(() => {
        tick = undefined
      })
  }, SETTLE_MS)
  const endAll = async () => {
    const { body } = await world.ask('listSandboxes', owner.token, { limit: 100 })
    for (const { id } of body.items as { id: string }[])
      await world.ask('killSandbox', owner.token, { sandbox_id: id })
    await world.reconcile()
  }
  /** The host has other work too, and what programs left running takes room until it is ended. */
  const untilThereIsRoom = async <T extends { status: number }>(run: () => Promise<T>): Promise<T> => {
    const ran = await run()
    if (ran.status !== 503) return ran
    await endAll()
    return vi.waitFor(
      async () => {
        const again = await run()
        expect(again.status).not.toBe(503)
        return again
      },
      { timeout: ROOM_MS, interval: ROOM_MS / 60 },
    )
  }
  const kinds = new Map<string, number>()
  try {
    for (let number = from; number < from + programs; number++) {
      const draw = drawFrom(chances(seed * 1_000_003 + number))
      const { kind, code, budget, timeout } = hostileProgram(number, draw, outside)
      const what = `${kind} (program ${number} of seed ${seed})`
      const input = { code, timeout, ...(budget !== undefined && { budget }) }
      const begun = performance.now()
      const { status, body } = await untilThereIsRoom(() => world.ask('runProgram', owner.token, input))
      expect([what, status, body.message]).toEqual([what, 200, undefined])
      console.log(
        `${what}: ${Math.round(performance.now() - begun)} ms, ${JSON.stringify([body.exit_code, body.timed_out, body.stdout, body.error, body.spent]).slice(0, 300)}`,
      )
      expect(Number(body.spent), what).toBeLessThanOrEqual(Number(budget ?? 0))
      expect(`${body.stdout}${body.stderr}`, what).not.toMatch(/crk_(?!a{46})[0-9A-Za-z]{46}/)
      expect(body.stdout, what).not.toMatch(/reached|took it/)
      expect(reached, what).toBe(0)
      // Its machine is gone, with all that it left behind.
      expect([...(await sandboxes.runtime.observe()).keys()], what).not.toContain(body.sandbox_id)
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      if (number % TIDY_EVERY === TIDY_EVERY - 1) await endAll()
      await sandboxes.tendPool()
    }
    await endAll()
    clearInterval(ticking)
    await tick
    await world.reconcile()
    await audit.expectNoHarm()
    expect([...(await sandboxes.runtime.observe()).keys()]).toEqual([outside.victim])
    expect(
      await world.ask('execCommand', other.token, { sandbox_id: outside.victim, command: 'echo alive' }),
    ).toMatchObject({
      body: { stdout: 'alive\n' },
    })
    await world.ask('killSandbox', other.token, { sandbox_id: outside.victim })
    expect((await processesOf(sandboxes.dataFolder)).length).toBeLessThanOrEqual(POOL)
    return kinds
  } finally {
    clearInterval(ticking)
    server.close()
    await world.close()
  }
}
