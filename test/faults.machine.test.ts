import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { isFirstBootPending, machineAt, runningPid } from '@coinrack/compute/machine/machine.ts'
import { withMonitor } from '@coinrack/compute/machine/monitor.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { Client } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Interruption, interrupt, interruptions, type Subject } from './support/interruptions.ts'
import { orderVps, tracesOf } from './support/one-vps.ts'
import { chargesOf, newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * Faults of a host, on one real machine, and how the service gets over them. One of the operations that a kill can come
 * into is chosen by the seed; all of them are in `faults.machine.full.test.ts`.
 */

vi.setConfig({ testTimeout: 10 * 60_000 })

const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 100_000))
const chosen = interruptions[seed % interruptions.length]! as Interruption
const chance = ((seed * 7919) % 1_000) / 1_000
const DEBIAN_12 = 1

describe('one machine', () => {
  let service: RunningService
  let folder: string
  let vps: Subject

  beforeAll(async () => {
    console.log(`COINRACK_TEST_SEED=${seed}`)
    service = await startService({ COINRACK_INSTANT_VPS: 'on' })
    folder = await mkdtemp('/tmp/coinrack-faults-')
    vps = await orderVps(service, folder, DEBIAN_12)
  }, 40 * 60_000)

  afterAll(async () => {
    await service?.stop()
    if (folder) await rm(folder, { recursive: true, force: true })
  }, 180_000)

  test('behavior: its QEMU killed, it comes up again with its disk', async () => {
    await vps.inside('echo kept >/root/kept; sync')
    const before = await vps.inside('cat /proc/sys/kernel/random/boot_id')
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    for (const pid of pids) {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      if (line.startsWith('qemu-system') && line.includes(vps.id)) process.kill(Number(pid), 'SIGKILL')
    }
    expect(await vps.inside('cat /root/kept; cat /proc/sys/kernel/random/boot_id')).toMatch(/^kept\n/)
    expect(await vps.inside('cat /proc/sys/kernel/random/boot_id')).not.toBe(before)
    expect(await vps.guests()).toBe(1)
    expect(await chargesOf(vps.customer)).toEqual({ charges: 1, held: 0n })
  })

  test('behavior: without its guest agent, what needs it says so, and all else goes on', async () => {
    const { customer, id } = vps
    await vps.inside('systemctl mask --runtime qemu-guest-agent 2>/dev/null; pkill -KILL qemu-ga; echo ok')
    await expect(customer.runOnVps({ service_id: id, command: 'true' })).rejects.toMatchObject({
      code: 'guest_unreachable',
    })
    await expect(customer.readVpsFile({ service_id: id, path: '/etc/hostname' })).rejects.toMatchObject({
      code: 'guest_unreachable',
    })
    const rules = [{ action: 'deny' as const, direction: 'in' as const, protocol: 'udp' as const }]
    await customer.setFirewall({ service_id: id, rules })
    await vi.waitUntil(async () => (await customer.getFirewall({ service_id: id })).applied, {
      timeout: 30_000,
      interval: 200,
    })
    const { snapshot } = await customer.createSnapshot({ service_id: id })
    const settled = async () =>
      (await customer.listSnapshots({ service_id: id, wait: 'settled', timeout: 50 })).items
    expect(await settled()).toMatchObject([{ id: snapshot.id, status: 'ready', consistency: 'crash' }])
    await customer.deleteSnapshot({ service_id: id, snapshot_id: snapshot.id })
    expect(await settled()).toEqual([])
    expect(await vps.inside('whoami')).toBe('root')
    await vps.inside('systemctl unmask --runtime qemu-guest-agent; systemctl start qemu-guest-agent; echo ok')
    expect(await customer.runOnVps({ service_id: id, command: 'echo back' })).toMatchObject({
      stdout: 'back\n',
    })
  })

  test(`behavior: killed in the middle of ${chosen.name}, the next service ends it`, () =>
    interrupt(service, vps, chosen, chance))

  test('behavior: nothing is left of it in the end', async () => {
    const { customer, id } = vps
    if (chosen.name !== 'cancel') {
      const { hostname } = await customer.getVpsStatus({ service_id: id, reveal: false })
      await customer.cancelService({ service_id: id, mode: 'immediate', confirm: hostname })
    }
    await vi.waitUntil(async () => (await tracesOf(service, id)).length === 0, {
      timeout: 30_000,
      interval: 300,
    })
  })
})

