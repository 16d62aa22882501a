import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSshKey } from '@coinrack/cli/ssh.ts'
import { instanceName } from '@coinrack/compute/incus/instance.ts'
import { emptyLab, LAB, labClient, processesOf } from '@coinrack/compute/incus/testing-lab.ts'
import { answersSsh } from '@coinrack/host/answers-ssh.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { type Client, waitForSsh } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { orderOnCluster, writeClusterFile } from './support/on-cluster.ts'
import { byPassword, ended, insideOf, revealed } from './support/one-vps.ts'
import { chargesOf, newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * The life of VPS on a real cluster of three, by a real service: the customer comes with REST, a wallet's balance and the
 * system's ssh. The service is killed in the middle of an order, and a member loses its power.
 */

vi.setConfig({ testTimeout: 15 * 60_000 })

const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 100_000))
/** A machine takes longer than that from its order to its first answer. */
const KILL_WITHIN_MS = 20_000

const client = labClient()
let service: RunningService
let folder: string
let customer: Client
let id: string
let inside: (command: string) => Promise<string>

beforeAll(async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  folder = await mkdtemp('/tmp/coinrack-cluster-')
  service = await startService({ COINRACK_CLUSTER: await writeClusterFile(client, folder) })
  customer = await newCustomer(service, '100')
}, 40 * 60_000)

afterAll(async () => {
  for (const member of ['1', '2', '3']) await runCommand(LAB, ['start', member])
  await service?.stop()
  await client.close()
  await emptyLab()
  if (folder) await rm(folder, { recursive: true, force: true })
}, 180_000)

const took = async <T>(what: string, work: Promise<T>): Promise<T> => {
  const begun = performance.now()
  const result = await work
  console.log(`${what}: ${((performance.now() - begun) / 1000).toFixed(2)} s`)
  return result
}

const memberOf = async (serviceId: string) =>
  (await client.get<{ location: string }>(`/1.0/instances/${instanceName(serviceId)}`)).value.location

test('default: the operator sees the members as hosts', async () => {
  await vi.waitUntil(async () => (await service.operator('host', 'list')).includes('lab-node3'), {
    timeout: 60_000,
    interval: 1_000,
  })
  const list = await service.operator('host', 'list')
  for (const member of ['node1', 'node2', 'node3']) expect(list).toMatch(new RegExp(`lab-${member} +incus`))
})

test('behavior: an order is delivered on a member, by SSH with the host key that the service published, also when the service is killed meanwhile', async () => {
  const key = await makeSshKey(folder)
  id = await orderOnCluster(customer, 'web', key.publicKey)
  const killAfterMs = (seed * 7919) % KILL_WITHIN_MS
  console.log(`SIGKILL after ${killAfterMs} ms`)
  await sleep(killAfterMs)
  await service.kill()
  await service.start()
  await took('service up again to SSH', waitForSsh(customer, id, { reveal: false }))
  inside = insideOf(customer, id, folder, key)
  expect(await inside('hostname')).toBe('web')
  expect(await processesOf(id)).toHaveLength(1)
  expect(await chargesOf(customer)).toEqual({ charges: 1, held: 0n })
  const { ipv6 } = await customer.getVpsStatus({ service_id: id, reveal: false })
  expect(await answersSsh({ host: ipv6!, port: 22 })).toBe(true)
  const seen = await customer.getVpsStatus({ service_id: id, reveal: false })
  expect(seen).toMatchObject({
    region: 'lab',
    features: ['ipv6', 'memory_snapshots', 'retained_disks', 'serial_console'],
    ssh: { port: 22 },
  })
})

