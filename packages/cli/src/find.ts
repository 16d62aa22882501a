import { type Client, type ClientOptions, CoinrackError, Sandbox } from '@coinrack/sdk/index.ts'
import { exitCodes, RefusedError } from './exit-codes.ts'

export type FoundVps = Awaited<ReturnType<Client['listVps']>>['items'][number]

const VPS_ID = /^vps_[0-9a-z]{26}$/
const SANDBOX_ID = /^sbx[0-9a-z]{26}$/

/** Whether a name is the identifier of a sandbox, and not the name of a VPS. */
export const isSandbox = (name: string) => SANDBOX_ID.test(name)

/** Finds a VPS by its host name or its identifier. @throws RefusedError when there is none, or several */
export async function findVps(client: Client, name: string): Promise<FoundVps> {
  if (VPS_ID.test(name)) return client.getVpsStatus({ service_id: name, reveal: false })
  const found: FoundVps[] = []
  const names: string[] = []
  for await (const vps of client.listVps.all()) {
    if (vps.hostname === name.toLowerCase()) found.push(vps)
    names.push(vps.hostname)
  }
  if (found.length === 1) return found[0]!
  if (found.length > 1)
    throw new RefusedError(
      `Several VPS have the name ${name}: name one by its identifier, ${found.map(({ id }) => id).join(' or ')}`,
      exitCodes.usage,
    )
  throw new RefusedError(
    `There is no VPS ${name}. ${names.length > 0 ? `You have ${names.join(', ')}` : 'You have none: coinrack order'}`,
    exitCodes.unknown,
  )
}

/** Connects to a sandbox that is there, by its identifier or the beginning of it. */
export async function findSandbox(service: ClientOptions, client: Client, name: string): Promise<Sandbox> {
  if (isSandbox(name)) return Sandbox.connect(service, name)
  const found: string[] = []
  for await (const { id } of client.listSandboxes.all()) if (id.startsWith(name)) found.push(id)
  if (found.length === 1) return Sandbox.connect(service, found[0]!)
  throw new RefusedError(
    found.length === 0
      ? `There is no sandbox ${name}: coinrack sandbox list`
      : `Several sandboxes begin with ${name}`,
    found.length === 0 ? exitCodes.unknown : exitCodes.usage,
  )
}

/** Whether the service refused with this code. */
export const isRefusal = (error: unknown, code: string): error is CoinrackError =>
  error instanceof CoinrackError && error.code === code