describe.skipIf(process.getuid?.() !== 0)('a full disk', () => {
  const DATA_FOLDER = `/tmp/coinrack-full-${process.pid}`
  let service: RunningService
  let customer: Client
  let id: string

  beforeAll(async () => {
    await runCommand('mkdir', ['-m', '711', DATA_FOLDER])
    // A size on paper: memory is taken for what is written alone.
    await runCommand('mount', ['-t', 'tmpfs', '-o', 'size=40g,mode=711', 'coinrack-full', DATA_FOLDER])
    service = await startService({ COINRACK_DATA: DATA_FOLDER })
  }, 40 * 60_000)

  afterAll(async () => {
    await service?.stop()
    await runCommand('umount', [DATA_FOLDER])
    await runCommand('rmdir', [DATA_FOLDER])
  }, 180_000)

  test('error: an order that was taken is given back whole, with the reason, and nothing of it stays', async () => {
    const customer = await newCustomer(service, '10')
    const { stdout } = await runCommand('df', ['--output=used', '-BM', DATA_FOLDER])
    const usedMb = Number(/(\d+)M/.exec(stdout)![1])
    // As soon as the machine is begun: the image that its disk builds on takes longer to copy, and more room.
    const begun = `until ls ${DATA_FOLDER}/machines/vps_* >/dev/null 2>&1; do sleep 0.01; done`
    const shrink = `mount -o remount,size=${usedMb + 80}m ${DATA_FOLDER}`
    const shrunk = runCommand('sh', ['-c', `${begun}; ${shrink}`])
    const order = await customer.orderVps({ product: 'nano', os_id: DEBIAN_12, hostname: 'full' })
    await shrunk
    await vi.waitUntil(
      async () => (await customer.getOrder({ order_id: order.id })).status !== 'provisioning',
      { timeout: 120_000, interval: 300 },
    )
    expect(await customer.getOrder({ order_id: order.id })).toMatchObject({
      status: 'failed',
      failure_reason: 'The host had no room for the machine',
    })
    expect(await customer.getBalance()).toMatchObject({ balance: 10_000_000n, held: 0n })
    const list = `ls ${DATA_FOLDER}/machines ${DATA_FOLDER}/base-images 2>/dev/null | grep -E '^vps_|part' || echo nothing`
    await vi.waitUntil(async () => (await runCommand('sh', ['-c', list])).stdout.trim() === 'nothing', {
      timeout: 20_000,
      interval: 300,
    })
  })

  test('behavior: with room again, the next order is a machine, also when its QEMU dies before delivery', async () => {
    await runCommand('mount', ['-o', 'remount,size=40g', DATA_FOLDER])
    customer = await newCustomer(service, '10')
    const order = await customer.orderVps({ product: 'nano', os_id: DEBIAN_12, hostname: 'room' })
    id = order.service_id!
    const guest = machineAt(`${DATA_FOLDER}/machines`, id)
    const isBooted = async () =>
      existsSync(guest.seed) && !(await isFirstBootPending(guest)) && (await runningPid(guest)) !== undefined
    await vi.waitUntil(isBooted, { timeout: 420_000, interval: 20 })
    process.kill((await runningPid(guest))!, 'SIGKILL')
    expect(await customer.getOrder({ order_id: order.id })).toMatchObject({ status: 'provisioning' })
    await vi.waitUntil(
      async () => (await customer.getVpsStatus({ service_id: id, reveal: false })).status === 'active',
      { timeout: 420_000, interval: 1_000 },
    )
  })

  test('behavior: a machine that writes while the disk is full stands still, and goes on with room', async () => {
    const { stdout } = await runCommand('df', ['--output=used', '-BM', DATA_FOLDER])
    const usedMb = Number(/(\d+)M/.exec(stdout)![1])
    await runCommand('mount', ['-o', `remount,size=${usedMb + 40}m`, DATA_FOLDER])
    const write = 'dd if=/dev/urandom of=/root/large bs=1M count=150 conv=fsync && stat -c %s /root/large'
    const command = `setsid sh -c '${write} >/root/written' >/dev/null 2>&1 </dev/null &`
    await customer.runOnVps({ service_id: id, command })
    const monitor = `${DATA_FOLDER}/machines/${id}/run/monitor.sock`
    // QEMU serves one client at a time, and the service is another.
    const status = () =>
      withMonitor(monitor, async ({ execute }) => {
        return (await execute<{ status: string }>('query-status')).status
      }).catch(() => 'busy')
    await vi.waitUntil(async () => (await status()) === 'io-error', {
      timeout: 120_000,
      interval: 200,
    })
    await runCommand('mount', ['-o', 'remount,size=40g', DATA_FOLDER])
    await vi.waitUntil(async () => (await status()) === 'running', { timeout: 60_000, interval: 200 })
    const read = async () =>
      (await customer.runOnVps({ service_id: id, command: 'cat /root/written' }).catch(() => undefined))
        ?.stdout
    await vi.waitUntil(async () => (await read()) === `${150 * 1024 ** 2}\n`, {
      timeout: 120_000,
      interval: 1_000,
    })
    await customer.cancelService({ service_id: id, mode: 'immediate', confirm: 'room' })
    await vi.waitUntil(async () => (await tracesOf(service, id)).length === 0, {
      timeout: 30_000,
      interval: 300,
    })
  })
})
