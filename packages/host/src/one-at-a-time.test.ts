import { expect, test } from 'vitest'
import { oneAtATime } from './one-at-a-time.ts'

test('default: tasks of one key follow each other, also past a failure', async () => {
  const oneByOne = oneAtATime()
  const events: string[] = []
  const task =
    (name: string, fails = false) =>
    async () => {
      events.push(`${name} begins`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      events.push(`${name} ends`)
      if (fails) throw new Error(name)
    }
  const first = oneByOne('a', task('first', true))
  const second = oneByOne('a', task('second'))
  await expect(first).rejects.toThrow('first')
  await second
  expect(events).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
})

test('behavior: keys do not wait for each other', async () => {
  const oneByOne = oneAtATime()
  const never = Promise.withResolvers<void>()
  oneByOne('a', () => never.promise)
  expect(await oneByOne('b', async () => 'done')).toBe('done')
})
