import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type FileServer,
  makePublisher,
  type Publisher,
  startFileServer,
} from '@coinrack/compute/images/added/testing.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import defaultCatalog from '../config/default-catalog.json' with { type: 'json' }
import { readCatalog } from '../config/read-catalog.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import type { Operator } from './command.ts'
import { runOperator } from './run-operator.ts'
import { testOperator } from './testing.ts'

let service: TestService
let operator: Operator
let server: FileServer
let publisher: Publisher
let folder: string
let catalogFile: string | undefined
const said: string[] = []

beforeAll(async () => {
  service = await startTestService()
  server = await startFileServer()
  publisher = await makePublisher()
  folder = await mkdtemp(join(tmpdir(), 'coinrack-operator-images-'))
  await runCommand('chmod', ['755', folder])
  operator = testOperator(service.services, {
    catalog: (path = catalogFile) => readCatalog(path),
    images: async () => ({
      folder: join(folder, 'added'),
      baseImages: join(folder, 'base'),
      overlays: [],
      downloads: join(folder, 'downloads'),
      reader: undefined,
    }),
    say: (line) => said.push(line),
  })
  const file = join(folder, 'disk.qcow2')
  await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', file, '12G'])
  const body = await readFile(file)
  const list = `SHA256 (disk.qcow2) = ${createHash('sha256').update(body).digest('hex')}\n`
  server.files.set('disk.qcow2', { body, etag: '"1"' })
  server.files.set('CHECKSUM', { body: Buffer.from(await publisher.clearSigned(list)) })
})
afterAll(async () => {
  await Promise.all([service.close(), server.close(), publisher.close()])
  await rm(folder, { recursive: true })
})

const run = (...words: string[]) => runOperator(operator, words)
const source = () => [
  ...['--url', `${server.url}/disk.qcow2`, '--checksums', `${server.url}/CHECKSUM`],
  ...['--key', publisher.keyFile],
]

test('default: added, listed, and removed', async () => {
  expect((await run('image', 'list')).stdout).toBe('None.')
  const added = await run('image', 'add', 'nova-42', ...source(), '--name', 'Nova 42')
  expect(added).toEqual({
    exitCode: 0,
    stdout: `Nova 42 is added: os_id 1000, for plans of 12 GB and more (signed by ${publisher.fingerprint})`,
    stderr: '',
  })
  expect(said).toContain(`the checksums are signed by ${publisher.fingerprint}`)
  const { stdout } = await run('image', 'list', '--json')
  expect(JSON.parse(stdout)).toEqual([
    {
      id: 'nova-42',
      os_id: 1000,
      name: 'Nova 42',
      disk_gb: 12,
      digest: expect.stringMatching(/^sha256:/),
      signed_by: publisher.fingerprint,
      added_at: service.clock.now().toISOString(),
      url: `${server.url}/disk.qcow2`,
    },
  ])
  expect(await run('image', 'remove', 'nova-42')).toMatchObject({ exitCode: 0 })
  expect((await run('image', 'list')).stdout).toBe('None.')
})

test('error: what is wrong with it is said, and nothing is added', async () => {
  expect(await run('image', 'add', 'nova-42')).toMatchObject({
    exitCode: 1,
    stderr: 'Say where the image is with --url',
  })
  const stranger = await makePublisher()
  const words = [...source().slice(0, -1), stranger.keyFile]
  expect(await run('image', 'add', 'nova-42', ...words)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^The signature is not good/),
  })
  await stranger.close()
  expect(await run('image', 'remove', 'nova-42')).toMatchObject({ exitCode: 1 })
})

test('error: it is not removed while a machine, an unpaid order or a plan needs it', async () => {
  await run('image', 'add', 'nova-42', ...source())
  const [{ os_id }] = JSON.parse((await run('image', 'list', '--json')).stdout)
  const refused = (why: string) => ({ exitCode: 1, stderr: `nova-42 is in use: ${why}` })
  const { token } = await service.customer(10_000_000n)
  const order = await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
  const { db } = service.services
  const id = order.body.service_id

  await db.query('update vps_machine set image = $1 where id = $2', ['nova-42', id])
  expect(await run('image', 'remove', 'nova-42')).toMatchObject(refused('machines made from it: 1'))
  await db.query('update vps_machine set image = $1 where id = $2', ['debian-12', id])

  const { rows } = await db.query(
    `update vps_order set status = 'awaiting_payment', os_id = $1 where service_id = $2 returning expires_at`,
    [os_id, id],
  )
  expect(await run('image', 'remove', 'nova-42')).toMatchObject(refused('orders that wait for payment: 1'))
  service.clock.advance(rows[0].expires_at.getTime() - service.clock.now().getTime() + 1)

  catalogFile = join(folder, 'catalog.json')
  const [plan, ...plans] = defaultCatalog.plans
  await writeFile(
    catalogFile,
    JSON.stringify({ ...defaultCatalog, plans: [{ ...plan, images: ['nova-42'] }, ...plans] }),
  )
  expect(await run('image', 'remove', 'nova-42')).toMatchObject(refused(`plan ${plan!.slug} names it`))
  catalogFile = undefined
  expect(await run('image', 'remove', 'nova-42')).toMatchObject({ exitCode: 0 })
})
