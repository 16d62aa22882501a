import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSshKey, runInGuest, sshArguments } from '@coinrack/cli/ssh.ts'
import { type Client, waitForSsh } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { byPassword as byRootPassword, ended as endOf, revealed as revealedOnce } from './support/one-vps.ts'
import { chargesOf, guestsOf, isClone, newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * All that an owner can do with a running VPS, on one real machine, which is a clone, each looked at from the inside by ssh. The service is
 * killed in the middle of what takes long.
 */

vi.setConfig({ testTimeout: 15 * 60_000 })

const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 100_000))
/** A change of size or disk takes longer than that on a machine with emulation. */
const KILL_WITHIN_MS = 15_000

let service: RunningService
let folder: string
let customer: Client
let id: string
let key: Awaited<ReturnType<typeof makeSshKey>>

beforeAll(async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  service = await startService({ COINRACK_INSTANT_VPS: 'on' })
  folder = await mkdtemp('/tmp/coinrack-control-')
  customer = await newCustomer(service, '50')
  key = await makeSshKey(folder)
  const order = await customer.orderVps({
    product: 'nano',
    os_id: 1,
    ssh_key: key.publicKey,
    hostname: 'web',
  })
  id = order.service_id!
  await took('order to SSH', waitForSsh(customer, id, { reveal: false }))
  expect(await isClone(id)).toBe(true)
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
}, 180_000)

/** User data as a buyer would send it, without anything that takes a network. */
const userData = `#cloud-config
write_files:
  - path: /etc/motd
    permissions: '0640'
    content: from user data
users:
  - name: deploy
    shell: /bin/bash
runcmd:
  - echo "run $(id -un)" >> /root/runs
`
const userDataSeen =
  '[ ! -e /var/lib/cloud/seed/nocloud ] || exit 1; stat -c %a /etc/motd; cat /etc/motd /root/runs; id -nG deploy'
const userDataDone = '640\nfrom user datarun root\ndeploy'

const shown = () => customer.getVpsStatus({ service_id: id, reveal: false })
const inside = async (command: string) =>
  (await runInGuest(await sshArguments(folder, key, (await shown()).ssh), command)).trim()
const byPassword = (password: string, command: string) =>
  byRootPassword({ customer, id }, folder, password, command)
const ended = (operation: { id: string }) => endOf({ customer }, operation)
const revealed = () => revealedOnce({ customer, id })
const power = async (action: 'start' | 'stop' | 'reboot') =>
  ended((await customer.powerVps({ service_id: id, action })).operation)
/** SIGKILL of the service at a moment that follows from the seed. */
async function killOnce(salt: number): Promise<void> {
  const afterMs = (seed * 7919 + salt * 4447) % KILL_WITHIN_MS
  console.log(`SIGKILL after ${afterMs} ms`)
  await sleep(afterMs)
  await service.kill()
  await service.start()
}
const took = async <T>(what: string, work: Promise<T>): Promise<T> => {
  const begun = performance.now()
  const result = await work
  console.log(`${what}: ${((performance.now() - begun) / 1000).toFixed(2)} s`)
  return result
}

test('default: a command runs inside, and says what it wrote and how it ended', async () => {
  const answer = await took(
    'exec',
    customer.runOnVps({
      service_id: id,
      command: 'cat; echo "$WHO in $PWD"; echo oops >&2; exit 3',
      cwd: '/tmp',
      env: { WHO: 'ada' },
      input: 'from outside\n',
    }),
  )
  expect(answer).toMatchObject({
    stdout: 'from outside\nada in /tmp\n',
    stderr: 'oops\n',
    exit_code: 3,
    timed_out: false,
    truncated: false,
  })
  const late = await customer.runOnVps({ service_id: id, command: 'echo before; sleep 60', timeout: 10 })
  expect(late).toMatchObject({ stdout: 'before\n', exit_code: null, timed_out: true })
  expect(await inside('pgrep -x sleep || echo none')).toBe('none')
})

/** A slow guest gives less at once: the rest follows from where it stopped. */
async function readWhole(path: string): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let offset = 0; ; ) {
    const read = await customer.readVpsFile({ service_id: id, path, offset })
    parts.push(
      Buffer.from(read.content_base64 ?? read.content ?? '', read.content_base64 ? 'base64' : 'utf8'),
    )
    offset += read.length
    if (read.eof) return Buffer.concat(parts)
  }
}

test('default: files go in and out unchanged', async () => {
  const bytes = randomBytes(2_000_000)
  const path = "/root/a file's name"
  const written = await took(
    'write 2 MB',
    customer.writeVpsFile({ service_id: id, path, content_base64: bytes.toString('base64') }),
  )
  expect(written).toEqual({ path, size: bytes.length })
  const digest = createHash('sha256').update(bytes).digest('hex')
  expect(await inside(`sha256sum <"${path}"`)).toContain(digest)
  expect((await took('read 2 MB', readWhole(path))).equals(bytes)).toBe(true)
  await expect(customer.readVpsFile({ service_id: id, path: '/root/none' })).rejects.toMatchObject({
    status: 404,
    code: 'file_not_found',
  })
})

