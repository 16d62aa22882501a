import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DataFolder, openDataFolder } from './data-folder.ts'

const isRoot = process.getuid?.() === 0
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

let parent: string
let path: string
let opened: DataFolder[]

/** As the service opens it, without a service user to reach it. */
async function open(profile = 'demo', port = 8080) {
  const folder = await openDataFolder({ path, profile, port, user: undefined })
  await folder.started()
  opened.push(folder)
  return folder
}

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'data-'))
  path = join(parent, 'deep', 'coinrack')
  opened = []
})

afterEach(async () => {
  for (const folder of opened) await folder.close()
  await rm(parent, { recursive: true })
})

test('default: makes what is missing, for its owner only', async () => {
  await open()
  expect(await modeOf(path)).toBe('700')
  expect(await modeOf(join(path, 'secrets'))).toBe('700')
  expect(await modeOf(join(path, 'mail'))).toBe('700')
})

test('behavior: can be opened again after it was closed', async () => {
  await (await open()).close()
  opened = []
  await open()
})

test('behavior: secrets are made once, differ, and only their owner can read them', async () => {
  const folder = await open()
  const server = await folder.secret('server')
  expect(server).toMatch(/^[0-9a-f]{64}$/)
  expect(await folder.secret('server')).toBe(server)
  expect(await folder.secret('deposit')).not.toBe(server)
  expect(await modeOf(join(path, 'secrets', 'server'))).toBe('600')
})

test('error: another service runs on it with the same port', async () => {
  await open()
  await expect(open()).rejects.toMatchObject({
    code: 'data_folder_in_use',
    message: expect.stringContaining(`(process ${process.pid})`),
  })
})

test('behavior: services with other ports share it, with its secrets and its identity', async () => {
  const first = await open()
  const second = await open('demo', 8082)
  expect(second.id).toBe(first.id)
  expect(await second.secret('deposit')).toBe(await first.secret('deposit'))
  expect(first.id).toMatch(/^[0-9a-f]{64}$/)
})

test('behavior: while one starts, the next waits and says so', async () => {
  const first = await openDataFolder({ path, profile: 'demo', port: 8080, user: undefined })
  opened.push(first)
  const told: string[] = []
  let isOpen = false
  const second = openDataFolder({
    path,
    profile: 'demo',
    port: 8082,
    user: undefined,
    onWait: (line) => told.push(line),
  }).then((folder) => {
    isOpen = true
    opened.push(folder)
  })
  await expect.poll(() => told, { timeout: 5_000 }).toHaveLength(1)
  expect(told[0]).toContain(`process ${process.pid}`)
  expect(isOpen).toBe(false)
  await first.started()
  await second
})

test('error: it belongs to the other profile, and stays free', async () => {
  await (await open('demo')).close()
  opened = []
  await expect(open('production')).rejects.toMatchObject({ code: 'data_folder_of_other_profile' })
  await open('demo')
})

test.runIf(isRoot)('behavior: as root, the service user can pass through but not look', async () => {
  const user = await serviceUser('nobody')
  await runCommand('chmod', ['711', parent])
  opened.push(await openDataFolder({ path, profile: 'demo', port: 8080, user }))
  await runCommand('test', ['-x', join(path, 'run')], { user })
  await expect(runCommand('ls', [path], { user })).rejects.toThrow(/denied/)
  await expect(runCommand('ls', [join(path, 'secrets')], { user })).rejects.toThrow(/denied/)
})

test.runIf(isRoot)('error: as root, under a private home', async () => {
  const user = await serviceUser('nobody')
  await expect(openDataFolder({ path, profile: 'demo', port: 8080, user })).rejects.toMatchObject({
    code: 'data_folder_unreachable',
  })
})
