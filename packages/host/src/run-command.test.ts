import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { type CommandError, runCommand } from './run-command.ts'
import { serviceUser } from './service-user.ts'

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('did not fail'),
    (error: CommandError) => error,
  )

test('default: returns what the program wrote', async () => {
  await expect(runCommand('sh', ['-c', 'echo out; echo err >&2'])).resolves.toEqual({
    stdout: 'out\n',
    stderr: 'err\n',
  })
})

test('behavior: arguments are passed as they are, without a shell', async () => {
  const { stdout } = await runCommand('printf', ['%s', '$(id) ; `id`'])
  expect(stdout).toBe('$(id) ; `id`')
})

test('behavior: input goes to standard input', async () => {
  const { stdout } = await runCommand('cat', [], { input: 'grüße' })
  expect(stdout).toBe('grüße')
})

test('behavior: a program that does not read its input is no failure', async () => {
  await runCommand('true', [], { input: 'x'.repeat(1_000_000) })
})

test('behavior: onLine gets each line, the last one without a line end too', async () => {
  const lines: string[] = []
  await runCommand('printf', ['one\\ntwo\\rthree\\r\\nfour'], { onLine: (line) => lines.push(line) })
  expect(lines).toEqual(['one', 'two', 'three', 'four'])
})

test('behavior: a bash does not take itself for a remote shell, which runs what its user has for that', async () => {
  const home = await mkdtemp(join(tmpdir(), 'coinrack-home-'))
  await writeFile(join(home, '.bashrc'), 'echo from .bashrc\n')
  const env = { HOME: home }
  expect((await runCommand('bash', ['-c', 'echo ran'], { env })).stdout).toBe('ran\n')
  expect((await runCommand('bash', [], { env, input: 'echo ran' })).stdout).toBe('ran\n')
  expect((await runCommand('timeout', ['5', 'bash', '-c', 'echo ran'], { env })).stdout).toBe('ran\n')
  await rm(home, { recursive: true })
})

test('behavior: secrets in the environment of the caller are not passed on', async () => {
  process.env.SOME_SECRET = 'hidden'
  const { stdout } = await runCommand('env', [], { env: { GIVEN: 'yes' } })
  delete process.env.SOME_SECRET
  expect(stdout).toContain('GIVEN=yes')
  expect(stdout).toContain('PATH=')
  expect(stdout).not.toContain('hidden')
})

test.each([
  ['the same user', undefined],
  ['another user', await serviceUser('nobody')],
])('behavior: as %s, ends with its caller, also when that is killed', async (_who, user) => {
  const script = `const { runCommand } = await import(${JSON.stringify(join(import.meta.dirname, 'run-command.ts'))})
      await runCommand('sh', ['-c', 'echo $$; exec sleep 60'], {
        user: ${JSON.stringify(user)},
        onLine: (line) => console.log(line),
      })`
  const caller = spawn(process.execPath, ['--input-type=module', '--eval', script])
  const [output] = await once(caller.stdout, 'data')
  // A process that ended stays a zombie until it is reaped; its state is what follows the name in parentheses.
  const isAlive = async () => {
    const stat = await readFile(`/proc/${Number(output)}/stat`, 'utf8').catch(() => '')
    return stat !== '' && !/\) [ZX] /.test(stat)
  }
  expect(await isAlive()).toBe(true)
  caller.kill('SIGKILL')
  await vi.waitUntil(async () => !(await isAlive()), { timeout: 5_000 })
})

test('error: another exit code, with the end of standard error', async () => {
  const error = await failureOf(runCommand('sh', ['-c', 'echo the reason >&2; exit 3']))
  expect(error).toMatchObject({ name: 'CommandError', command: 'sh', exitCode: 3, stderr: 'the reason' })
  expect(error.message).toBe('sh: exit code 3\nthe reason')
})

test('error: a program that does not exist', async () => {
  const error = await failureOf(runCommand('no-such-program-here'))
  expect(error).toMatchObject({ exitCode: null })
  expect(error.message).toMatch(/^no-such-program-here: could not be started/)
})

test('error: took too long, even when a child of it holds the pipes', async () => {
  const started = performance.now()
  const error = await failureOf(runCommand('sh', ['-c', 'sleep 5 & sleep 5'], { timeoutMs: 100 }))
  expect(error.message).toBe('sh: took longer than 0.1 s')
  expect(performance.now() - started).toBeLessThan(2_000)
})

test('error: called off', async () => {
  const calledOff = AbortSignal.timeout(50)
  const error = await failureOf(runCommand('sleep', ['5'], { signal: calledOff }))
  expect(error.message).toBe('sleep: was called off')
})
