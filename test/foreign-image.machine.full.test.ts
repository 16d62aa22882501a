import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type FileServer,
  makePublisher,
  type Publisher,
  startFileServer,
} from '@coinrack/compute/images/added/testing.ts'
import { findDebianMirror } from '@coinrack/compute/images/debian-mirror.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { waitForSsh } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Subject } from './support/interruptions.ts'
import { byPassword, ended, orderVps, revealed } from './support/one-vps.ts'
import { newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * A disk as distributions publish them, with nothing of ours in it, not even a guest agent: fetched, proved, ordered,
 * and all done with it that an owner can do.
 */

vi.setConfig({ testTimeout: 30 * 60_000 })

/** An image that exists already, for developers who work on this. */
const readyMade = process.env.COINRACK_TEST_FOREIGN_IMAGE
const makeScript = join(import.meta.dirname, '../packages/compute/src/images/added/testing-foreign-image.sh')
const DEBIAN_12 = 1
const MOST_ATTEMPTS = 4

let folder: string
let server: FileServer
let publisher: Publisher
let service: RunningService
let vps: Subject
let osId: number

beforeAll(async () => {
  folder = await mkdtemp('/tmp/coinrack-foreign-')
  const disk = readyMade ?? join(folder, 'published.qcow2')
  if (!readyMade) await runCommand('sh', [makeScript, (await findDebianMirror()).main, disk])
  const body = await readFile(disk)
  const list = `${createHash('sha512').update(body).digest('hex')}  published.qcow2\n`
  server = await startFileServer()
  publisher = await makePublisher()
  const cut = { afterBytes: body.length >> 1, times: 1 }
  server.files.set('published.qcow2', { body, etag: '"1"', cut })
  server.files.set('SHA512SUMS', { body: Buffer.from(list) })
  server.files.set('SHA512SUMS.gpg', { body: await publisher.detached(list) })
  service = await startService({ COINRACK_ADDRESS_IPV6: '2001:db8:70:70::/64' })
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
  await Promise.all([server?.close(), publisher?.close()])
  if (folder) await rm(folder, { recursive: true })
}, 180_000)

const userData = `#cloud-config
bootcmd: ["echo boot >> /root/boots"]
runcmd: ["echo run >> /root/runs"]
users: [{name: deploy, shell: /bin/bash}]
`
/** As its owner hands it over elsewhere: a message of two parts. */
const userDataMessage = `Content-Type: multipart/mixed; boundary="between"
MIME-Version: 1.0

--between
Content-Type: text/x-shellscript

#!/bin/sh
echo "$(id -un)" >> /root/runs
--between
Content-Type: text/cloud-config

#cloud-config
write_files: [{path: /root/written, content: by cloud-config}]
--between--
`

const shown = () => vps.customer.getVpsStatus({ service_id: vps.id, reveal: false })
/** As soon as SSH answers: a boot takes minutes on a busy host that emulates. */
async function inside(command: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await vps.inside(command)
    } catch (error) {
      if (attempt === MOST_ATTEMPTS) throw error
    }
  }
}
const ready = () => waitForSsh(vps.customer, vps.id, { reveal: false })
const operatorJson = async (...args: string[]) => JSON.parse(await service.operator(...args, '--json'))
const power = async (action: 'stop' | 'start' | 'reboot') =>
  ended(vps, (await vps.customer.powerVps({ service_id: vps.id, action })).operation)
/** By the root password that is shown now. */
const byShownPassword = async (command: string) => byPassword(vps, folder, await revealed(vps), command)
const BOOT = 'cat /proc/sys/kernel/random/boot_id'
/** The identity that stays the same for as long as the disk does. */
const IDENTITY =
  'cat /etc/machine-id /etc/hostname; hostname; ls /var/lib/cloud/instances; cat /etc/ssh/ssh_host_ed25519_key.pub'
/** How often user data did what it does, when it is through. */
const RUNS = 'cloud-init status --wait >/dev/null; wc -l </root/runs'

