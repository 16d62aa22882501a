import { freePort } from '@coinrack/host/free-port.ts'
import { newCustomer } from '../order-life.ts'
import { type RunningService, startService } from '../running-service.ts'
import { untilTemplatesAreThere } from '../sandbox-templates.ts'
import { type Domain, openDomain } from './domain.ts'

/** A service with real sandboxes, as E2B's clients reach it. */
export interface ForE2b {
  service: RunningService
  /** The token of the customer. */
  token: string
  /** What leads clients to it: by an address, and by a domain. */
  byUrl: Record<string, string>
  byDomain: Record<string, string>
  stop(): Promise<void>
}

export async function startForE2b(): Promise<ForE2b> {
  const port = await freePort()
  const domain: Domain = await openDomain(await freePort(), port)
  const service = await startService({ COINRACK_SANDBOXES: 'true', ...domain.settings }, { port })
  await untilTemplatesAreThere(service)
  const customer = await newCustomer(service, '5')
  const key = await customer.createToken({ format: 'e2b', budget: { total: '4.00' } })
  const url = `${service.origin}/e2b`
  return {
    service,
    token: customer.token,
    byUrl: { E2B_API_KEY: key.token, E2B_API_URL: url, E2B_SANDBOX_URL: url },
    byDomain: { E2B_API_KEY: key.token, ...domain.env },
    async stop() {
      await service.stop()
      await domain.close()
    },
  }
}
