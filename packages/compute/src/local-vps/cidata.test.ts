import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runCommand } from '@coinrack/host/run-command.ts'
import { expect, test } from 'vitest'
import { macAddress } from '../machine/command-line.ts'
import { makeSpec } from '../testing.ts'
import { type CidataFiles, cidataFiles, makeCidata } from './cidata.ts'

const spec = makeSpec({ hostname: 'web-1.example.net', rootPasswordHash: '$6$salt$hash' })

interface Part {
  headers: string
  content: string
}

/** The parts of a MIME message, as they stand there. */
function partsOf(message: string): string[] {
  const boundary = /boundary="(.+)"/.exec(message)![1]!
  const [, ...parts] = message.split(new RegExp(`^--${boundary}(?:--)?\n`, 'm'))
  expect(parts.pop()).toBe('')
  return parts.map((part) => part.replace(/\n$/, ''))
}

function decoded(part: string): Part {
  const [headers, body] = part.split('\n\n') as [string, string]
  expect(headers).toContain('Content-Transfer-Encoding: base64')
  return { headers, content: Buffer.from(body, 'base64').toString('utf8') }
}

const of = async (change = {}) => cidataFiles({ ...spec, ...change })

test('default: it says who the machine is, and how it is reached', async () => {
  const files = await of()
  expect(JSON.parse(files['meta-data'])).toEqual({
    'instance-id': spec.id,
    'local-hostname': 'web-1.example.net',
  })
  expect(JSON.parse(files['network-config']).config).toMatchObject([
    {
      mac_address: macAddress(spec.id),
      subnets: [{ address: '10.0.2.15/24', gateway: '10.0.2.2', dns_nameservers: ['10.0.2.3'] }],
    },
  ])
})

test('behavior: an IPv6 address of its own stands beside the other', async () => {
  const files = await of({ addresses: { ipv6: '2001:db8::7' } })
  expect(JSON.parse(files['network-config']).config[0].subnets[1]).toEqual({
    ...{ type: 'static6', address: '2001:db8::7/128', gateway: 'fe80::1' },
  })
})

test("default: it brings our first boot's program, and lets alone what that made", async () => {
  const [hook, defaults, ...others] = partsOf((await of())['user-data']).map(decoded)
  expect(others).toEqual([])
  expect(hook!.headers).toContain('text/cloud-boothook')
  const [kind, shell, ...script] = hook!.content.split('\n')
  expect([kind, shell]).toEqual(['#cloud-boothook', '#!/bin/sh'])
  expect(hook!.content).toContain('coinrack: first boot complete')
  await runCommand('sh', ['-n'], { input: script.join('\n') })
  const [first, settings] = defaults!.content.split('\n')
  expect(first).toBe('#cloud-config')
  expect(JSON.parse(settings!)).toMatchObject({ users: [], disable_root: false, ssh_deletekeys: false })
})

test('default: no secret of ours is in it', async () => {
  const files = await of()
  const text = [
    files['meta-data'],
    files['network-config'],
    ...partsOf(files['user-data']).map((part) => decoded(part).content),
  ].join('\n')
  const { rootPasswordHash, sshHostKey, sshAuthorizedKeys } = spec
  for (const secret of [rootPasswordHash, `${sshHostKey.privateKey}\n`, ...sshAuthorizedKeys])
    expect(text).not.toContain(secret)
})

test.each([
  ['#cloud-config', `#cloud-config\nruncmd: ['echo ä']\n`.padEnd(300, '#')],
  ['a script', '#!/bin/sh\necho hello\n'],
])('behavior: user data comes last, so that its word counts: %s', async (_kind, userData) => {
  const parts = partsOf((await of({ userData }))['user-data'])
  expect(parts).toHaveLength(3)
  const { headers, content } = decoded(parts[2]!)
  expect(headers).toContain('text/plain')
  expect(content).toBe(userData)
})

test('behavior: user data that is base64 is decoded; gzip says so', async () => {
  const gzip = gzipSync('#!/bin/sh\n')
  const script = partsOf((await of({ userData: Buffer.from('#!/bin/sh\n').toString('base64') }))['user-data'])
  expect(decoded(script[2]!)).toMatchObject({ content: '#!/bin/sh\n' })
  const parts = partsOf((await of({ userData: gzip.toString('base64') }))['user-data'])
  const [headers, body] = parts[2]!.split('\n\n') as [string, string]
  expect(headers).toContain('Content-Type: application/gzip\n')
  expect(Buffer.from(body, 'base64').equals(gzip)).toBe(true)
})

test('behavior: user data that is a MIME message is a part as it is, whatever its boundary', async () => {
  const userData = `Content-Type: multipart/mixed; boundary="x"\nMIME-Version: 1.0\n\n--x\nContent-Type: text/x-shellscript\n\n#!/bin/sh\ntrue\n--x--\n`
  const parts = partsOf((await of({ userData }))['user-data'])
  expect(parts).toHaveLength(3)
  expect(parts[2]).toBe(userData)
  const kept = partsOf(
    (await of({ userData: `From nobody Sat Jan  1 00:00:00 2030\n${userData}` }))['user-data'],
  )
  expect(kept[2]).toBe(userData)
})

test('default: the volume is called cidata and holds the files; nothing of the making is left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-cidata-'))
  try {
    const volume = await makeCidata({ ...spec, userData: '#!/bin/sh\n'.padEnd(65_536, 'x') }, folder)
    expect(await readdir(folder)).toEqual([])
    expect(volume.length % 512).toBe(0)
    await writeFile(join(folder, 'volume'), volume)
    const { stdout } = await runCommand('blkid', ['-p', '-o', 'export', join(folder, 'volume')])
    expect(stdout).toMatch(/^LABEL=cidata$/m)
    expect(stdout).toMatch(/^TYPE=iso9660$/m)
    const out = join(folder, 'out')
    await runCommand('xorriso', ['-osirrox', 'on', '-indev', join(folder, 'volume'), '-extract', '/', out])
    const files = await of({ userData: '#!/bin/sh\n'.padEnd(65_536, 'x') })
    for (const name of Object.keys(files)) {
      expect(await readFile(join(out, name), 'utf8')).toBe(files[name as keyof CidataFiles])
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})