test('default: the name changes at once, and stays after a reboot', async () => {
  const { operation } = await customer.setHostname({ service_id: id, hostname: 'shop.my-domain.net' })
  expect(await took('set_hostname', ended(operation))).toMatchObject({ status: 'succeeded' })
  const names = 'hostname; cat /etc/hostname; getent hosts shop.my-domain.net shop | cut -c1-9'
  const expected = 'shop.my-domain.net\nshop.my-domain.net\n127.0.1.1\n127.0.1.1'
  expect(await inside(names)).toBe(expected)
  expect(await took('reboot', power('reboot'))).toMatchObject({ status: 'succeeded' })
  expect(await inside(names)).toBe(expected)
})

test('default: a new root password holds at once, and is shown once', async () => {
  const first = await revealed()
  const { operation } = await customer.resetPassword({ service_id: id })
  expect(await took('reset_password', ended(operation))).toMatchObject({ status: 'succeeded' })
  const second = await revealed()
  expect(second).not.toBe(first)
  expect(await byPassword(second, 'whoami')).toBe('root')
  await expect(byPassword(first, 'whoami')).rejects.toThrow()
})

test('behavior: without its agent the machine takes a password over at its next boot', async () => {
  await inside('systemctl mask --now qemu-guest-agent.service 2>/dev/null; echo ok')
  await expect(customer.runOnVps({ service_id: id, command: 'true' })).rejects.toMatchObject({
    code: 'guest_unreachable',
  })
  const { operation } = await customer.resetPassword({ service_id: id })
  const waiting = await customer.getOperation({ operation_id: operation.id, wait: 'done', timeout: 12 })
  expect(waiting).toMatchObject({ status: 'running', progress: expect.stringContaining('next boot') })
  await power('reboot')
  expect(await ended(operation)).toMatchObject({ status: 'succeeded' })
  const password = await revealed()
  expect(await byPassword(password, 'whoami')).toBe('root')
  await inside('systemctl unmask qemu-guest-agent.service; systemctl start qemu-guest-agent; echo ok')
})

test('behavior: a system that nobody can enter any more is repaired in rescue', async () => {
  await power('start')
  await waitForSsh(customer, id, { reveal: false })
  const before = await shown()
  await inside(
    'echo "/dev/vdz1 /gone ext4 defaults 0 2" >> /etc/fstab; echo Nonsense yes > /etc/ssh/sshd_config; echo ok',
  )
  await power('stop')
  const entered = await customer.rescueVps({ service_id: id, enabled: true })
  expect(await took('rescue', ended(entered.operation))).toMatchObject({
    kind: 'enter_rescue',
    status: 'succeeded',
  })
  expect(await shown()).toMatchObject({ status: 'active', rescue: true, ssh: before.ssh })
  const repair =
    'mount /dev/vdb1 /mnt; sed -i /vdz1/d /mnt/etc/fstab; cp /etc/ssh/sshd_config /mnt/etc/ssh/; tail -1 /mnt/etc/fstab | cut -c1-9; cat /mnt/etc/hostname; hostname'
  const expected = `/dev/vda1\n${before.hostname}\nrescue`
  expect(await inside(repair)).toBe(expected)
  // Without an SSH client it is the same system.
  const { stdout } = await customer.runOnVps({
    service_id: id,
    command: 'hostname; umount /mnt; lsblk -dno NAME',
  })
  // The third is its seed, which is wiped, until its next start.
  expect(stdout).toBe('rescue\nvda\nvdb\nvdc\n')
  const left = await customer.rescueVps({ service_id: id, enabled: false })
  expect(await took('leave rescue', ended(left.operation))).toMatchObject({ status: 'succeeded' })
  expect(await inside('hostname')).toBe(before.hostname)
  expect(await shown()).toMatchObject({ status: 'active', rescue: false, ssh: before.ssh })
  expect(await guestsOf(id)).toBe(1)
})

test('behavior: off, a password and a name wait for the next start', async () => {
  await power('stop')
  expect(await guestsOf(id)).toBe(0)
  const reset = await customer.resetPassword({ service_id: id })
  const named = await customer.setHostname({ service_id: id, hostname: 'night' })
  expect(reset.operation.status).toBe('running')
  expect(await power('start')).toMatchObject({ status: 'succeeded' })
  await waitForSsh(customer, id, { reveal: false })
  expect(await ended(reset.operation)).toMatchObject({ status: 'succeeded' })
  expect(await ended(named.operation)).toMatchObject({ status: 'succeeded' })
  expect(await byPassword(await revealed(), 'hostname')).toBe('night')
  expect(await inside('getent hosts night | cut -c1-9')).toBe('127.0.1.1')
})

