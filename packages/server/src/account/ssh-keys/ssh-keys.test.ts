import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'ssh-keys-'))
let made = 0
/** A new key, and the fingerprint that ssh-keygen gives it. */
function keygen() {
  const file = join(folder, `key${++made}`)
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'agent@laptop', '-f', file])
  const shown = execFileSync('ssh-keygen', ['-l', '-f', `${file}.pub`], { encoding: 'utf8' })
  return { text: readFileSync(`${file}.pub`, 'utf8').trim(), fingerprint: shown.split(' ')[1]! }
}

let service: TestService
let token: string
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_REGISTER: '1000/min' } })
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  ;({ token } = await service.customer(20_000_000n))
})

const add = (public_key: string, more: object = {}, by = token) =>
  service.ask('POST', '/ssh-keys', { token: by, body: { public_key, ...more } })
const list = async (by = token) => (await service.ask('GET', '/ssh-keys', { token: by })).body
const order = (ssh_key: string, by = token) =>
  service.ask('POST', '/orders', { token: by, body: { product: 'nano', os_id: 1, ssh_key } })

test('default: stored with its fingerprint, listed, deleted', async () => {
  const { text, fingerprint } = keygen()
  const { status, body } = await add(text, { name: 'laptop' })
  expect(status).toBe(200)
  expect(body.ssh_key).toMatchObject({
    id: expect.stringMatching(/^key_/),
    name: 'laptop',
    type: 'ssh-ed25519',
    fingerprint,
    public_key: text,
  })
  expect(await list()).toEqual([body.ssh_key])
  const path = `/ssh-keys/${body.ssh_key.id}`
  expect((await service.ask('DELETE', path, { token, body: {} })).body).toEqual(body)
  expect(await list()).toEqual([])
  expect((await service.ask('DELETE', path, { token, body: {} })).status).toBe(404)
})

test('behavior: without a name it has that of its comment', async () => {
  const { text, fingerprint } = keygen()
  expect((await add(text)).body.ssh_key.name).toBe('agent@laptop')
  const [type, body] = keygen().text.split(' ')
  expect((await add(`${type} ${body}`)).body.ssh_key.name).not.toBe(fingerprint)
  expect((await list())[0].name).toMatch(/^SHA256:|^agent/)
})

test('behavior: the same key again is the same key, also at the same moment and with another comment', async () => {
  const { text } = keygen()
  const all = await Promise.all([add(text), add(text), add(`${text} again`), add(text)])
  expect(new Set(all.map(({ body }) => body.ssh_key.id)).size).toBe(1)
  expect(await list()).toHaveLength(1)
})

test('error: what is no key, and a hundred are enough', async () => {
  expect(await add('ssh-ed25519 AAAA')).toMatchObject({
    status: 422,
    body: { code: 'invalid_ssh_key', details: [{ path: 'public_key' }] },
  })
  const { body } = await service.ask('GET', '/account', { token })
  await service.services.db.query(
    `insert into ssh_key (id, account_id, name, line, fingerprint, created_at)
     select 'key_' || n, $1, 'x', 'x', n::text, now() from generate_series(1, 99) as series (n)`,
    [body.id],
  )
  const codes = (await Promise.all([add(keygen().text), add(keygen().text)])).map((reply) => reply.body.code)
  expect(codes.sort()).toEqual(['ssh_key_limit', undefined])
})

test('behavior: an order and a reinstall take the id of a stored key', async () => {
  const [one, two] = [keygen(), keygen()]
  const first = (await add(one.text)).body.ssh_key.id
  const placed = await order(first)
  expect(placed.status).toBe(200)
  await service.reconcile()
  const keysOf = () => service.driver.machines.get(placed.body.service_id)!.spec.sshAuthorizedKeys
  expect(keysOf()).toEqual([one.text])
  const second = (await add(two.text)).body.ssh_key.id
  await service.ask('POST', `/services/${placed.body.service_id}/reinstall`, {
    token,
    body: { os_id: 1, confirm: 'DELETE', ssh_key: second },
  })
  await service.reconcile()
  expect(keysOf()).toEqual([two.text])
})

test('error: the id of a key that is not there, or of another account', async () => {
  const stranger = await service.customer(20_000_000n)
  const { id } = (await add(keygen().text)).body.ssh_key
  expect((await order(id)).status).toBe(200)
  for (const refused of [await order(id, stranger.token), await order(`key_${'0'.repeat(26)}`)]) {
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'invalid_ssh_key', details: [{ path: 'ssh_key' }] },
    })
  }
})
