import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../../config/config.ts'
import { readConfigFile } from '../../config/read-config-file.ts'
import type { Services } from '../../platform/services.ts'
import type { Installed } from '../command.ts'
import { runOperator } from '../run-operator.ts'
import { testOperator } from '../testing.ts'

/* The bundle is made on one computer and opened on another: here these are two folders. */

const SECRETS = {
  folder: 'f'.repeat(64),
  server: 'server-secret-0123456789abcdefghij',
  deposit: 'deposit-secret-0123456789abcdefghi',
  receipt: 'receipt-secret-0123456789abcdefghi',
}
const TEXTS = {
  PATH: '/usr/bin',
  COINRACK_PROFILE: 'production',
  COINRACK_PUBLIC_URL: 'https://vps.example.net',
  COINRACK_PUBLIC_IP: '192.0.2.7',
  COINRACK_HOST: '10.0.0.5',
  COINRACK_DATA: '/var/lib/first',
  COINRACK_MAIL_FROM: 'Rack "one" <rack@example.net>',
  COINRACK_RATE_LOGIN: '7/min',
  COINRACK_CHAINS: 'chains.json',
  COINRACK_CLUSTER: 'somewhere/cluster.json',
  SMTP_URL: 'smtps://me:secret@mail.example.net',
  DATABASE_URL: 'postgres://me:secret@db1,db2/coinrack',
}
const CLUSTER = {
  name: 'rack',
  certificate: 'client.crt',
  key: 'client.key',
  cluster_certificate: 'cluster.crt',
}

let folder: string
let file: string
const world = {
  clock: { now: () => new Date('2026-11-24T03:00:00Z') },
  random: { bytes: (length: number) => new Uint8Array(length).fill(7) },
}
const run = (installed: Partial<Installed>, ...words: string[]) =>
  runOperator(testOperator(world as Services, { installed: { profile: 'production', ...installed } }), words)
const bundle = (texts: Record<string, string> = TEXTS, to = file, profile = 'production') =>
  run(
    {
      profile,
      secrets: async () => SECRETS,
      shared: async () => ({
        texts,
        files: {
          chainsFile: join(folder, 'chains.json'),
          catalogFile: undefined,
          clusterFile: join(folder, 'cluster.json'),
        },
      }),
    },
    'replica',
    'bundle',
    to,
    '--json',
  )
const joinBundle = (dataFolder: string, passphrase: string) =>
  run(
    { dataFolder, prepare: async () => void (await mkdir(dataFolder, { recursive: true })) },
    'replica',
    'join',
    file,
    '--passphrase',
    passphrase,
  )

let passphrase: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bundle-'))
  file = join(folder, 'replica.age')
  await writeFile(join(folder, 'chains.json'), '[]')
  await writeFile(join(folder, 'cluster.json'), JSON.stringify(CLUSTER))
  for (const name of ['client.crt', 'client.key', 'cluster.crt'])
    await writeFile(join(folder, name), `PEM of ${name}`)
  const made = await bundle()
  expect(made.stderr).toBe('')
  passphrase = join(folder, 'passphrase')
  await writeFile(passphrase, `${JSON.parse(made.stdout).passphrase}\n`, { mode: 0o600 })
})
afterAll(() => rm(folder, { recursive: true }))

test('default: the other computer has the settings, secrets and files of the first, and no machines', async () => {
  const dataFolder = join(folder, 'second')
  const joined = await joinBundle(dataFolder, passphrase)
  expect([joined.exitCode, joined.stderr]).toEqual([0, ''])
  const config = loadConfig({ COINRACK_DATA: dataFolder }, readConfigFile)
  expect(config).toMatchObject({
    profile: 'production',
    localMachines: false,
    serverSecret: SECRETS.server,
    depositSecret: SECRETS.deposit,
    receiptSecret: SECRETS.receipt,
    databaseUrl: TEXTS.DATABASE_URL,
    smtpUrl: TEXTS.SMTP_URL,
    mailFrom: TEXTS.COINRACK_MAIL_FROM,
    chainsFile: join(dataFolder, 'shared/chains.json'),
    clusterFile: join(dataFolder, 'shared/cluster.json'),
    rates: { login: { limit: 7 } },
    host: '127.0.0.1',
    dataFolder,
    warnings: [],
  })
  const cluster = JSON.parse(await readFile(config.clusterFile!, 'utf8'))
  expect(await readFile(join(dataFolder, 'shared', cluster.key), 'utf8')).toBe('PEM of client.key')
  expect((await stat(join(dataFolder, 'coinrack.env'))).mode & 0o777).toBe(0o600)
})

test('behavior: the file shows nothing without its passphrase', async () => {
  const sealed = await readFile(file, 'latin1')
  for (const secret of [SECRETS.server, SECRETS.deposit, 'example.net']) expect(sealed).not.toContain(secret)
  expect(sealed).toMatch(/^age-encryption\.org\/v1\n-> scrypt /)
})

test('error: another passphrase, or a file that was changed, opens nothing and leaves nothing', async () => {
  const dataFolder = join(folder, 'third')
  const wrong = join(folder, 'wrong')
  await writeFile(wrong, 'another')
  const refused = await joinBundle(dataFolder, wrong)
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('not a whole bundle')])
  await expect(stat(dataFolder)).rejects.toThrow('ENOENT')
})

test('error: a data folder that a service has is left as it is', async () => {
  const dataFolder = join(folder, 'taken')
  await mkdir(dataFolder)
  await writeFile(join(dataFolder, 'coinrack.env'), 'COINRACK_PORT=1234\n')
  const refused = await joinBundle(dataFolder, passphrase)
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringContaining('belongs to a service already'),
  ])
  expect(await readFile(join(dataFolder, 'coinrack.env'), 'utf8')).toBe('COINRACK_PORT=1234\n')
})

test('error: the demo, and a database inside the data folder, are of one computer', async () => {
  const to = join(folder, 'never.age')
  expect((await bundle(TEXTS, to, 'demo')).stderr).toContain('The demo has chains of its own')
  const { DATABASE_URL: _, ...embedded } = TEXTS
  expect((await bundle(embedded, to)).stderr).toContain('The database is inside the data folder')
  expect((await bundle()).stderr).toContain('is there already')
})