test('behavior: killed while it grows, the machine has its new size and was charged once', async () => {
  const sizes =
    "nproc; awk '/MemTotal/{print int($2/1024)}' /proc/meminfo; df --output=size -BM / | tail -1 | tr -dc 0-9"
  const [, , diskBefore] = (await inside(sizes)).split('\n').map(Number)
  const { options } = await customer.getUpgradeOptions({ service_id: id })
  const target = options.find(({ target_plan }) => target_plan === 'small')!
  const before = await chargesOf(customer)
  const { balance } = await customer.getBalance()
  const answer = await customer.changePlan({ service_id: id, target_plan: 'small', confirm: true })
  expect(answer.charged).toBeGreaterThan(0n)
  expect(answer.charged).toBeLessThanOrEqual(target.charge_now)
  await killOnce(1)
  expect(await took('change_plan', ended(answer.operation))).toMatchObject({ status: 'succeeded' })
  const [vcpus, memoryMb, diskMb] = (await inside(sizes)).split('\n').map(Number)
  expect(vcpus).toBe(target.vcpus)
  expect(memoryMb).toBeGreaterThan(target.memory_mb * 0.8)
  expect(diskMb).toBeGreaterThan(target.disk_gb * 1024 * 0.9)
  expect(diskMb).toBeGreaterThan(diskBefore!)
  expect(await chargesOf(customer)).toEqual({ charges: before.charges + 1, held: 0n })
  expect((await customer.getBalance()).balance).toBe(balance - answer.charged)
  expect(await guestsOf(id)).toBe(1)
  expect(await inside('sha256sum <"/root/a file\'s name" | wc -l')).toBe('1')
})

test('behavior: killed while it is reinstalled, the machine is another one at the same address', async () => {
  const before = await shown()
  await expect(customer.reinstallVps({ service_id: id, os_id: 2, confirm: 'wrong' })).rejects.toMatchObject({
    code: 'confirmation_required',
  })
  const { operation, service: reinstalling } = await customer.reinstallVps({
    service_id: id,
    os_id: 2,
    confirm: 'DELETE',
    user_data: userData,
  })
  expect(reinstalling).toMatchObject({ status: 'reinstalling', ssh_ready: false })
  await killOnce(2)
  expect(await took('reinstall', ended(operation))).toMatchObject({ status: 'succeeded' })
  const after = await shown()
  expect(after.ssh).toEqual(before.ssh)
  expect(after.os.os_id).toBe(2)
  expect(await inside('. /etc/os-release; echo $VERSION_CODENAME; ls /root | grep -v runs; hostname')).toBe(
    'trixie\nnight',
  )
  expect(await byPassword(await revealed(), 'whoami')).toBe('root')
  expect(await guestsOf(id)).toBe(1)
})

test('default: user data wrote a file, made a user and ran a command', async () => {
  const done = vi.waitFor(() => inside(userDataSeen), { timeout: 5 * 60_000, interval: 2_000 })
  expect(await took('user data', done)).toBe(userDataDone)
})

test('behavior: the new system can be talked to as well', async () => {
  const answer = await customer.runOnVps({
    service_id: id,
    command: 'head -c 2000000 /dev/zero; hostname >&2',
  })
  expect(answer).toMatchObject({ stderr: 'night\n', exit_code: 0, truncated: true })
  expect(answer.stdout).toHaveLength(1024 * 1024)
})

/** Brings back the disk that was kept before the machine lost it. */
async function restored(reason: 'reinstall' | 'cancel') {
  const { items } = await customer.listSnapshots({ service_id: id, wait: 'settled', timeout: 50 })
  const kept = items.find((snapshot) => snapshot.reason === reason)
  expect(kept).toMatchObject({ status: 'ready', consistency: 'guest' })
  await customer.restoreSnapshot({ service_id: id, snapshot_id: kept!.id })
  await killOnce(3)
  await waitForSsh(customer, id, { reveal: false })
}

test('behavior: the old disk can be had back after the reinstall, and after a cancellation; killed meanwhile', async () => {
  const before = await shown()
  await took('restore after reinstall', restored('reinstall'))
  const look = `. /etc/os-release; echo $VERSION_CODENAME; sha256sum <"/root/a file's name" | wc -l; hostname`
  expect(await inside(look)).toBe('bookworm\n1\nnight')
  expect((await shown()).ssh).toEqual(before.ssh)
  const { operation } = await customer.cancelService({ service_id: id, mode: 'immediate', confirm: 'night' })
  expect(await ended(operation)).toMatchObject({ status: 'succeeded' })
  expect(await guestsOf(id)).toBe(0)
  await took('restore after cancellation', restored('cancel'))
  expect(await inside(look)).toBe('bookworm\n1\nnight')
  expect(await shown()).toMatchObject({ status: 'active', ssh: before.ssh })
  expect(await guestsOf(id)).toBe(1)
})

test('behavior: nothing is left after the end', async () => {
  const { operation } = await customer.cancelService({ service_id: id, mode: 'immediate', confirm: 'night' })
  expect(await ended(operation)).toMatchObject({ kind: 'cancel', status: 'succeeded' })
  expect(await guestsOf(id)).toBe(0)
})