test('error: before it was added it cannot be ordered', async () => {
  const customer = await newCustomer(service, '50')
  await expect(customer.orderVps({ product: 'nano', os_id: 1000 })).rejects.toMatchObject({
    code: 'os_not_supported',
  })
})

test('default: added while the service runs, it is offered at once', async () => {
  const image = await operatorJson(
    ...['image', 'add', 'foreign-13', '--name', 'Foreign 13', '--url', `${server.url}/published.qcow2`],
    ...['--checksums', `${server.url}/SHA512SUMS`, '--signature', `${server.url}/SHA512SUMS.gpg`],
    ...['--key', publisher.keyFile],
  )
  expect(image).toMatchObject({ id: 'foreign-13', disk_gb: 2, signed_by: publisher.fingerprint })
  expect(server.ranges.at(-1)).toMatch(/^bytes=[1-9]/)
  osId = image.os_id
  const { items } = await (await newCustomer(service, '50')).listPlans({})
  expect(items.find(({ slug }) => slug === 'nano')!.os_images).toContainEqual(
    expect.objectContaining({ os_id: osId, name: 'Foreign 13', available: true }),
  )
})

test('default: ordered, it lets its owner in by key and by password, under the printed host key', async () => {
  vps = await orderVps(service, folder, osId, undefined, { user_data: userData })
  expect(await inside('hostname; ls /home')).toMatch(/^web\n/)
  expect(await byShownPassword('whoami')).toBe('root')
})

test('default: it has its addresses, and its root reaches to the end of the disk', async () => {
  const { ipv6 } = await shown()
  expect(await inside('ip -4 -o addr show scope global')).toContain(' 10.0.2.15/24 ')
  expect(await inside('ip -6 -o addr show scope global')).toContain(` ${ipv6}/128 `)
  expect(await inside('ip -6 route show default')).toContain('via fe80::1 ')
  expect(Number(await inside("df --output=size -BM / | tail -1 | tr -dc '0-9'"))).toBeGreaterThan(9_000)
})

test('default: its seed is wiped, and cloud-init was told no secret of ours', async () => {
  const seed = await readFile(join(service.dataFolder, 'machines', vps.id, 'seed.tar'))
  expect(seed.every((byte) => byte === 0)).toBe(true)
  expect(await inside("grep -rlE 'PRIVATE KEY|[$]6[$]' /var/lib/cloud /run/cloud-init || echo none")).toBe(
    'none',
  )
})

test('default: user data made a user and ran its commands, each as often as cloud-init says', async () => {
  expect(await inside(`${RUNS}; id -nG deploy`)).toBe('1\ndeploy')
  expect(await inside('wc -l </root/boots')).toBe('1')
  expect(await inside('cloud-init status --long | grep -E "WARN|ERR" || echo fine')).toBe('fine')
})

test('behavior: rebooted from inside and by the service it stays the same machine', async () => {
  const before = await inside(IDENTITY)
  const boot = await inside(BOOT)
  await inside('systemd-run --on-active=1 systemctl reboot; true')
  while ((await inside(BOOT)) === boot) await sleep(1_000)
  expect(await inside(IDENTITY)).toBe(before)
  expect(await power('reboot')).toMatchObject({ status: 'succeeded' })
  expect(await inside(IDENTITY)).toBe(before)
  expect(await inside(RUNS)).toBe('1')
  expect(await inside('wc -l </root/boots')).toBe('3')
})

test('behavior: without an agent it cannot be told a command, and takes a password over at its next boot', async () => {
  const { customer, id } = vps
  await expect(customer.runOnVps({ service_id: id, command: 'true' })).rejects.toMatchObject({
    code: 'guest_unreachable',
  })
  const before = await inside(IDENTITY)
  const { operation } = await customer.resetPassword({ service_id: id })
  const waiting = await customer.getOperation({ operation_id: operation.id, wait: 'done', timeout: 12 })
  expect(waiting).toMatchObject({ status: 'running', progress: expect.stringContaining('next boot') })
  await power('reboot')
  expect(await ended(vps, operation)).toMatchObject({ status: 'succeeded' })
  expect(await byShownPassword('whoami')).toBe('root')
  expect(await inside(IDENTITY)).toBe(before)
})

