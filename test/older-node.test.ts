import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { delimiter, join, relative } from 'node:path'
import { canonicalJson } from '@coinrack/contract/receipts.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from './support/sources.ts'

/*
 * The SDK and the command line belong to customers, who have the Node that their system came with: the one that this
 * machine came with runs them here, as JavaScript without types.
 */

const folder = join(root, 'node_modules/.cache/coinrack/older-node')
/** The oldest that is supported. */
const OLDEST = 20

/** Every Node of this machine but ours, by its path and version. */
const nodes = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((place) => place !== '' && !place.startsWith(root))
  .concat((process.env.COINRACK_TEST_NODES ?? '').split(delimiter).filter(Boolean))
  .map((place) => join(place, 'node'))
  .filter((path) => existsSync(path))
  .map((path) => [execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(), path] as const)
  .filter(([version]) => Number(version.slice(1).split('.')[0]) >= OLDEST && version !== process.version)
const byVersion = [...new Map(nodes)]

/** The sources of a package as JavaScript, with imports that lead to one another. */
async function strip(name: string): Promise<void> {
  const from = join(root, 'packages', name, 'src')
  const to = join(folder, name)
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !path.endsWith('.ts') || path.endsWith('.test.ts')) continue
    const target = join(to, relative(from, path).replace(/\.ts$/, '.js'))
    await mkdir(join(target, '..'), { recursive: true })
    const up = relative(join(target, '..'), folder)
    const text = stripTypeScriptTypes(await readFile(path, 'utf8'))
      .replace(/(['"])@coinrack\/([\w-]+)\/([^'"]+)\.ts\1/g, `'${up}/$2/$3.js'`)
      .replace(/(['"])@coinrack\/([\w-]+)\1/g, `'${up}/$2/index.js'`)
      .replace(/(['"])(\.[^'"]+)\.ts\1/g, "'$2.js'")
    await writeFile(target, text)
  }
}

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true })
  for (const name of ['contract', 'sdk', 'host', 'cli']) await strip(name)
  await cp(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'receipt.json'), receipt())
  await writeFile(join(folder, 'program.js'), PROGRAM)
}, 60_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A receipt that holds. */
function receipt(): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const { x } = publicKey.export({ format: 'jwk' }) as { x: string }
  const at = '2026-02-01T12:00:00.000Z'
  const content = {
    ...{ version: 'coinrack-receipt-1', issuer: 'https://vps.example.net', issued_at: at },
    ...{ invoice_id: 'inv_01kabcdefghjkmnpqrstvwxyz0', kind: 'topup' },
    ...{ account_id: 'acc_01kabcdefghjkmnpqrstvwxyz0', email: 'ada@rackmail.net', name: null },
    ...{ amount: '10.00', currency: 'USD', paid_at: at, charges: [], payments: [] },
  }
  const value = sign(null, Buffer.from(canonicalJson(content)), privateKey).toString('base64url')
  const thumbprint = canonicalJson({ crv: 'Ed25519', kty: 'OKP', x })
  const key_id = execFileSync('openssl', ['dgst', '-sha256', '-binary'], { input: thumbprint })
  const signature = { algorithm: 'Ed25519', key_id: key_id.toString('base64url'), public_key: x, value }
  return JSON.stringify({ receipt: content, signature })
}

/** A customer's program: a write, a list of two pages, files of a sandbox, an event stream, and a receipt. */
const SDK = './sdk/index.js'
const PROGRAM = `
import { readFileSync } from 'node:fs'
import { createClient, CoinrackError, formatUsd, Sandbox, verifyReceipt } from '${SDK}'
const sent = []
const file = (name) => ({ path: name, type: 'file', size: 1, mode: '0644', user: 'user', group: 'user', modified_at: '2026-02-01T12:00:00.000Z', target: null })
const next = (cursor) => ({ link: '</api/v1/eqvps/x?cursor=' + cursor + '>; rel="next"' })
const fetch = async (url, init) => {
  const path = new URL(url).pathname
  sent.push({ path, key: init.headers['idempotency-key'] })
  const json = (body, headers = {}, status = 200) => new Response(JSON.stringify(body), { status, headers })
  if (path.endsWith('/files/list')) return url.includes('cursor=') ? json([file('b')]) : json([file('a')], next('a'))
  if (path.endsWith('/run')) return new Response('event: stdout\\ndata: {"text":"hi"}\\n\\nevent: end\\ndata: {"exit_code":0}\\n\\n')
  return json({ message: 'No', code: 'topup_pending', fix: '', next_steps: [], request_id: 'r' }, {}, 409)
}
const options = { url: 'https://vps.example.net', token: 'crk_x', fetch }
const refused = await createClient(options).topupBalance({ amount: 10 }).catch((error) => error)
const sandbox = Sandbox.connect(options, 'sbx01kabcdefghjkmnpqrstvwxyz0')
const files = await sandbox.files.list()
const run = await sandbox.runCode('print(1)')
const { receipt } = await verifyReceipt(readFileSync(new URL('receipt.json', import.meta.url), 'utf8'))
console.log(JSON.stringify({
  refused: refused instanceof CoinrackError ? refused.code : String(refused),
  key: sent[0]?.key,
  files: files.map(({ path }) => path),
  stdout: run.stdout,
  paid: receipt.amount,
  usd: formatUsd(12_500_000n),
}))
`

test('default: this machine has an older Node to try it with', () => {
  expect(byVersion.length).toBeGreaterThan(0)
})

describe.each(byVersion)('Node %s', (_version, node) => {
  test('behavior: the SDK writes, pages, streams and verifies', async () => {
    const { stdout } = await runCommand(node, [join(folder, 'program.js')], { timeoutMs: 30_000 })
    expect(JSON.parse(stdout)).toEqual({
      refused: 'topup_pending',
      key: expect.stringMatching(/^[0-9a-f]{32}$/),
      files: ['a', 'b'],
      stdout: 'hi',
      paid: '10.00',
      usd: '12.50',
    })
  })

  test('behavior: the command line verifies a receipt', async () => {
    const words = [join(folder, 'cli/coinrack.js'), 'receipt', 'verify', join(folder, 'receipt.json')]
    expect((await runCommand(node, words, { timeoutMs: 30_000 })).stdout).toContain('The receipt holds')
  })
})