test('default: power, a new password at the next boot, snapshots with memory, a larger plan, another disk', async () => {
  await inside('echo kept >/root/kept; sync')
  for (const action of ['stop', 'start', 'reboot'] as const) {
    const { operation } = await customer.powerVps({ service_id: id, action })
    expect(await took(action, ended({ customer }, operation))).toMatchObject({ status: 'succeeded' })
  }
  expect(await inside('cat /root/kept')).toBe('kept')

  const first = await revealed({ customer, id })
  const { operation } = await customer.resetPassword({ service_id: id })
  await ended({ customer }, (await customer.powerVps({ service_id: id, action: 'reboot' })).operation)
  expect(await took('reset_password', ended({ customer }, operation))).toMatchObject({ status: 'succeeded' })
  const second = await revealed({ customer, id })
  expect(second).not.toBe(first)
  expect(await byPassword({ customer, id }, folder, second, 'whoami')).toBe('root')

  const { snapshot } = await customer.createSnapshot({ service_id: id, include_memory: true })
  const settled = async () =>
    (await customer.listSnapshots({ service_id: id, wait: 'settled', timeout: 50 })).items
  await vi.waitUntil(async () => (await settled())[0]?.status === 'ready', { timeout: 120_000 })
  await inside('echo lost >/root/kept; sync')
  await customer.restoreSnapshot({ service_id: id, snapshot_id: snapshot.id })
  await vi.waitUntil(async () => (await settled())[0]?.status === 'ready', { timeout: 120_000 })
  expect(await inside('cat /root/kept')).toBe('kept')
  await customer.deleteSnapshot({ service_id: id, snapshot_id: snapshot.id })

  const grown = await customer.changePlan({ service_id: id, target_plan: 'small-ip', confirm: true })
  expect(await took('change_plan', ended({ customer }, grown.operation))).toMatchObject({
    status: 'succeeded',
  })
  expect(await inside('nproc; df --output=size -BG / | tail -1 | tr -dc 0-9; cat /root/kept')).toMatch(
    /^2\n(39|40)kept$/,
  )

  const again = await customer.reinstallVps({ service_id: id, os_id: 1, confirm: 'web' })
  expect(await took('reinstall', ended({ customer }, again.operation))).toMatchObject({ status: 'succeeded' })
  expect(await inside('ls /root')).toBe('')
})

test('default: its serial console shows the login', async () => {
  const { url } = await customer.openConsole({ service_id: id, type: 'serial' })
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/socket`)
  let said = ''
  socket.on('message', (data) => {
    said += String(data)
  })
  await once(socket, 'open')
  const asksForName = () => {
    socket.send('\r')
    return /web login:/.test(said)
  }
  await vi.waitUntil(asksForName, { timeout: 60_000, interval: 1_000 })
  socket.close()
})

test('error: what the cluster lacks is refused with another way', async () => {
  await expect(customer.openConsole({ service_id: id, type: 'vnc' })).rejects.toMatchObject({
    code: 'unsupported',
  })
  await expect(customer.runOnVps({ service_id: id, command: 'true' })).rejects.toMatchObject({
    code: 'unsupported',
  })
})

test('behavior: a member that loses its power leaves its VPS where it is; with the power the VPS comes back, with its disk', async () => {
  await inside('echo survived >/root/kept; sync')
  const member = (await memberOf(id)).replace('node', '')
  await runCommand(LAB, ['kill', member])
  const state = async () => (await customer.getVpsStatus({ service_id: id, reveal: false })).ssh_ready
  await vi.waitUntil(async () => !(await state()), { timeout: 120_000, interval: 1_000 })
  await runCommand(LAB, ['start', member])
  await took('power back to SSH', waitForSsh(customer, id, { reveal: false }))
  expect(await inside('cat /root/kept')).toBe('survived')
  expect(await processesOf(id)).toHaveLength(1)
})

test('default: cancelled at once, its machine is gone, its disks are retained, and the rest is credited', async () => {
  const { credited } = await customer.cancelService({ service_id: id, mode: 'immediate', confirm: 'web' })
  expect(credited).toBeGreaterThan(0n)
  await vi.waitUntil(async () => (await processesOf(id)).length === 0, { timeout: 60_000, interval: 500 })
  const left = async () =>
    (await client.get<string[]>('/1.0/instances')).value
      .map((path) => path.split('?')[0]!.split('/').at(-1)!)
      .filter((name) => name.startsWith(instanceName(id)))
  await vi.waitUntil(async () => !(await left()).includes(instanceName(id)), {
    timeout: 60_000,
    interval: 500,
  })
  // Before the reinstall, and before the end.
  expect(await left()).toHaveLength(2)
})
