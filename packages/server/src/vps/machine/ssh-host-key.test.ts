import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { judgeSshKey } from '../../platform/ssh-public-key.ts'
import { makeSshHostKey } from './ssh-host-key.ts'

const folder = mkdtempSync(join(tmpdir(), 'host-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

const random = { bytes: (length: number) => randomBytes(length) }

function write(privateKey: string): string {
  const file = join(folder, randomBytes(6).toString('hex'))
  writeFileSync(file, privateKey)
  chmodSync(file, 0o600)
  return file
}
const keygen = (...args: string[]) => execFileSync('ssh-keygen', args, { encoding: 'utf8' }).trim()

test('default: ssh-keygen reads the private key, and derives the same public key from it', () => {
  const key = makeSshHostKey(random)
  expect(keygen('-y', '-f', write(key.privateKey))).toBe(key.publicKey)
})

test('default: its fingerprint is that of an Ed25519 key of 256 bits', () => {
  const key = makeSshHostKey(random)
  expect(keygen('-l', '-f', write(key.privateKey))).toMatch(/^256 SHA256:[A-Za-z0-9+/]{43} .*\(ED25519\)$/)
})

test('behavior: it signs what its public key verifies', () => {
  const key = makeSshHostKey(random)
  const file = write(key.privateKey)
  const message = join(folder, 'message')
  writeFileSync(message, 'hello')
  keygen('-q', '-Y', 'sign', '-n', 'test', '-f', file, message)
  const allowed = join(folder, 'allowed')
  writeFileSync(allowed, `host ${key.publicKey}\n`)
  const verify = ['-Y', 'verify', '-n', 'test', '-I', 'host', '-f', allowed, '-s', `${message}.sig`]
  expect(execFileSync('ssh-keygen', verify, { input: 'hello', encoding: 'utf8' })).toContain(
    'Good "test" signature',
  )
})

test('behavior: no two machines have the same', () => {
  const keys = Array.from({ length: 50 }, () => makeSshHostKey(random))
  expect(new Set(keys.map(({ publicKey }) => publicKey)).size).toBe(50)
  expect(keys.every(({ publicKey }) => 'line' in judgeSshKey(publicKey))).toBe(true)
})
