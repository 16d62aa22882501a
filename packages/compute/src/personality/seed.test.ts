import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { expect, test } from 'vitest'
import { makeSpec } from '../testing.ts'
import { makeForeignSeed, makeSeed } from './seed.ts'
import { makeTar } from './tar.ts'
import type { Uplink } from './uplink.ts'
import { isWiped } from './wiped-seed.ts'

const uplink: Uplink = {
  addresses: ['198.51.100.7/24'],
  gateways: ['198.51.100.1'],
  resolver: '198.51.100.53',
}
const mtime = new Date('2030-01-01T00:00:00Z')

test('default: tar unpacks what makes the machine itself', async () => {
  const spec = makeSpec({
    hostname: 'web-1.example.net',
    sshAuthorizedKeys: ['ssh-ed25519 AAAA a', 'ssh-rsa BBBB b'],
    userData: '#!/bin/sh\necho ä\n',
  })
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-seed-'))
  try {
    await runCommand('tar', ['-xpf', '-', '-C', folder], { input: makeSeed({ ...spec, uplink }, mtime) })
    const read = (path: string) => readFile(join(folder, path), 'utf8')
    expect(await read('etc/hostname')).toBe('web-1.example.net\n')
    expect(await read('etc/resolv.conf')).toBe('nameserver 198.51.100.53\n')
    expect(await read('etc/systemd/network/10-uplink.network')).toContain(
      'Address=198.51.100.7/24\nGateway=198.51.100.1\nLinkLocalAddressing=no\n',
    )
    expect(await read('etc/hosts')).toContain('127.0.1.1 web-1.example.net web-1\n')
    expect(await read('root/.ssh/authorized_keys')).toBe('ssh-ed25519 AAAA a\nssh-rsa BBBB b\n')
    expect(await read('run/coinrack/root-password-hash')).toBe(`${spec.rootPasswordHash}\n`)
    const cloudInit = 'var/lib/cloud/seed/nocloud'
    expect(await read(`${cloudInit}/user-data`)).toBe(spec.userData)
    expect(await read(`${cloudInit}/meta-data`)).toBe(
      `instance-id: ${spec.id}\nlocal-hostname: web-1.example.net\n`,
    )
    const modeOf = async (path: string) => (await stat(join(folder, path))).mode & 0o777
    expect(await modeOf('root/.ssh')).toBe(0o700)
    expect(await modeOf('etc/ssh/ssh_host_ed25519_key')).toBe(0o600)
    expect(await modeOf(`${cloudInit}/user-data`)).toBe(0o600)
    expect(await modeOf('etc/hostname')).toBe(0o644)
    expect((await stat(join(folder, 'etc/hostname'))).mtime).toEqual(mtime)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('behavior: without user data there is nothing for cloud-init', async () => {
  const { stdout } = await runCommand('tar', ['-t'], { input: makeSeed({ ...makeSpec(), uplink }, mtime) })
  expect(stdout).toContain('etc/hostname')
  expect(stdout).not.toContain('cloud')
})

test("behavior: of somebody else's image neither network nor user data is touched, and SSH lets root in", async () => {
  const spec = makeSpec({ userData: '#!/bin/sh\n' })
  const seed = makeForeignSeed({ ...spec, uplink }, mtime)
  const { stdout } = await runCommand('tar', ['-t'], { input: seed })
  expect(stdout).not.toMatch(/resolv|network|var/)
  for (const path of ['etc/hostname', 'etc/ssh/ssh_host_ed25519_key', 'root/.ssh/authorized_keys'])
    expect(stdout.split('\n')).toContain(path)
  const { stdout: settings } = await runCommand('tar', ['-xO', 'etc/ssh/sshd_config.d/50-cloud-init.conf'], {
    input: seed,
  })
  expect(settings).toContain('PermitRootLogin yes\nPasswordAuthentication yes\n')
})

test('behavior: a seed is whole blocks of a disk, and wiped when it is all zeros', () => {
  const seed = makeSeed({ ...makeSpec(), uplink }, mtime)
  expect(seed.length % 4096).toBe(0)
  expect(isWiped(seed)).toBe(false)
  expect(isWiped(seed.fill(0))).toBe(true)
})

test('error: a path that the format can not hold', () => {
  const entry = { path: 'x'.repeat(100), mode: 0o644, content: '' }
  expect(() => makeTar([entry], { mtime, size: 512 })).toThrow(RangeError)
})
