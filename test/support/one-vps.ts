import { existsSync } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSshKey, runInGuest, sshArguments } from '@coinrack/cli/ssh.ts'
import { DEFAULT_PARENT, groupFolders } from '@coinrack/compute/control-groups/control-groups.ts'
import { networkTraces } from '@coinrack/compute/network/testing.ts'
import { waitForSsh } from '@coinrack/sdk/index.ts'
import type { Subject } from './interruptions.ts'
import { guestsOf, newCustomer } from './order-life.ts'
import type { RunningService } from './running-service.ts'

const TRIES = 90

/** A new VPS of a new customer, which answers by SSH. */
export async function orderVps(service: RunningService, folder: string, osId: number): Promise<Subject> {
  const customer = await newCustomer(service, '50')
  const key = await makeSshKey(folder)
  const order = await customer.orderVps({
    product: 'nano',
    os_id: osId,
    hostname: 'web',
    ssh_key: key.publicKey,
  })
  const id = order.service_id!
  await waitForSsh(customer, id, { reveal: false })
  return {
    customer,
    id,
    guests: () => guestsOf(id),
    async inside(command) {
      for (let attempt = 1; ; attempt++) {
        try {
          const { ssh } = await customer.getVpsStatus({ service_id: id, reveal: false })
          return (await runInGuest(await sshArguments(folder, key, ssh), command)).trim()
        } catch (error) {
          if (attempt === TRIES) throw error
          await sleep(1_000)
        }
      }
    },
  }
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
