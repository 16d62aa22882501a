import { createCipheriv, createHash } from 'node:crypto'
import { setInterval } from 'node:timers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runTask } from '../ports/suites/sandbox-channel.suite.ts'
import { makeSandboxSpec } from '../testing.ts'
import { makeSandboxes } from './testing.ts'

const MIB = 1024 ** 2
/** Nearly the most that a file may have. */
const BYTES = 1_900 * MIB
const LONG_MS = 30 * 60_000
/** The additional memory that a service may need while a file goes through it. */
const MORE_MEMORY = 160 * MIB

const spec = makeSandboxSpec({ vcpus: 1, memoryMb: 2048, diskGb: 4 })
let sandboxes: Awaited<ReturnType<typeof makeSandboxes>>
beforeAll(async () => {
  sandboxes = await makeSandboxes()
  await sandboxes.keepTemplate('base', spec)
  await sandboxes.runtime.ensure(spec)
}, LONG_MS)
afterAll(async () => {
  await sandboxes?.runtime.destroy(spec.id)
  await sandboxes?.close()
})

/** Bytes that nothing makes smaller, the same in each run, as they are asked for. */
async function* content(bytes: number) {
  const cipher = createCipheriv('aes-256-ctr', Buffer.alloc(32, 1), Buffer.alloc(16))
  const piece = Buffer.alloc(MIB)
  for (let left = bytes; left > 0; left -= piece.length)
    yield cipher.update(piece.subarray(0, Math.min(left, piece.length)))
}

async function sumOf(source: AsyncIterable<Uint8Array>) {
  const hash = createHash('sha256')
  for await (const chunk of source) hash.update(chunk)
  return hash.digest('hex')
}

/** How much memory the work took at most beyond what there was, and how long it lasted. */
async function watched<T>(work: () => Promise<T>) {
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 100)
  const begun = performance.now()
  const value = await work().finally(() => clearInterval(timer))
  return { value, memory: most - before, seconds: (performance.now() - begun) / 1000 }
}

test('behavior: a file of nearly 2 GB goes in and comes out as it was, and the service’s memory stays as it is', {
  timeout: LONG_MS,
}, async () => {
  const { files } = sandboxes.channel
  const sum = await sumOf(content(BYTES))
  const up = await watched(() => files.write(spec.id, 'large', content(BYTES)))
  expect(up.value).toBe(BYTES)
  expect((await files.stat(spec.id, 'large')).size).toBe(BYTES)
  const inside = await runTask(sandboxes.channel, spec.id, { run: { command: 'sha256sum large' } })
  expect(inside.stdout.split(' ')[0]).toBe(sum)
  const down = await watched(async () => sumOf((await files.read(spec.id, 'large')).content))
  expect(down.value).toBe(sum)
  for (const [way, { memory, seconds }] of Object.entries({ up, down })) {
    const [speed, more] = [BYTES / MIB / seconds, memory / MIB]
    console.log(`${way}: ${Math.round(speed)} MiB/s, ${Math.round(more)} MiB more memory at most`)
    expect(memory).toBeLessThan(MORE_MEMORY)
  }
})
