import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReceiptKey } from '@coinrack/server/platform/receipt-key.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCaptured } from './testing.ts'

const key = createReceiptKey('a secret of the operator that nobody guesses')
const other = createReceiptKey('a secret of somebody else that nobody guesses')
const signed = key.sign({
  version: 'coinrack-receipt-1',
  issuer: 'https://vps.example.net',
  issued_at: '2026-02-01T12:00:00.000Z',
  invoice_id: 'inv_01kabcdefghjkmnpqrstvwxyz0',
  kind: 'renewal',
  account_id: 'acc_01kabcdefghjkmnpqrstvwxyz0',
  email: 'ada@rackmail.net',
  name: null,
  amount: '3.00',
  currency: 'USD',
  paid_at: '2026-02-01T12:00:00.000Z',
  charges: [
    {
      transaction_id: 'txn_01kabcdefghjkmnpqrstvwxyz0',
      description: 'web (nano), one month',
      amount: '3.00',
      charged_at: '2026-02-01T12:00:00.000Z',
    },
  ],
  payments: [],
})

let folder: string
let file: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'receipt-'))
  file = await kept('receipt.json', JSON.stringify(signed, null, 2))
})
afterAll(() => rm(folder, { recursive: true }))

async function kept(name: string, text: string) {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}
const verify = (...words: string[]) => runCaptured(['receipt', 'verify', ...words])

test('default: says what it is a receipt of, and that whose key it is was not checked', async () => {
  const { exitCode, stdout, stderr } = await verify(file)
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toContain('The receipt holds: 3.00 USD, invoice inv_01kabcdefghjkmnpqrstvwxyz0')
  expect(stdout).toContain('charged 3.00: web (nano), one month')
  expect(stdout).toContain('was not checked: compare it with https://vps.example.net/.well-known/jwks.json')
})

test("default: with the operator's key, as it is, in a file, or in the set that is published", async () => {
  const { x } = key.publicJwk
  const set = JSON.stringify({ keys: [other.publicJwk, key.publicJwk] })
  for (const given of [x, await kept('key.txt', `${x}\n`), await kept('jwks.json', set)]) {
    const { exitCode, stdout } = await verify(file, '--key', given)
    expect(exitCode).toBe(0)
    expect(stdout).toContain('signed with the key that you gave')
  }
})

test('error: changed, cut off, of another key, or no file: refused with the reason', async () => {
  const text = JSON.stringify(signed)
  const refused: [string[], string][] = [
    [[await kept('more.json', text.replace('"3.00"', '"2.00"'))], 'was changed after it was signed'],
    [[await kept('cut.json', text.slice(0, -20))], 'not JSON, or was cut off'],
    [[file, '--key', other.publicJwk.x], 'signed with another key than the one given'],
    [[file, '--key', await kept('none.json', '{"keys":[]}')], 'holds no public key'],
    [[join(folder, 'missing.json')], 'Cannot read'],
  ]
  for (const [words, reason] of refused) {
    const { exitCode, stdout, stderr } = await verify(...words)
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain(reason)
  }
})

test('error: called wrongly: how it is called', async () => {
  for (const words of [['receipt', 'verify'], ['receipt', 'verify', file, '--kay', 'x'], ['reciept']]) {
    const { exitCode, stderr } = await runCaptured(words)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^error: /)
  }
  const help = await runCaptured(['receipt', 'verify', '--help'])
  expect(help.exitCode).toBe(0)
  expect(help.stdout).toContain('coinrack receipt verify [options] <file>')
})
