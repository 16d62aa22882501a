import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TemplateStatus } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { lockFile } from '@coinrack/host/file-lock.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataLayout } from '../data-folder/data-layout.ts'
import { createReadiness } from './readiness.ts'
import { startTestService, type TestService } from './testing.ts'

const templates: TemplateStatus[] = [
  { name: 'base', state: 'ready' },
  { name: 'code-interpreter', state: 'missing' },
]

let service: TestService
let dataFolder: string
beforeAll(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'coinrack-ready-'))
  service = await startTestService({ env: { COINRACK_DATA: dataFolder }, sandboxes: { templates } })
})
afterAll(async () => {
  await service.close()
  await rm(dataFolder, { recursive: true })
})

const waitsFor = async (change: object = {}) =>
  (await createReadiness({ ...service.services, ...change })()).filter(({ ready }) => !ready)

test('default: it waits for every template of sandboxes, also for one that is not begun', async () => {
  const second = templates[1]!
  expect(await waitsFor()).toEqual([
    { name: 'sandbox template code-interpreter', ready: false, detail: 'missing' },
  ])
  Object.assign(second, { state: 'building', detail: 'Unpacking' })
  expect(await waitsFor()).toMatchObject([{ detail: 'Unpacking' }])
  second.state = 'ready'
  expect(await waitsFor()).toEqual([])
})

test('behavior: the one that tends the machines waits until the sandboxes are open, the others do not', async () => {
  const unopened = { sandboxes: new Map() }
  expect(await waitsFor(unopened)).toMatchObject([{ detail: 'no service tends the machines yet' }])
  const { lock } = await lockFile(dataLayout(dataFolder).machinesPidFile)
  expect(await waitsFor(unopened)).toMatchObject([{ detail: 'they are being opened' }])
  await lock!.release()
  const { config } = service.services
  expect(await waitsFor({ ...unopened, config: { ...config, sandboxes: false } })).toEqual([])
})
