import { randomBytes } from 'node:crypto'
import { createMeasuredClient } from './measured-client.ts'

const CLIENTS = 8

/**
 Clients that read and write at a service and never repeat anything.
 */
export interface SteadyLoad {
  /** Waits until so many requests more are answered. */
  answered(more: number): Promise<void>
  /** How many requests failed until now, by what was told. */
  failed: Readonly<Record<string, number>>
  /** Ends it. @returns how many requests failed, by what was told */
  stop(): Promise<Record<string, number>>
}

export async function startSteadyLoad(origin: string): Promise<SteadyLoad> {
  const client = createMeasuredClient()
  const email = `steady-${randomBytes(6).toString('hex')}@rackmail.net`
  const { body } = await client.ask(origin, 'POST', '/auth/register', { body: { email } })
  const { token } = body as { token: string }
  const failed: Record<string, number> = {}
  let goesOn = true
  let answers = 0

  async function write(): Promise<{ status: number; body: { code?: string } }> {
    const name = randomBytes(6).toString('hex')
    const made = await client.ask(origin, 'POST', '/tokens', { token, body: { name, scopes: ['read'] } })
    if (made.status !== 200) return made
    return client.ask(origin, 'DELETE', `/tokens/${made.body.details.id}`, { token })
  }
  async function one(turn: number): Promise<void> {
    const asked = turn % 3 === 0 ? write() : client.ask(origin, 'GET', '/account', { token })
    const told = await asked.then(
      ({ status, body }) => (status === 200 ? undefined : `${status} ${body.code}`),
      (error: Error) => error.message,
    )
    answers++
    if (told !== undefined) failed[told] = (failed[told] ?? 0) + 1
  }
  const running = Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let turn = 0; goesOn; turn++) await one(turn)
    }),
  )
  return {
    failed,
    async answered(more) {
      const wanted = answers + more
      while (answers < wanted) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    async stop() {
      goesOn = false
      await running
      client.close()
      return failed
    },
  }
}
