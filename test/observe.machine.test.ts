import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSshKey, runInGuest, sshArguments } from '@coinrack/cli/ssh.ts'
import { createQemuDriver } from '@coinrack/compute/local-vps/driver.ts'
import { vpsConsoleSuite } from '@coinrack/compute/ports/suites/console.suite.ts'
import { vpsSnapshotsSuite } from '@coinrack/compute/ports/suites/snapshot.suite.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { waitForSsh } from '@coinrack/sdk/index.ts'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { damageMemory } from './support/damage-snapshot.ts'
import { guestsOf, newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * One real machine, seen from all sides: its consoles in a real browser, its snapshots, what it used. All share one
 * boot; the ports' suites run on the same machine.
 */

vi.setConfig({ testTimeout: 6 * 60_000 })

const IMAGE = Number(process.env.COINRACK_TEST_OS_ID ?? 1)
const CHROMIUM = {
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
}

let service: RunningService
let folder: string
let browser: Browser
let customer: Awaited<ReturnType<typeof newCustomer>>
let id: string
let password: string
let ssh: string[]

beforeAll(async () => {
  service = await startService({ COINRACK_INSTANT_VPS: 'on' })
  folder = await mkdtemp('/tmp/coinrack-observe-')
  customer = await newCustomer(service, '10')
  const key = await makeSshKey(folder)
  const order = await customer.orderVps({
    product: 'nano',
    os_id: IMAGE,
    hostname: 'seen',
    ssh_key: key.publicKey,
  })
  id = order.service_id!
  const ready = await waitForSsh(customer, id)
  password = ready.root_password!
  ssh = await sshArguments(folder, key, ready.ssh)
  browser = await chromium.launch(CHROMIUM)
}, 40 * 60_000)

afterAll(async () => {
  await browser?.close()
  await service?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
}, 180_000)

/** Runs a command inside, as soon as SSH answers. */
async function inside(command: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runInGuest(ssh, command)
    } catch (error) {
      if (attempt === 60) throw error
      await sleep(2_000)
    }
  }
}
const write = (text: string) => inside(`echo '${text}' > /root/state`)
const read = () => inside('cat /root/state')

const driverHere = async () => {
  const cacheFolder =
    process.env.COINRACK_CACHE ??
    (process.getuid?.() === 0 ? '/var/cache/coinrack' : join(homedir(), '.cache/coinrack'))
  return createQemuDriver({
    dataFolder: service.dataFolder,
    cacheFolder,
    user: await serviceUser(),
    clock: { now: () => new Date() },
    log: { info: () => {} },
  })
}

async function openPage(type: 'serial' | 'vnc') {
  const { url } = await customer.openConsole({ service_id: id, type })
  const page = await (await browser.newContext({ viewport: { width: 1000, height: 700 } })).newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(url)
  await page.getByText(/^Connected/).waitFor()
  return { page, complaints, url }
}

const shown = async (page: Page) => (await page.locator('.xterm-rows > div').allTextContents()).join('\n')
async function waitForText(page: Page, wanted: RegExp, typed?: string) {
  for (let attempt = 0; attempt < 60; attempt++) {
    if (wanted.test(await shown(page))) return
    if (typed !== undefined) await page.keyboard.press(typed)
    await sleep(1_000)
  }
  throw new Error(`The terminal shows:\n${await shown(page)}`)
}

