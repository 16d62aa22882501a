import { randomBytes, scryptSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hashPassword, verifyPassword } from './password.ts'

const random = { bytes: (length: number) => randomBytes(length) }

describe('hashPassword', () => {
  test('default: the hash names its method and cost, and not the password', async () => {
    const hash = await hashPassword('correct horse', random)
    expect(hash).toMatch(/^scrypt\$17\$8\$1\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/)
  })

  test('behavior: the same password twice has two hashes', async () => {
    expect(await hashPassword('correct horse', random)).not.toBe(await hashPassword('correct horse', random))
  })
})

describe('verifyPassword', () => {
  test('default: the password and no other', async () => {
    const hash = await hashPassword('correct horse', random)
    expect(await verifyPassword('correct horse', hash)).toBe(true)
    expect(await verifyPassword('correct horsf', hash)).toBe(false)
    expect(await verifyPassword('', hash)).toBe(false)
  })

  test('behavior: two ways to write one character are the same password', async () => {
    expect(await verifyPassword('caf\u00e9 noir', await hashPassword('cafe\u0301 noir', random))).toBe(true)
  })

  test('behavior: a hash of a cheaper past is still good', async () => {
    const salt = Buffer.from('SodiumChloride16')
    const key = scryptSync('pleaseletmein', salt, 32, { N: 2 ** 14, r: 8, p: 1 })
    const hash = `scrypt$14$8$1$${salt.toString('base64')}$${key.toString('base64')}`
    expect(await verifyPassword('pleaseletmein', hash)).toBe(true)
  })

  test('behavior: without a hash it says no, and no sooner', async () => {
    const hash = await hashPassword('correct horse', random)
    const timeOf = async (stored: string | null) => {
      const begun = performance.now()
      expect(await verifyPassword('wrong', stored)).toBe(false)
      return performance.now() - begun
    }
    const known = Math.min(await timeOf(hash), await timeOf(hash))
    const unknown = Math.min(await timeOf(null), await timeOf(null))
    expect(unknown / known).toBeGreaterThan(0.4)
  })
})