test.each([
  ['disk', false, 'crash'],
  ['memory', true, 'memory'],
])('behavior: a snapshot of its %s can be gone back to', async (name, memory, consistency) => {
  const { customer, id } = vps
  await inside(`echo ${name} >/root/state; sync`)
  await customer.createSnapshot({ service_id: id, name, include_memory: memory })
  const settled = async () =>
    (await customer.listSnapshots({ service_id: id, wait: 'settled', timeout: 50 })).items
  const snapshot = (await settled()).find((item) => item.name === name)
  expect(snapshot).toMatchObject({ status: 'ready', consistency })
  await inside('echo later >/root/state; sync')
  await customer.restoreSnapshot({ service_id: id, snapshot_id: snapshot!.id })
  await settled()
  await ready()
  expect(await inside('cat /root/state')).toBe(name)
  await customer.deleteSnapshot({ service_id: id, snapshot_id: snapshot!.id })
  await settled()
})

test('behavior: Debian rescues it, with its disk as the second one', async () => {
  const { customer, id } = vps
  const before = await inside(IDENTITY)
  const entered = await customer.rescueVps({ service_id: id, enabled: true })
  expect(await ended(vps, entered.operation)).toMatchObject({ status: 'succeeded' })
  expect(await inside('hostname; mount /dev/vdb1 /mnt; cat /mnt/etc/hostname; umount /mnt')).toBe(
    'rescue\nweb',
  )
  const left = await customer.rescueVps({ service_id: id, enabled: false })
  expect(await ended(vps, left.operation)).toMatchObject({ status: 'succeeded' })
  expect(await inside(IDENTITY)).toBe(before)
})

const reinstall = async (os_id: number, user_data?: string) => {
  const { operation } = await vps.customer.reinstallVps({
    ...{ service_id: vps.id, os_id, confirm: 'DELETE' },
    ...(user_data && { user_data }),
  })
  return ended(vps, operation)
}

test('behavior: reinstalled with Debian 12 and from there with it, and its first disk brought back', async () => {
  const { customer, id } = vps
  const { ssh, ipv6 } = await shown()
  const before = await inside(IDENTITY)
  expect(await reinstall(DEBIAN_12)).toMatchObject({ status: 'succeeded' })
  const system = '. /etc/os-release; echo $VERSION_CODENAME; ls /root'
  expect(await inside(system)).toBe('bookworm')

  const { items } = await customer.listSnapshots({ service_id: id, wait: 'settled', timeout: 50 })
  const kept = items.find(({ reason }) => reason === 'reinstall')
  expect(await reinstall(osId, userDataMessage)).toMatchObject({ status: 'succeeded' })
  expect(await inside(`${RUNS}; cat /root/runs /root/written`)).toBe('1\nroot\nby cloud-config')
  const anew = await inside(IDENTITY)
  expect(anew.split('\n')[0]).not.toBe(before.split('\n')[0])
  expect(anew.split('\n').at(-1)).toBe(before.split('\n').at(-1))
  expect(await shown()).toMatchObject({ ssh, ipv6, os: { os_id: osId } })
  expect(await byShownPassword('whoami')).toBe('root')

  await customer.restoreSnapshot({ service_id: id, snapshot_id: kept!.id })
  await ready()
  expect(await inside(IDENTITY)).toBe(before)
  expect(await inside(RUNS)).toBe('1')
})

test('behavior: it is not removed while a machine needs it, and then is offered no more', async () => {
  const { customer, id } = vps
  await expect(service.operator('image', 'remove', 'foreign-13')).rejects.toThrow(/machines made from it: 1/)
  const { operation } = await customer.cancelService({ service_id: id, mode: 'immediate', confirm: 'web' })
  expect(await ended(vps, operation)).toMatchObject({ status: 'succeeded' })
  await service.operator('image', 'remove', 'foreign-13')
  expect(await operatorJson('image', 'list')).toEqual([])
  await expect(customer.orderVps({ product: 'nano', os_id: osId })).rejects.toMatchObject({
    code: 'os_not_supported',
  })
})
