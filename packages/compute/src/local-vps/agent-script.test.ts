import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isAgentUp, runScript } from './agent-script.ts'
import { type FakeAgent, startFakeAgent } from './fake-agent.ts'

let folder: string
let path: string
let agent: FakeAgent

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-'))
  path = join(folder, 'socket')
  agent = await startFakeAgent(path)
})
afterEach(async () => {
  await agent.close()
  await rm(folder, { recursive: true })
})

test('default: the script runs to its end, with its arguments and its input', async () => {
  const script = 'cat >"$1"; printf %s "$2" >>"$1"'
  const input = Buffer.from([0, 255, 10])
  await runScript(path, script, { args: [join(folder, 'out'), "a 'b'"], input, timeoutMs: 5_000 })
  expect(await readFile(join(folder, 'out'))).toEqual(Buffer.concat([input, Buffer.from("a 'b'")]))
})

test('error: a script that fails says how, one that does not end is not waited for', async () => {
  await expect(runScript(path, 'echo no disk >&2; exit 3', { timeoutMs: 5_000 })).rejects.toThrow(
    'ended with 3\nno disk',
  )
  await expect(runScript(path, 'kill -9 $$', { timeoutMs: 5_000 })).rejects.toThrow('a signal')
  await expect(runScript(path, 'sleep 20', { timeoutMs: 300 })).rejects.toThrow('did not end within 0.3 s')
})

test('behavior: an agent is up that answers, not one that is silent or not there', async () => {
  expect(await isAgentUp(path, 1_000)).toBe(true)
  agent.lies.set('guest-sync-delimited', undefined)
  expect(await isAgentUp(path, 200)).toBe(false)
  expect(await isAgentUp(join(folder, 'none'), 200)).toBe(false)
})
