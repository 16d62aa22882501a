import { generateKeyPairSync, sign } from 'node:crypto'
import { canonicalJson, type Receipt } from '@coinrack/contract/receipts.ts'
import { expect, test } from 'vitest'
import { verifyReceipt } from './verify-receipt.ts'

const receipt: Receipt = {
  version: 'coinrack-receipt-1',
  issuer: 'https://vps.example.net',
  issued_at: '2026-02-01T12:00:00.000Z',
  invoice_id: 'inv_01kabcdefghjkmnpqrstvwxyz0',
  kind: 'topup',
  account_id: 'acc_01kabcdefghjkmnpqrstvwxyz0',
  email: 'ada@rackmail.net',
  name: 'Ada Lövelace',
  amount: '10.00',
  currency: 'USD',
  paid_at: '2026-02-01T12:00:00.000Z',
  charges: [],
  payments: [
    {
      network: 'base',
      token: 'USDC',
      tx_hash: '0x01',
      log_index: 3,
      amount: '10.00',
      credited_at: '2026-02-01T12:00:00.000Z',
    },
  ],
}

/** Signed by the words of the standard alone, with a key of its own each time. */
function signed(content: object = receipt) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const x = publicKey.export({ format: 'jwk' }).x!
  const value = sign(null, Buffer.from(canonicalJson(content)), privateKey).toString('base64url')
  return { x, content, value }
}
async function fileOf({ x, content, value } = signed(), change: object = {}): Promise<string> {
  const jwk = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(jwk))
  const key_id = Buffer.from(hash).toString('base64url')
  return JSON.stringify({
    receipt: content,
    signature: { algorithm: 'Ed25519', key_id, public_key: x, value, ...change },
  })
}

test('default: holds, with the key of the operator and without', async () => {
  const own = signed()
  const text = await fileOf(own)
  expect((await verifyReceipt(text)).receipt).toEqual(receipt)
  expect((await verifyReceipt(text, own.x)).signature.public_key).toBe(own.x)
})

test('behavior: white space, the order of members and how letters are written change nothing', async () => {
  const text = await fileOf()
  const file = JSON.parse(text)
  const turned = Object.fromEntries(Object.entries(file.receipt).reverse())
  const escaped = JSON.stringify({ ...file, receipt: turned }, null, 2).replace('ö', '\\u00f6')
  expect(escaped).toContain('\\u00f6')
  expect((await verifyReceipt(escaped)).receipt.name).toBe('Ada Lövelace')
})

test('behavior: a member that is not known here is signed like any other', async () => {
  const text = await fileOf(signed({ ...receipt, tax: '0.00' }))
  await verifyReceipt(text)
  await expect(verifyReceipt(text.replace('0.00"}', '9.00"}'))).rejects.toMatchObject({ code: 'changed' })
})

test('error: any changed character of what is signed', async () => {
  const text = await fileOf()
  const end = text.indexOf('"signature"')
  let tried = 0
  for (let index = 1; index < end; index++) {
    const letter = text[index]!
    if (!/[\w.]/.test(letter)) continue
    tried++
    const other = /\d/.test(letter) ? String((Number(letter) + 1) % 10) : letter === 'x' ? 'y' : 'x'
    await expect(verifyReceipt(text.slice(0, index) + other + text.slice(index + 1))).rejects.toMatchObject({
      name: 'ReceiptError',
    })
  }
  expect(tried).toBeGreaterThan(300)
})

test('error: cut off anywhere', async () => {
  const text = await fileOf()
  for (let length = 0; length < text.length; length += 7) {
    await expect(verifyReceipt(text.slice(0, length))).rejects.toMatchObject({ code: 'no_receipt' })
  }
})

test('error: a member that stands there twice', async () => {
  const text = await fileOf()
  const doubled = text.replace('"amount":"10.00"', '"amount":"9000.00","amount":"10.00"')
  expect(JSON.parse(doubled)).toEqual(JSON.parse(text))
  await expect(verifyReceipt(doubled)).rejects.toThrow('A name stands in it twice')
})

test('error: another key, in the receipt or given', async () => {
  const [own, other] = [signed(), signed()]
  await expect(verifyReceipt(await fileOf(other), own.x)).rejects.toMatchObject({ code: 'other_key' })
  await expect(verifyReceipt(await fileOf({ ...own, x: other.x }))).rejects.toMatchObject({ code: 'changed' })
  await expect(verifyReceipt(await fileOf(own, { public_key: 'AAAA' }))).rejects.toMatchObject({
    code: 'changed',
  })
  await expect(verifyReceipt(await fileOf(own, { key_id: 'AAAA' }))).rejects.toMatchObject({
    code: 'changed',
  })
})

test('error: what is no receipt at all', async () => {
  for (const text of ['', '{}', '[]', 'null', '"x"', '{"receipt":{},"signature":{}}']) {
    await expect(verifyReceipt(text)).rejects.toMatchObject({ code: 'no_receipt' })
  }
})
