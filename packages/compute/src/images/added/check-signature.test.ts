import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkClearSigned, checkDetached, goodSignature, readKeyring } from './check-signature.ts'
import { makePublisher, type Publisher } from './testing.ts'

let publisher: Publisher
let stranger: Publisher
let armored: Buffer
const text = 'abc  disk.img\n'

beforeAll(async () => {
  publisher = await makePublisher()
  stranger = await makePublisher()
  armored = await readFile(publisher.keyFile)
})
afterAll(() => Promise.all([publisher.close(), stranger.close()]))

const detached = (signature: Uint8Array, signed = text) =>
  checkDetached(Buffer.from(signed), signature, armored)

test('default: a detached signature says who signed', async () => {
  expect(await detached(await publisher.detached(text))).toBe(publisher.fingerprint)
})

test('default: of a text with its signature only what was signed counts', async () => {
  const signed = `ffff  disk.img\n${await publisher.clearSigned(text)}eeee  disk.img\n`
  expect(await checkClearSigned(Buffer.from(signed), armored)).toEqual({
    signedBy: publisher.fingerprint,
    text,
  })
})

test('behavior: keys without armor, several rings in one file, and a second signature of a stranger', async () => {
  const both = Buffer.concat([await publisher.detached(text), await stranger.detached(text)])
  const bare = readKeyring(armored)
  expect(bare[0]! & 0x80).toBe(0x80)
  expect(await checkDetached(Buffer.from(text), both, bare)).toBe(publisher.fingerprint)
  const rings = Buffer.concat([await readFile(stranger.keyFile), armored])
  expect(await checkDetached(Buffer.from(text), await publisher.detached(text), rings)).toBe(
    publisher.fingerprint,
  )
})

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['another text', async () => detached(await publisher.detached(text), `${text} `), /BAD signature/],
  ['a key that is not in the ring', async () => detached(await stranger.detached(text)), /No public key/],
  ['a page instead of a signature', () => detached(Buffer.from('<html>')), /not good/],
  ['no signature at all', () => detached(Buffer.alloc(0)), /not good/],
  ['a text that carries none', () => checkClearSigned(Buffer.from(text), armored), /carries no signature/],
  [
    'a text changed inside',
    async () =>
      checkClearSigned(Buffer.from((await publisher.clearSigned(text)).replace('abc', 'abd')), armored),
    /BAD signature/,
  ],
  [
    'a file that is no key',
    async () => checkDetached(Buffer.from(text), await publisher.detached(text), Buffer.from('key')),
    /no OpenPGP public key/,
  ],
])('error: %s', async (_what, check, message) => {
  await expect(check()).rejects.toThrow(message)
})

test('error: a key that has expired', async () => {
  const short = await makePublisher('seconds=2')
  try {
    const signature = await short.detached(text)
    await sleep(3_000)
    const ring = await readFile(short.keyFile)
    await expect(checkDetached(Buffer.from(text), signature, ring)).rejects.toThrow(/not good/)
  } finally {
    await short.close()
  }
})

test('error: a key that was revoked, also for what it signed before', async () => {
  const other = await makePublisher()
  try {
    const signature = await other.detached(text)
    const check = async () => checkDetached(Buffer.from(text), signature, await readFile(other.keyFile))
    expect(await check()).toBe(other.fingerprint)
    await other.revoke()
    await expect(check()).rejects.toThrow(/not good/)
  } finally {
    await other.close()
  }
})

test('error: a bad signature beside a good one', () => {
  const good = [
    '[GNUPG:] NEWSIG',
    '[GNUPG:] GOODSIG 1 a',
    '[GNUPG:] VALIDSIG AB 2025-01-01 0 0 4 0 22 8 00 CD',
  ]
  expect(goodSignature(good)).toBe('CD')
  expect(goodSignature([...good, '[GNUPG:] NEWSIG', '[GNUPG:] BADSIG 2 b'])).toBeUndefined()
  const expired = ['[GNUPG:] NEWSIG', '[GNUPG:] EXPKEYSIG 1 a', good[2]!]
  expect(goodSignature(expired)).toBeUndefined()
})
