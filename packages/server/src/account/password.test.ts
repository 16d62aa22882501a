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

  test('behavior: without a hash it says no, after the same work', async () => {
    const hash = await hashPassword('correct horse', random)
    // Processor time of all threads: the clock on the wall depends on what else the machine does.
    const workOf = async (stored: string | null) => {
      const before = process.cpuUsage()
      expect(await verifyPassword('wrong', stored)).toBe(false)
      return process.cpuUsage(before).user
    }
    const known = await workOf(hash)
    expect((await workOf(null)) / known).toBeGreaterThan(0.5)
  })
})
