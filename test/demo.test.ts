import { join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { CommandError, runCommand } from '@coinrack/host/run-command.ts'
import { startTestService } from '@coinrack/server/process/testing.ts'
import { expect, test } from 'vitest'

/*
 * The output of `npm run demo` when it cannot play. That it plays is shown in the end-to-end test, on a real machine.
 */

const script = join(import.meta.dirname, '../packages/cli/src/demo.ts')

/** The words on standard error; the demo has to fail. */
async function failure(url: string): Promise<string> {
  const error = await runCommand(process.execPath, [script], { env: { COINRACK_URL: url } }).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(CommandError)
  expect((error as CommandError).exitCode).toBe(1)
  return (error as CommandError).stderr
}

test('error: where no service answers it says how to start one', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const words = await failure(url)
  expect(words).toContain(`No Coinrack service answers at ${url}`)
  expect(words).toContain('npm start')
  expect(words).not.toContain('    at ')
})

test('error: a service without test money is left alone', async () => {
  const service = await startTestService()
  const url = await service.app.listen({ host: '127.0.0.1', port: await freePort() })
  expect(await failure(url)).toContain('this demo needs the demo profile')
  const { rows } = await service.services.db.query('select from account')
  expect(rows).toEqual([])
  await service.close()
})
