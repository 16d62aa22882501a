import { expect, test } from 'vitest'
import { decide } from './acceleration.ts'

const boots = (answer: boolean) => async () => answer

test('default: KVM when a kernel booted with it', async () => {
  expect(await decide({ canOpenDevice: true, boots: boots(true) })).toMatchObject({ accelerator: 'kvm' })
})

test('behavior: a device on which kernels hang is not used', async () => {
  const verdict = await decide({ canOpenDevice: true, boots: boots(false) })
  expect(verdict).toMatchObject({ accelerator: 'tcg', reason: expect.stringContaining('no kernel boots') })
})

test('behavior: without the device nothing is booted', async () => {
  const verdict = await decide({
    canOpenDevice: false,
    boots: async () => {
      throw new Error('must not be asked')
    },
  })
  expect(verdict.accelerator).toBe('tcg')
})
