import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basePath } from '@coinrack/contract/index.ts'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * The drill: everything is gone but a backup and its key, and the service comes back with its accounts, its money and the
 * addresses that customers pay to.
 */

let service: RunningService
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-drill-'))
  service = await startService()
}, 40 * 60_000)
afterAll(async () => {
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
}, 120_000)

async function ask(
  method: 'GET' | 'POST',
  path: string,
  { token, body }: { token?: string; body?: object } = {},
) {
  const response = await fetch(service.origin + path, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.json()
}

test('default: restored into an empty folder, ledger, addresses, tokens and keys are as before', async () => {
  const email = 'drill@rackmail.net'
  const { token } = await ask('POST', `${basePath}/auth/register`, { body: { email } })
  await service.operator('credit', email, '12.50', '--reason', 'For the drill')
  await ask('POST', `${basePath}/balance/topup`, { token, body: { amount: 10 } })
  const seen = async () => ({
    account: await ask('GET', `${basePath}/account`, { token }),
    balance: await ask('GET', `${basePath}/balance`, { token }),
    invoices: await ask('GET', `${basePath}/invoices`, { token }),
    keys: await ask('GET', '/.well-known/jwks.json'),
  })
  const before = await seen()
  expect(before).toMatchObject({
    keys: { keys: [{ kty: 'OKP' }] },
    balance: { balance: '12.50' },
    invoices: [{ status: 'unpaid' }],
  })

  const identity = await generateX25519Identity()
  const [file, key] = [join(folder, 'backup.age'), join(folder, 'key.txt')]
  await writeFile(key, identity)
  await service.operator('backup', file, '--to', await identityToRecipient(identity))
  await service.operatorStop()
  for (const name of await readdir(service.dataFolder))
    await rm(join(service.dataFolder, name), { recursive: true, force: true })

  expect(await service.operator('restore', file, '--identity', key)).toContain('Start the service')
  await service.start()
  expect(await seen()).toEqual(before)
  expect(JSON.parse(await service.operator('account', 'show', email, '--json'))).toMatchObject({ email })
  const second = service.operator('restore', file, '--identity', key)
  await expect(second).rejects.toThrow('The database is in use')
}, 120_000)
