import { expect, test } from 'vitest'
import { createSlots } from './slots.ts'

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('default: so many at a time, the others in the order in which they came', async () => {
  const slots = createSlots({ most: 2, waitMs: 10_000 })
  let [now, most] = [0, 0]
  const order: number[] = []
  const work = (name: number) =>
    slots.run(async () => {
      most = Math.max(most, ++now)
      order.push(name)
      await sleep(5)
      now--
    })
  await Promise.all([1, 2, 3, 4, 5, 6].map(work))
  expect(most).toBe(2)
  expect(order).toEqual([1, 2, 3, 4, 5, 6])
})

test('error: one that waits too long is told when to come again, and takes no slot later', async () => {
  const slots = createSlots({ most: 1, waitMs: 20 })
  const giveBack = await slots.take()
  await expect(slots.take()).rejects.toMatchObject({ code: 'overloaded', options: { retryAfter: 0.02 } })
  giveBack()
  const again = await slots.take()
  again()
})

test('behavior: work that fails gives its slot back', async () => {
  const slots = createSlots({ most: 1, waitMs: 20 })
  for (let time = 0; time < 3; time++)
    await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await slots.run(async () => 'done')).toBe('done')
})
