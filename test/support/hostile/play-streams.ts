import { expect } from 'vitest'
import { chances } from '../chances.ts'
import { openProgramWorld } from '../program-world.ts'
import { beginAudit } from './audit.ts'
import { drawFrom } from './facts.ts'
import { playedProgram, scriptedChannel } from './scripted-channel.ts'
import { attacks, lineOn } from './streams.ts'
import { watchConnections } from './watch-connections.ts'

const OWNERS = 4
const AT_ONCE = 8
/** Now and then what programs began is ended, as its owner would. */
const TIDY_EVERY = 200
const TELL_EVERY = 1_000
const BUDGETS = [undefined, undefined, '0', '0.000001', '0.0005', '0.01', '1']

/**
 * Runs so many hostile programs by run_program, each played by its attack against the real relay, dispatch and database, in
 * sandboxes of the fake runtime, and audits what is left.
 * @param seed from which every program follows
 */
export async function playStreams({ seed, programs }: { seed: number; programs: number }) {
  const watched = watchConnections()
  const drawOf = (number: number) => drawFrom(chances(seed * 1_000_003 + number))
  const names = Object.keys(attacks)
  const nameOf = (number: number) => names[number % names.length]!
  const owners: Awaited<ReturnType<typeof makeOwner>>[] = []
  const world = await openProgramWorld({
    channel: scriptedChannel((number) => {
      const draw = drawOf(number)
      const facts = { owners: owners[number % OWNERS]!, victim }
      return {
        draw,
        played: (guest, ownSandbox) =>
          attacks[nameOf(number)]!(lineOn(guest), draw, { ...facts, ownSandbox }),
      }
    }),
  })
  const sandboxOf = async (token: string) => {
    const { body } = await world.ask('createSandbox', token, {
      mode: 'persistent',
      timeout: 86_400,
      idle_timeout: 0,
    })
    return body.id as string
  }
  async function makeOwner() {
    const { token, accountId } = await world.customer(50_000_000n)
    const [running, paused] = [await sandboxOf(token), await sandboxOf(token)]
    await world.ask('pauseSandbox', token, { sandbox_id: paused })
    return { token, accountId, running, paused }
  }
  const other = await world.customer(1_000_000n)
  const { body } = await world.ask('whoami', other.token)
  const victim = {
    sandbox: await sandboxOf(other.token),
    tokenId: (body.token as { id: string }).id,
    accountId: other.accountId,
  }
  while (owners.length < OWNERS) owners.push(await makeOwner())
  const audit = await beginAudit(world, {
    victimId: victim.accountId,
    ownerIds: owners.map(({ accountId }) => accountId),
  })

  const endAll = async () => {
    for (const { token } of owners) {
      const { body } = await world.ask('listSandboxes', token, { limit: 100 })
      for (const { id, metadata } of body.items as { id: string; metadata: { started_by?: string } }[])
        if (!metadata.started_by) await world.ask('killSandbox', token, { sandbox_id: id })
    }
    await world.reconcile()
  }
  // The database.
  const usual = new Set(watched.targets)
  const statuses = new Map<string, number>()
  const runOne = async (number: number) => {
    const { token } = owners[number % OWNERS]!
    const budget = drawOf(number + 500_000).of(BUDGETS)
    const input = { code: playedProgram(number), ...(budget !== undefined && { budget }) }
    const { status, body } = await world.ask('runProgram', token, input)
    const what = `${nameOf(number)} (program ${number} of seed ${seed})`
    expect([what, status, body.message]).toEqual([what, 200, undefined])
    expect(Number(body.spent), what).toBeLessThanOrEqual(Number(budget ?? 0))
    expect(Buffer.byteLength(`${body.stdout}${body.stderr}`), what).toBeLessThan(33_000)
    statuses.set(nameOf(number), (statuses.get(nameOf(number)) ?? 0) + 1)
  }
  try {
    for (let next = 0; next < programs; ) {
      const until = Math.min(programs, next + TIDY_EVERY)
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          while (next < until) await runOne(next++)
        }),
      )
      await endAll()
      if (next % TELL_EVERY === 0) console.log(`${next} of ${programs} programs have run`)
    }
    await audit.expectNoHarm()
    expect([...watched.targets].filter((target) => !usual.has(target))).toEqual([])
    return statuses
  } finally {
    watched.stop()
    await world.close()
  }
}
