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
