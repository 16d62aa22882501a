import { type Client, type ClientOptions, type SshParameters, Vps } from '@coinrack/sdk/index.ts'
import { findVps } from './find.ts'
import { keepHostKeys, plainAccess } from './ssh-access.ts'
import type { Terminal } from './terminal.ts'

/** How to reach a VPS by SSH, with its host keys written down. */
export async function vpsAccess(
  { env }: Terminal,
  service: ClientOptions,
  client: Client,
  name: string,
): Promise<SshParameters & { knownHostsFile: string }> {
  const { id } = await findVps(client, name)
  const access = plainAccess(await Vps.connect(service, id).ssh())
  return { ...access, knownHostsFile: await keepHostKeys(env, id, access.knownHosts) }
}
