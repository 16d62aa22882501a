import { scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { demandNoTransaction } from '../database/transaction.ts'
import type { Random } from '../platform/services.ts'

const scryptKey = promisify<string, Uint8Array, number, object, Buffer>(scrypt)
const derive: typeof scryptKey = (...args) => {
  demandNoTransaction('A key derivation')
  return scryptKey(...args)
}

/** OWASP Password Storage Cheat Sheet: scrypt with N = 2^17, r = 8, p = 1 (128 MiB for a moment). */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }
const LENGTH = 32

/** @returns `scrypt$17$8$1$<salt>$<key>`, salt and key in base64 */
export async function hashPassword(password: string, random: Random): Promise<string> {
  const salt = random.bytes(16)
  const key = await derive(password.normalize('NFKC'), salt, LENGTH, COST)
  return `scrypt$17$8$1$${Buffer.from(salt).toString('base64')}$${key.toString('base64')}`
}

/**
 * Whether the password is the one of the hash. Without a hash it takes the same time and says no, so that the clock
 * does not tell which accounts exist.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const [, log2N, r, p, salt = '', key = ''] = (hash ?? `scrypt$17$8$1$${'A'.repeat(22)}==$`).split('$')
  const cost = { N: 2 ** Number(log2N), r: Number(r), p: Number(p), maxmem: COST.maxmem }
  const derived = await derive(password.normalize('NFKC'), Buffer.from(salt, 'base64'), LENGTH, cost)
  const expected = Buffer.from(key, 'base64')
  return expected.length === LENGTH && timingSafeEqual(derived, expected)
}
