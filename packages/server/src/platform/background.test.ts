import { expect, test } from 'vitest'
import { repeat } from './background.ts'

const until = async (reached: () => boolean) => {
  while (!reached()) await new Promise((resolve) => setTimeout(resolve, 2))
}

test('default: again and again, until it is ended', async () => {
  const end = new AbortController()
  let steps = 0
  const loop = repeat(
    end.signal,
    { everyMs: 1 },
    async () => void steps++,
    () => {},
  )
  await until(() => steps >= 5)
  end.abort()
  await loop
  const ended = steps
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(steps).toBe(ended)
})

test('behavior: never two at a time, and the end waits for the one that runs', async () => {
  const end = new AbortController()
  let [running, most, finished] = [0, 0, false]
  const loop = repeat(
    end.signal,
    { everyMs: 1 },
    async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 20))
      running--
      finished = end.signal.aborted
    },
    () => {},
    (now) => setInterval(now, 1).unref(),
  )
  await until(() => running === 1)
  end.abort()
  await loop
  expect([most, running, finished]).toEqual([1, 0, true])
})

test('behavior: after a step with nothing to do the pause is the long one, and a wake ends it', async () => {
  const end = new AbortController()
  let [steps, wake] = [0, () => {}]
  const loop = repeat(
    end.signal,
    { everyMs: 1, idleMs: 60_000 },
    async () => ({ isIdle: ++steps % 3 === 0 }),
    () => {},
    (now) => {
      wake = now
    },
  )
  await until(() => steps === 3)
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(steps).toBe(3)
  wake()
  await until(() => steps === 6)
  end.abort()
  await loop
})

test('behavior: a failure is told and does not end it; the pauses grow', async () => {
  const end = new AbortController()
  const failures: number[] = []
  const loop = repeat(
    end.signal,
    { everyMs: 10 },
    async () => {
      throw new Error('down')
    },
    () => failures.push(performance.now()),
  )
  await until(() => failures.length === 4)
  end.abort()
  await loop
  // 20, 40, 80 ms at least.
  const pauses = failures.slice(1).map((at, index) => at - failures[index]!)
  for (const [index, pause] of pauses.entries())
    expect(pause).toBeGreaterThanOrEqual(10 * 2 ** (index + 1) - 5)
})

test('behavior: it can be woken', async () => {
  const end = new AbortController()
  let [steps, now] = [0, () => {}]
  const loop = repeat(
    end.signal,
    { everyMs: 60_000 },
    async () => void steps++,
    () => {},
    (wake) => {
      now = wake
    },
  )
  await until(() => steps === 1)
  await new Promise((resolve) => setTimeout(resolve, 10))
  now()
  await until(() => steps === 2)
  end.abort()
  await loop
})
