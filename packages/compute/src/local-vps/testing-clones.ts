import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import type { VpsSpec } from '../ports/vps-driver.ts'
import { createQemuDriver, type QemuDriver, type QemuDriverOptions } from './driver.ts'
import type { SshAccess } from './testing.ts'

/** A folder that the service user can reach. */
export async function makeDataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-vps-'))
  await runCommand('chmod', ['755', folder])
  return folder
}

/** A driver that makes clones wherever it can, and what it had to say. */
export async function makeCloningDriver(
  options: Pick<QemuDriverOptions, 'dataFolder' | 'cacheFolder' | 'clock'> & Partial<QemuDriverOptions>,
): Promise<{ driver: QemuDriver; said: string[] }> {
  const said: string[] = []
  const log = { info: (_: object, message: string) => void said.push(message) }
  const user = await serviceUser()
  return { driver: createQemuDriver({ user, log, instant: 'on', templateNiceness: 0, ...options }), said }
}

/** Wants the machine until SSH answers. */
export async function makeReady(driver: QemuDriver, spec: VpsSpec): Promise<void> {
  for (;;) {
    await driver.ensure(spec)
    if ((await driver.observe(spec.id)).sshReady) return
    await sleep(100)
  }
}

/** The values that no two machines may share, as a shell inside prints them: a name and a value on each line. */
const SHOW_SECRETS = `
show() { echo "$1: $2"; }
show 'ssh host key' "$(cut -d' ' -f2 /etc/ssh/ssh_host_ed25519_key.pub)"
show 'machine-id' "$(cat /etc/machine-id)"
show 'machine-id of dbus' "$(cat /var/lib/dbus/machine-id)"
show 'boot_id' "$(cat /proc/sys/kernel/random/boot_id)"
show 'hardware address' "$(cat /sys/class/net/e*/address)"
show 'urandom' "$(head -c 16 /dev/urandom | od -An -tx1)"
show 'uuid' "$(cat /proc/sys/kernel/random/uuid)"
show 'random of a new process' "$(python3 -c 'import os; print(os.getrandom(16).hex(), hash("a"))')"
show 'random of perl' "$(perl -e 'print rand')"
show 'key made inside' "$(rm -f /tmp/key; ssh-keygen -q -t ed25519 -N '' -C '' -f /tmp/key; cut -d' ' -f2 /tmp/key.pub)"
show 'password hash' "$(getent shadow root | cut -d: -f2)"
show 'random seed' "$(sha256sum </var/lib/systemd/random-seed)"
show 'host name' "$(hostname)"
`

/** By the name of each secret. */
export async function secretsOf(access: SshAccess): Promise<Map<string, string>> {
  const lines = (await access.byKey(SHOW_SECRETS)).split('\n')
  return new Map(lines.map((line) => line.split(': ') as [string, string]))
}

/** The process ids of every QEMU that was started for the machine. */
export async function processesOf(id: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    const line = /^\d+$/.test(name) ? await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '') : ''
    if (line.startsWith('qemu-system') && line.includes(`\0${id},`)) found.push(Number(name))
  }
  return found
}

/** Whether the machine's QEMU was started as a clone. */
export async function runsAsClone(id: string): Promise<boolean> {
  const [pid] = await processesOf(id)
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes('\0-incoming\0')
}

const CHILD = `
import { readFileSync } from 'node:fs'
import { makeCloningDriver, makeReady } from '${import.meta.filename}'
const { spec, ...options } = JSON.parse(readFileSync(0, 'utf8'))
const { driver } = await makeCloningDriver({ ...options, clock: { now: () => new Date() } })
await makeReady(driver, spec)
`

/** Makes the machine in a process of its own, which is killed without warning as soon as `moment` comes. */
export async function makeAndKill(
  options: Pick<QemuDriverOptions, 'dataFolder' | 'cacheFolder'>,
  spec: VpsSpec,
  moment: () => Promise<unknown>,
): Promise<void> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', CHILD], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const ended = once(child, 'exit')
  child.stdin.end(JSON.stringify({ ...options, spec }))
  await moment()
  child.kill('SIGKILL')
  await ended
}
