import { expect, test } from 'vitest'
import { runCommand } from './run-command.ts'
import { serviceUser } from './service-user.ts'

const isRoot = process.getuid?.() === 0

test.runIf(isRoot)('default: as root, a user that exists', async () => {
  const { stdout } = await runCommand('id', ['-u', 'nobody'])
  await expect(serviceUser('nobody')).resolves.toMatchObject({ uid: Number(stdout), name: 'nobody' })
})

test.runIf(isRoot)('behavior: a program runs as that user, without root rights', async () => {
  const { stdout } = await runCommand('id', ['-u'], { user: await serviceUser('nobody') })
  expect(Number(stdout)).toBe((await serviceUser('nobody'))?.uid)
})

test.runIf(isRoot)('error: as root, a user that does not exist', async () => {
  await expect(serviceUser('no-such-user')).rejects.toThrow(/no-such-user does not exist.*useradd/)
})

test.skipIf(isRoot)('behavior: not root, nobody else to run as', async () => {
  await expect(serviceUser('no-such-user')).resolves.toBeUndefined()
})
