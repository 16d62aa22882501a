import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join, relative } from 'node:path'
import { canonicalJson } from '@coinrack/contract/receipts.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { otherNodes } from './support/nodes.ts'
import { root } from './support/sources.ts'

/*
 * The command line belongs to customers, who have the Node that their system came with: the one that this machine came with runs it
 * here, as JavaScript without types.
 */

const folder = join(root, 'node_modules/.cache/coinrack/older-node')

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

test('default: this machine has an older Node to try it with', () => {
  expect(otherNodes().length).toBeGreaterThan(0)
})

describe.each(otherNodes())('Node %s', (_version, node) => {
  test('behavior: the command line verifies a receipt', async () => {
    const words = [join(folder, 'cli/coinrack.js'), 'receipt', 'verify', join(folder, 'receipt.json')]
    expect((await runCommand(node, words, { timeoutMs: 30_000 })).stdout).toContain('The receipt holds')
  })
})
