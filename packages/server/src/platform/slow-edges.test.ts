import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { createFakeReverseDns } from '../vps/network/rdns/fake-reverse-dns.ts'
import { type Hosts, LOCAL_HOST } from './machine-host.ts'
import type { Services } from './services.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ rdns: createFakeReverseDns() })
})
afterAll(() => service.close())

const mail = { to: 'buyer@rackmail.net', subject: 'A subject', text: 'A text' }
const local = (hosts: Hosts) => hosts.get(LOCAL_HOST)!
const asked: [string, (services: Services) => unknown][] = [
  ['hosts.local.driver.inventory()', ({ hosts }) => local(hosts).driver.inventory()],
  ['hosts.local.guests.alive()', ({ hosts }) => local(hosts).guests.alive('vps_0')],
  ['hosts.local.console.connect()', ({ hosts }) => local(hosts).console.connect('vps_0', 'serial')],
  ['hosts.local.snapshots.remove()', ({ hosts }) => local(hosts).snapshots.remove('vps_0', 'snp_0')],
  ['hosts.local.retainedDisks.remove()', ({ hosts }) => local(hosts).retainedDisks.remove('vps_0', 'snp_0')],
  ['sandboxes.local.hasNetworks()', ({ sandboxes }) => sandboxes.get(LOCAL_HOST)!.runtime.hasNetworks()],
  ['chains.newest()', ({ chains }) => chains[0]!.port.newest()],
  ['rdns.publish()', ({ rdns }) => rdns!.publish('198.18.0.1', null)],
  ['mailer.send()', ({ mailer }) => mailer.send(mail)],
  ['lookup', ({ lookup }) => lookup('example.net')],
  ['offer', (services) => services.offer(services)],
]

test.each(asked)('error: %s inside a transaction', async (what, ask) => {
  const { services } = service
  await expect(inTransaction(services.db, async () => ask(services))).rejects.toMatchObject({
    name: 'SlowWorkError',
    message: expect.stringContaining(what),
  })
})

test('default: outside of one it is asked as ever', async () => {
  const driver = local(service.services.hosts).driver
  const { capacity } = await driver.inventory().catch(driver.inventory).catch(driver.inventory)
  expect(capacity.vcpus).toBeGreaterThan(0)
})

test('behavior: what is put in the place of an edge refuses as well, and so does a part of it that is replaced', async () => {
  const { services } = service
  const { runtime, ...others } = services.sandboxes.get(LOCAL_HOST)!
  const hasNetworks = async () => false
  const now = () => services.sandboxes.get(LOCAL_HOST)!.runtime
  const refused = async () =>
    expect(inTransaction(services.db, () => now().hasNetworks())).rejects.toThrow(
      'sandboxes.local.hasNetworks()',
    )

  services.sandboxes = new Map([[LOCAL_HOST, { ...others, runtime: { ...runtime, hasNetworks } }]])
  expect(await now().hasNetworks()).toBe(false)
  await refused()
  services.sandboxes.set(LOCAL_HOST, { ...others, runtime })
  now().hasNetworks = hasNetworks
  expect(await now().hasNetworks()).toBe(false)
  await refused()
})
