import { expect, test, vi } from 'vitest'
import { createPreparedSlots } from './prepared-slots.ts'
import { sandboxMachineAt } from './sandbox-machine.ts'

function makeSlots(most: number) {
  const there = new Set<string>()
  let made = 0
  const slots = createPreparedSlots({
    most,
    log: { info() {} },
    async make() {
      const qemu = sandboxMachineAt('/nowhere', `sbm${++made}`)
      there.add(qemu.id)
      return qemu
    },
    async remove({ id }) {
      there.delete(id)
    },
  })
  return { slots, there }
}

test('default: places are made in advance, in a moment, and each is taken once', async () => {
  const { slots, there } = makeSlots(2)
  slots.tend()
  expect(slots.take()).toBeUndefined()
  await vi.waitUntil(() => there.size === 2)
  expect([slots.take()?.id, slots.take()?.id, slots.take()]).toEqual(['sbm1', 'sbm2', undefined])
  slots.tend()
  await vi.waitUntil(() => there.size === 4)
  await slots.close()
})

test('behavior: closed, it removes those that nobody took, and makes no more', async () => {
  const { slots, there } = makeSlots(2)
  slots.tend()
  await vi.waitUntil(() => there.size === 2)
  const taken = slots.take()!
  slots.tend()
  await slots.close()
  expect([...there]).toEqual([taken.id])
  slots.tend()
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect([...there]).toEqual([taken.id])
})

test('behavior: none are made where none are wanted', async () => {
  const { slots, there } = makeSlots(0)
  slots.tend()
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(there.size).toBe(0)
})
