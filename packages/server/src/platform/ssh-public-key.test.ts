import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { judgeSshKey } from './ssh-public-key.ts'

const folder = mkdtempSync(join(tmpdir(), 'ssh-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A public key as ssh-keygen writes it. */
function keygen(type: string, bits: number): string {
  const file = join(folder, `${type}-${bits}`)
  execFileSync('ssh-keygen', [
    '-q',
    '-t',
    type,
    '-b',
    String(bits),
    '-N',
    '',
    '-C',
    'agent@laptop',
    '-f',
    file,
  ])
  return readFileSync(`${file}.pub`, 'utf8')
}

const sshString = (value: string | Buffer) => {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
const keyOf = (type: string, ...parts: (string | Buffer)[]) =>
  `${type} ${Buffer.concat([type, ...parts].map(sshString)).toString('base64')}`

const ed25519 = keygen('ed25519', 256)
const rsa2048 = keygen('rsa', 2048)
const point = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 7)])

describe('keys of ssh-keygen', () => {
  test.each([
    ['ed25519', ed25519],
    ['rsa of 2048 bits', rsa2048],
    ['rsa of 3072 bits', keygen('rsa', 3072)],
    ['ecdsa nistp256', keygen('ecdsa', 256)],
    ['ecdsa nistp384', keygen('ecdsa', 384)],
    ['ecdsa nistp521', keygen('ecdsa', 521)],
  ])('default: %s', (_type, text) => {
    expect(judgeSshKey(text)).toEqual({ line: text.trim() })
  })

  test('error: rsa of 1024 bits is too short, and the answer says so', () => {
    expect(judgeSshKey(keygen('rsa', 1024))).toEqual({
      refused: 'An RSA key needs 2048 bits or more; this one has 1024',
    })
  })
})

describe('keys of hardware, in the form of PROTOCOL.u2f', () => {
  test('default: sk-ssh-ed25519', () => {
    const text = keyOf('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 9), 'ssh:')
    expect(judgeSshKey(text)).toEqual({ line: text })
  })
  test('default: sk-ecdsa', () => {
    const text = keyOf('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', point, 'ssh:')
    expect(judgeSshKey(text)).toEqual({ line: text })
  })
})

test('behavior: spaces around are dropped, the comment is kept', () => {
  const [type, body] = ed25519.split(' ')
  expect(judgeSshKey(`  ${type}   ${body}  two words \n`)).toEqual({ line: `${type} ${body} two words` })
  expect(judgeSshKey(`${type} ${body}`)).toEqual({ line: `${type} ${body}` })
})

const body = ed25519.split(' ')[1]!
test.each([
  ['nothing', ''],
  ['words', 'not a key'],
  ['the type alone', 'ssh-ed25519'],
  ['the body alone', body],
  ['a cut body', `ssh-ed25519 ${body.slice(0, -8)}`],
  ['a body with a character less', `ssh-ed25519 ${body.slice(0, -1)}`],
  ['a body with other characters', `ssh-ed25519 ${body.slice(0, -4)}****`],
  ['a type that is not that of the body', `ssh-rsa ${body}`],
  ['options before the key', `command="rm -rf /" ${ed25519}`],
  ['one option word before the key', `no-pty ${ed25519}`],
  ['two lines', `${ed25519.trim()}\n${rsa2048.trim()}`],
  ['a second line with options', `${ed25519.trim()}\ncommand="x" ${rsa2048.trim()}`],
  ['a carriage return inside', `${ed25519.trim()}\r\nssh-rsa AAAA`],
  [
    'a private key',
    '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----',
  ],
  [
    'DSA',
    keyOf('ssh-dss', Buffer.alloc(129, 1), Buffer.alloc(21, 1), Buffer.alloc(128, 1), Buffer.alloc(128, 1)),
  ],
  ['a certificate', keyOf('ssh-ed25519-cert-v01@openssh.com', Buffer.alloc(32), Buffer.alloc(32))],
  ['ed25519 of 31 bytes', keyOf('ssh-ed25519', Buffer.alloc(31, 1))],
  ['ed25519 with bytes after it', keyOf('ssh-ed25519', Buffer.alloc(32, 1), 'more')],
  ['ecdsa of another curve than its type', keyOf('ecdsa-sha2-nistp384', 'nistp256', point)],
  ['ecdsa with a compressed point', keyOf('ecdsa-sha2-nistp256', 'nistp256', Buffer.alloc(33, 2))],
  [
    'ecdsa of an unknown curve',
    keyOf('ecdsa-sha2-nistp192', 'nistp192', Buffer.concat([Buffer.of(4), Buffer.alloc(48)])),
  ],
  ['rsa whose modulus is zeros', keyOf('ssh-rsa', Buffer.of(1, 0, 1), Buffer.alloc(257))],
  [
    'rsa of 2047 bits',
    keyOf('ssh-rsa', Buffer.of(1, 0, 1), Buffer.concat([Buffer.of(0x7f), Buffer.alloc(255, 255)])),
  ],
])('error: %s', (_what, text) => {
  expect(judgeSshKey(text)).toHaveProperty('refused')
})

test('behavior: a key that lost any part of its body is refused', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: body.length - 1 }), (length) => {
      expect(judgeSshKey(`ssh-ed25519 ${body.slice(0, length)}`)).toHaveProperty('refused')
    }),
  )
})

test('behavior: what is accepted is one line that ssh-keygen reads, whatever was sent', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const verdict = judgeSshKey(before + ed25519.trim() + after)
      if ('refused' in verdict) return
      expect(verdict.line).not.toMatch(/[\r\n]/)
      expect(verdict.line.startsWith('ssh-ed25519 AAAA')).toBe(true)
    }),
  )
})
