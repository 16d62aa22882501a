import { existsSync } from 'node:fs'
import { readdir, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSshKey, runInGuest, type SshKey, sshArguments } from '@coinrack/cli/ssh.ts'
import { DEFAULT_PARENT, groupFolders } from '@coinrack/compute/machine/control-groups/control-groups.ts'
import { networkTraces } from '@coinrack/compute/network/testing.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { type Client, waitForSsh } from '@coinrack/sdk/index.ts'
import { expect } from 'vitest'
import type { Subject } from './interruptions.ts'
import { guestsOf, newCustomer } from './order-life.ts'
import type { RunningService } from './running-service.ts'

const TRIES = 90

/** A new VPS, of a new customer unless one is given, which answers by SSH. */
export async function orderVps(
  service: RunningService,
  folder: string,
  osId: number,
  given?: Client,
  more: { user_data?: string } = {},
): Promise<Subject> {
  const customer = given ?? (await newCustomer(service, '50'))
  const key = await makeSshKey(folder)
  const order = await customer.orderVps({
    product: 'nano',
    os_id: osId,
    hostname: 'web',
    ssh_key: key.publicKey,
    ...more,
  })
  const id = order.service_id!
  await waitForSsh(customer, id, { reveal: false })
  return {
    customer,
    id,
    guests: () => guestsOf(id),
    inside: insideOf(customer, id, folder, key),
  }
}

/** Runs commands inside by the key, with the host verified, however long the machine takes to answer. */
export const insideOf =
  (customer: Client, id: string, folder: string, key: SshKey) =>
  async (command: string): Promise<string> => {
    for (let attempt = 1; ; attempt++) {
      try {
        const { ssh } = await customer.getVpsStatus({ service_id: id, reveal: false })
        return (await runInGuest(await sshArguments(folder, key, ssh), command)).trim()
      } catch (error) {
        if (attempt === TRIES) throw error
        await sleep(1_000)
      }
    }
  }

/** Runs a command inside by the root password, with the host verified. */
export async function byPassword(
  { customer, id }: Pick<Subject, 'customer' | 'id'>,
  folder: string,
  password: string,
  command: string,
): Promise<string> {
  const { ssh } = await customer.getVpsStatus({ service_id: id, reveal: false })
  const knownHosts = join(folder, 'known_hosts_password')
  await writeFile(knownHosts, ssh.known_hosts.join('\n'))
  const args = [
    ...['-o', 'PubkeyAuthentication=no', '-o', 'StrictHostKeyChecking=yes'],
    ...['-o', `UserKnownHostsFile=${knownHosts}`, '-p', String(ssh.port), `root@${ssh.host}`],
  ]
  const { stdout } = await runCommand('sshpass', ['-e', 'ssh', ...args, command], {
    env: { SSHPASS: password },
    timeoutMs: 60_000,
  })
  return stdout.trim()
}

/** The operation, once it has ended. */
export async function ended({ customer }: Pick<Subject, 'customer'>, operation: { id: string }) {
  for (;;) {
    const now = await customer.getOperation({ operation_id: operation.id, wait: 'done', timeout: 50 })
    if (now.status !== 'running') return now
  }
}

/** The root password, which exactly one of ten reads at the same moment shows. */
export async function revealed({ customer, id }: Pick<Subject, 'customer' | 'id'>): Promise<string> {
  const reads = await Promise.all(Array.from({ length: 10 }, () => customer.getVpsStatus({ service_id: id })))
  const passwords = reads.flatMap(({ root_password }) => root_password ?? [])
  expect(passwords).toHaveLength(1)
  return passwords[0]!
}

/** Whatever there is of a machine on this host. */
export async function tracesOf(service: RunningService, id: string): Promise<string[]> {
  const folder = `${service.dataFolder}/machines/${id}`
  const claims = await readdir('/run/coinrack/users').catch((): string[] => [])
  const users = await Promise.all(
    claims.map((name) => readlink(`/run/coinrack/users/${name}`).catch(() => '')),
  )
  return [
    ...Array.from({ length: await guestsOf(id) }, () => 'process'),
    ...(existsSync(folder) ? [folder] : []),
    ...(users.includes(id) ? ['user'] : []),
    ...(await networkTraces(id)),
    ...(await groupFolders(DEFAULT_PARENT, id)).filter((each) => existsSync(each)),
  ]
}
