import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { expect, test } from 'vitest'
import { makeSpec } from '../testing.ts'
import { guestUplink } from './guest-uplink.ts'
import { PERSONALISE, personalInput } from './personalise.ts'

const now = new Date('2030-01-01T00:00:00.250Z')
const uuids = () => {
  let made = 0
  return () => `00000000-0000-4000-8000-00000000000${++made}`
}
const input = (spec = makeSpec()) =>
  personalInput({
    ...spec,
    personality: { ...spec, uplink: guestUplink() },
    now,
    randomBytes: (length) => Buffer.alloc(length, 0xee),
    randomUuid: uuids(),
  })

test('default: entropy first, then the files of this machine, as the shell in the guest reads them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-personal-'))
  try {
    const read = `perl -e 'sysread(STDIN, $e, 64); print unpack("H*", $e)'; exec tar -xpf - -C "$1"`
    const spec = makeSpec({ hostname: 'db-7' })
    const { stdout } = await runCommand('sh', ['-c', read, 'sh', folder], { input: input(spec).input })
    expect(stdout).toBe('ee'.repeat(64))
    const content = (path: string) => readFile(join(folder, path), 'utf8')
    expect(await content('etc/hostname')).toBe('db-7\n')
    expect(await content('etc/machine-id')).toBe('00000000000040008000000000000001\n')
    expect(await content('run/coinrack/boot-id')).toBe('00000000-0000-4000-8000-000000000002\n')
    expect((await stat(join(folder, 'etc/machine-id'))).mode & 0o777).toBe(0o444)
    expect(await content('etc/ssh/ssh_host_ed25519_key')).toBe('private\n')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('default: the time to the millisecond, and the sectors of the disk', () => {
  const { args } = input(makeSpec({ diskGb: 5 }))
  expect(args[0]).toBe('1893456000.25')
  expect(args.slice(2)).toEqual(['10485760', '120'])
})

test('default: user data comes with the files, and what runs it is brought at once', async () => {
  const spec = makeSpec({ userData: '#cloud-config\n' })
  const { args, input: sent } = input(spec)
  expect(args[3]).toBe('0')
  const tar = async (...options: string[]) =>
    (await runCommand('tar', options, { input: sent.subarray(64) })).stdout
  expect(await tar('-xO', 'var/lib/cloud/seed/nocloud/user-data')).toBe(spec.userData)
  expect(await tar('-t')).toContain('run/cloud-init/enabled\n')
  expect(await tar('-xO', 'run/coinrack/rest')).toMatch(/start --no-block coinrack-user-data.service\n$/)
})

test('behavior: nothing is drawn, and nobody let in, before the entropy is there', async () => {
  await runCommand('sh', ['-n', '-c', PERSONALISE])
  const commands = PERSONALISE.split('\n').filter((line) => !line.startsWith('#'))
  expect(commands.slice(0, 3).join(' ')).toMatch(/^set -eu umask 077 perl -e 'sysread/)
  const at = (text: string) => PERSONALISE.indexOf(text)
  for (const step of ['tar -xpf', '/etc/shadow', 'boot_id', 'random-seed', 'ip link set'])
    expect(at(step)).toBeLessThan(at('ssh.service'))
})
