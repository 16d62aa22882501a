import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { hashRootPassword, makeRootPassword } from './root-password.ts'

const random = { bytes: (length: number) => randomBytes(length) }

test('default: 20 characters that nobody mistakes for another', () => {
  const passwords = Array.from({ length: 500 }, () => makeRootPassword(random))
  expect(passwords.every((password) => /^[a-zA-Z2-9]{20}$/.test(password))).toBe(true)
  expect(passwords.join('')).not.toMatch(/[lIO01o]/)
  expect(new Set(passwords).size).toBe(500)
})

test('behavior: every character is as likely as any other', () => {
  const counts = new Map<string, number>()
  for (let byte = 0; byte < 256; byte++) {
    const [first] = makeRootPassword({
      bytes: (length) => Uint8Array.from({ length }, (_, index) => (index === 0 ? byte : 0)),
    })
    // A byte that is drawn again leaves the place to the one after it, which is 0 here.
    if (byte < 224) counts.set(first!, (counts.get(first!) ?? 0) + 1)
  }
  expect(counts.size).toBe(56)
  expect(new Set(counts.values())).toEqual(new Set([4]))
})

test('default: the hash is what crypt(3) makes of the password with its salt', async () => {
  const password = makeRootPassword(random)
  const hash = await hashRootPassword(password)
  const [, method, salt] = hash.split('$')
  expect(method).toBe('6')
  const again = execFileSync('openssl', ['passwd', '-6', '-salt', salt!, password], { encoding: 'utf8' })
  expect(again.trim()).toBe(hash)
})

test('behavior: the same password has another hash each time', async () => {
  expect(await hashRootPassword('same')).not.toBe(await hashRootPassword('same'))
})
