import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFakeArtifacts } from '@coinrack/compute/fake/sandbox-artifacts.ts'
import { createFakeSandboxChannel } from '@coinrack/compute/fake/sandbox-channel.ts'
import { createFakeRuntime, type FakeRuntimeOptions } from '@coinrack/compute/fake/sandbox-runtime.ts'
import type { Reply, TestService } from '../../process/testing.ts'
import type { SandboxRow } from './sandbox-store.ts'
import { sandboxById } from './sandbox-store.ts'

export type Buyer = Awaited<ReturnType<typeof buyerOf>>

/** A customer with a balance of so many micro-dollars, and what tests of sandboxes ask for it. */
export async function buyerOf(service: TestService, balance = 1_000_000n) {
  const customer = await service.customer(balance)
  const { accountId } = customer
  let { token } = customer
  const { db } = service.services
  const ask = (method: Parameters<TestService['ask']>[0], path: string, body?: object): Promise<Reply> =>
    service.ask(method, path, { token, ...(body && { body }) })
  const post = (path: string, body: object = {}) => ask('POST', path, body)
  return {
    token,
    accountId,
    ask,
    post,
    /** Acts with another token of the account from now on. */
    actAs(other: string) {
      token = other
    },
    create: (body: object = {}) => post('/sandboxes', body),
    /** The id of a new one. */
    async sandbox(body: object = {}): Promise<string> {
      const { status, body: answer } = await post('/sandboxes', body)
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(answer)}`)
      return answer.id
    },
    show: async (id: string) => (await ask('GET', `/sandboxes/${id}`)).body,
    row: (id: string): Promise<SandboxRow> => sandboxById(db, id),
    kill: (id: string) => ask('DELETE', `/sandboxes/${id}`),
    balance: async () => (await ask('GET', '/balance')).body,
    /** The events that were told of sandboxes, oldest first. */
    async events(): Promise<{ type: string; data: Record<string, unknown> }[]> {
      const { rows } = await db.query<{ type: string; data: Record<string, unknown> }>(
        `select type, data from event where account_id = $1 and type like 'sandbox.%' order by id`,
        [accountId],
      )
      return rows
    },
  }
}

/** A further host of sandboxes, which the service reaches from now on. */
export async function joinHost(
  { services, clock }: TestService,
  id: string,
  options: Partial<FakeRuntimeOptions> = {},
) {
  const { db, sandboxes } = services
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-sandboxes-'))
  const runtime = createFakeRuntime({ clock, ...options })
  const channel = createFakeSandboxChannel(runtime, folder)
  const artifacts = createFakeArtifacts(runtime)
  await db.query(
    `insert into host (id, kind, region) values ($1, 'sandboxes', '') on conflict (id) do nothing`,
    [id],
  )
  const reach = () => void sandboxes.set(id, { runtime, channel, artifacts })
  reach()
  return {
    runtime,
    /** The service reaches it no more; what is on it goes on. */
    leave: () => void sandboxes.delete(id),
    comeBack: reach,
    async close() {
      sandboxes.delete(id)
      await channel.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