test('default: logs in on the serial console in a browser, and sees the prompt', async () => {
  const { page, complaints, url } = await openPage('serial')
  await waitForText(page, /seen login:/, 'Enter')
  await page.keyboard.type('root\n')
  await waitForText(page, /Password:/)
  await page.keyboard.type(`${password}\n`)
  await waitForText(page, /root@seen:~#/)
  await page.keyboard.type('echo $((6 * 7)) is the answer\n')
  await waitForText(page, /42 is the answer/)
  await page.keyboard.type('exit\n')
  expect(complaints).toEqual([])
  await page.close()
  expect((await fetch(url)).status).toBe(404)
})

test('default: the screen in a browser is not black', async () => {
  const { page, complaints } = await openPage('vnc')
  const canvas = page.locator('#console canvas')
  await canvas.waitFor()
  const litPixels = () =>
    canvas.evaluate((element) => {
      const { width, height } = element as HTMLCanvasElement
      // Until the screen says how large it is.
      if (width === 0 || height === 0) return 0
      // Chromium warns in the console of a page whose canvas is read again and again: a copy is read.
      const copy = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')!
      copy.drawImage(element as HTMLCanvasElement, 0, 0)
      const { data } = copy.getImageData(0, 0, width, height)
      let lit = 0
      for (let at = 0; at < data.length; at += 4) if (data[at]! + data[at + 1]! + data[at + 2]! > 96) lit++
      return lit
    })
  await vi.waitUntil(async () => (await litPixels()) > 500, { timeout: 30_000, interval: 500 })
  expect(complaints).toEqual([])
  await page.close()
})

test('default: what the machine uses shows in its metrics', async () => {
  await inside('dd if=/dev/zero of=/root/block bs=1M count=32 conv=fsync 2>/dev/null; rm /root/block')
  const seriesOf = async () => {
    const { series } = await customer.getVpsMetrics({ service_id: id, range: '1h' })
    return Object.fromEntries(series.map(({ name, points }) => [name, points.map(([, value]) => value!)]))
  }
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  // The use of the processor is known a step later: it takes two answers.
  const { cpu_percent } = await vi.waitUntil(
    async () => {
      const series = await seriesOf()
      return sum(series.disk_write_bytes!) >= 32 * 1024 ** 2 && series.cpu_percent!.length > 0 && series
    },
    { timeout: 120_000, interval: 2_000 },
  )
  expect(Math.max(...cpu_percent!)).toBeGreaterThan(0)
  expect(Math.min(...cpu_percent!)).toBeGreaterThanOrEqual(0)
  // One processor, also in the minutes after its start.
  expect(Math.max(...cpu_percent!)).toBeLessThanOrEqual(100)
  const used = Number(await inside("free -m | awk '/^Mem/ { print $3 }'"))
  await vi.waitUntil(async () => Math.abs((await seriesOf()).memory_used_mb!.at(-1)! - used) < 25, {
    timeout: 120_000,
    interval: 2_000,
  })
  await vi.waitUntil(
    async () => {
      const { metrics } = await customer.getVpsStatus({ service_id: id, reveal: false })
      return Math.abs(metrics.memory_used_mb! - used) < 25 && metrics.cpu_percent! <= 100
    },
    { timeout: 60_000, interval: 2_000 },
  )
})

test('behavior: killed in the middle of a restore, the next service finishes it', async () => {
  await write('before')
  await inside('nohup sleep 100000 > /dev/null 2>&1 & echo $! > /run/program')
  const { snapshot } = await customer.createSnapshot({ service_id: id, include_memory: true })
  const settled = async () =>
    (await customer.listSnapshots({ service_id: id, wait: 'settled', timeout: 50 })).items
  expect(await settled()).toMatchObject([{ id: snapshot.id, status: 'ready', consistency: 'memory' }])
  for (const killAfterMs of [150, 900]) {
    await write('after')
    await customer.restoreSnapshot({ service_id: id, snapshot_id: snapshot.id })
    await sleep(killAfterMs)
    await service.kill()
    await service.start()
    expect(await settled()).toMatchObject([{ status: 'ready', failure_reason: null }])
    expect(await guestsOf(id)).toBe(1)
    expect(await read()).toBe('before')
    expect(await inside('kill -0 $(cat /run/program) && echo runs')).toBe('runs')
  }
  await customer.deleteSnapshot({ service_id: id, snapshot_id: snapshot.id })
  expect(await settled()).toEqual([])
})

const featuresHere = async () => (await (await driverHere()).inventory()).features
vpsConsoleSuite('QEMU', async () => ({
  console: (await driverHere()).console,
  features: await featuresHere(),
  id,
}))

vpsSnapshotsSuite('QEMU', async () => ({
  snapshots: (await driverHere()).snapshots,
  features: await featuresHere(),
  id,
  write: async (text) => void (await write(text)),
  read,
  startProgram: async () =>
    void (await inside('nohup sleep 100000 > /dev/null 2>&1 & echo $! > /run/program')),
  programRuns: async () =>
    (await inside('kill -0 $(cat /run/program) 2>/dev/null && echo runs; true')) === 'runs',
  damage: (snapshotId) => damageMemory(join(service.dataFolder, 'machines', id, 'disk.qcow2'), snapshotId),
}))

test('behavior: nothing is left after the cancel', async () => {
  await customer.createSnapshot({ service_id: id })
  await customer.cancelService({ service_id: id, mode: 'immediate', confirm: 'seen' })
  await vi.waitUntil(async () => (await guestsOf(id)) === 0, { timeout: 60_000, interval: 500 })
  const list = async () => (await customer.listSnapshots({ service_id: id })).items
  await vi.waitUntil(async () => (await list()).every(({ reason, status }) => reason && status === 'ready'), {
    timeout: 20_000,
    interval: 500,
  })
  for (const kept of await list()) await customer.deleteSnapshot({ service_id: id, snapshot_id: kept.id })
  await vi.waitUntil(async () => (await list()).length === 0, { timeout: 20_000, interval: 500 })
  expect(await readdir(join(service.dataFolder, 'kept-disks'))).toEqual([])
})
