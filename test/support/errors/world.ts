import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import type { Answer } from './walk.ts'

export type Input = Record<string, unknown>
type Method = Parameters<TestService['ask']>[0]

/** A customer, as tables of errors need one. */
export type Buyer = Awaited<ReturnType<ErrorWorld['buyer']>>

/** The service in which codes are provoked: its database is real, and machines, mail, chain and clock are fakes. */
export type ErrorWorld = Awaited<ReturnType<typeof errorWorld>>

const RATES = [
  'DEFAULT',
  'ORDERS',
  'TOPUPS',
  'SANDBOXES',
  'REGISTER',
  'LOGIN',
  'REINSTALLS',
  'PASSWORD_RESETS',
]

export async function errorWorld() {
  const service = await startTestService({
    features: [
      'serialConsole',
      'guestCommands',
      'memorySnapshots',
      'rescue',
      'retainedDisks',
      'firewall',
      'ownAddresses',
    ],
    env: {
      ...Object.fromEntries(RATES.map((name) => [`COINRACK_RATE_${name}`, '100000/min'])),
      COINRACK_RATE_CONSOLE: '2/min',
      COINRACK_ADDRESS_POOL: '198.18.0.0/29',
    },
  })
  const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })

  /** While it is waited for, the world moves on. */
  async function during<T>(asked: Promise<T>): Promise<T> {
    let isOver = false
    const answered = asked.finally(() => {
      isOver = true
    })
    for (let rest = 1; rest >= 0; rest -= isOver ? 1 : 0) {
      await service.reconcile()
      await service.reconcileSandboxes()
      await service.buildTemplates()
    }
    return answered
  }

  return {
    service,
    origin,
    during,
    /** The code of the last mail. */
    code: () => /\b\d{6}\b/.exec(service.mails.at(-1)!.text)![0],
    async buyer(balance = 90_000_000n) {
      const customer = await service.customer(balance)
      const { token } = customer
      const call = (tool: string, input: Input = {}, as = token): Promise<Answer> =>
        service.tool(tool, input, { token: as })
      const { body } = await call('whoami')
      return {
        ...customer,
        email: body.email as string,
        call,
        take: (tool: string, input: Input) => during(call(tool, input)),
        ask: (method: Method, path: string, given?: unknown, headers: Record<string, string> = {}) =>
          service.ask(method, path, { token, headers, ...(given !== undefined && { body: given }) }),
        /** The id of a VPS, delivered unless it is said otherwise. */
        async vps(input: Input = {}, { isDelivered = true } = {}) {
          const order = { product: 'nano', os_id: 1, hostname: 'web', ...input }
          const made = await call('order_vps', order)
          if (isDelivered) await service.reconcile()
          return made.body.service_id as string
        },
        sandbox: async (input: Input = {}) =>
          (await call('create_sandbox', { timeout: 3600, idle_timeout: 0, ...input })).body.id as string,
        /** A child token. */
        child: async (input: Input) =>
          (await call('create_token', input)).body as { token: string; details: { id: string } },
      }
    },
  }
}
