import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readGuide, startGuideService } from './support/guide-service.ts'
import { root } from './support/sources.ts'

/*
 * The guide for agents, followed from an empty folder with the official client and nothing else: what it says is printed.
 */

let folder: string
let service: Awaited<ReturnType<typeof startGuideService>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-guide-agent-'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  service = await startGuideService()
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

test('default: its blocks print what it shows', async () => {
  const { program, printed, blocks } = readGuide('docs/guide-agent.md', 'js', '//')
  expect(blocks).toBeGreaterThanOrEqual(9)
  await writeFile(join(folder, 'agent.mjs'), service.playable(program, 'agent-guide@my-domain.net'))
  const { stdout } = await runCommand(process.execPath, ['agent.mjs'], { cwd: folder, timeoutMs: 120_000 })
  expect(stdout.trim().split('\n')).toEqual(printed)
}, 120_000)
