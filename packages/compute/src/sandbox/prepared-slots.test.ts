import { expect, test, vi } from 'vitest'
import { createPlaces } from './prepared-slots.ts'
import { machineAt } from './sandbox-machine.ts'

function makePlaces(most: number) {
  const there = new Set<string>()
  let made = 0
  const places = createPlaces({
    most,
    log: { info() {} },
    async make() {
      const guest = machineAt('/nowhere', `sbm${++made}`)
      there.add(guest.id)
      return guest
    },
    async remove({ id }) {
      there.delete(id)
    },
  })
  return { places, there }
}

test('default: places are made in advance, in a moment, and each is taken once', async () => {
  const { places, there } = makePlaces(2)
  places.tend()
  expect(places.take()).toBeUndefined()
  await vi.waitUntil(() => there.size === 2)
  expect([places.take()?.id, places.take()?.id, places.take()]).toEqual(['sbm1', 'sbm2', undefined])
  places.tend()
  await vi.waitUntil(() => there.size === 4)
  await places.close()
})

test('behavior: closed, it removes those that nobody took, and makes no more', async () => {
  const { places, there } = makePlaces(2)
  places.tend()
  await vi.waitUntil(() => there.size === 2)
  const taken = places.take()!
  places.tend()
  await places.close()
  expect([...there]).toEqual([taken.id])
  places.tend()
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect([...there]).toEqual([taken.id])
})

test('behavior: none are made where none are wanted', async () => {
  const { places, there } = makePlaces(0)
  places.tend()
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(there.size).toBe(0)
})
