import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { createFakeReverseDns } from '../vps/network/rdns/fake-reverse-dns.ts'
import type { Services } from './services.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ rdns: createFakeReverseDns() })
})
afterAll(() => service.close())

const mail = { to: 'buyer@rackmail.net', subject: 'A subject', text: 'A text' }
const asked: [string, (services: Services) => unknown][] = [
  ['driver.capacity()', ({ driver }) => driver.capacity()],
  ['guests.alive()', ({ guests }) => guests.alive('vps_0')],
  ['snapshots.remove()', ({ snapshots }) => snapshots.remove('vps_0', 'snp_0')],
  ['keptDisks.remove()', ({ keptDisks }) => keptDisks.remove('vps_0', 'snp_0')],
  ['sandboxes.hasNetworks()', ({ sandboxes }) => sandboxes!.runtime.hasNetworks()],
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
  expect((await service.services.driver.capacity()).vcpus).toBeGreaterThan(0)
})

test('behavior: what is put in the place of an edge refuses as well, and so does a part of it that is replaced', async () => {
  const { services } = service
  const { driver } = services
  const capacity = async () => ({ vcpus: 1, memoryMb: 1, diskGb: 1 })
  const refused = async () =>
    expect(inTransaction(services.db, () => services.driver.capacity())).rejects.toThrow('driver.capacity()')

  services.driver = { ...driver, capacity }
  expect(await services.driver.capacity()).toEqual(await capacity())
  await refused()
  services.driver = driver
  services.driver.capacity = capacity
  expect(await services.driver.capacity()).toEqual(await capacity())
  await refused()
})
