import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { SshParameters } from '@coinrack/sdk/index.ts'
import { configFolder, writePrivate } from './config-folder.ts'
import { exitCodes, RefusedError } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

const PLAIN: [keyof SshParameters, RegExp][] = [
  ['host', /^[0-9a-z][0-9a-z.:-]*$/i],
  ['username', /^[a-z_][a-z0-9_-]*$/],
]
const KNOWN_HOST = /^[^\u0000-\u001f]+$/
const ID = /^[0-9a-z_]+$/

/**
 * What a service says of a machine, before it becomes a part of a command line or of a file.
 * @throws RefusedError when it is anything but a plain address and name
 */
export function plainAccess(access: SshParameters): SshParameters {
  const isPlain =
    PLAIN.every(([name, pattern]) => pattern.test(String(access[name]))) &&
    Number.isInteger(access.port) &&
    access.knownHosts.every((line) => KNOWN_HOST.test(line))
  if (isPlain) return access
  throw new RefusedError('The service answered an address for SSH that is none')
}

/** The file of the host keys of a machine: our own, so that nothing is changed in that of the user. */
export function knownHostsFile(env: Terminal['env'], id: string): string {
  if (!ID.test(id)) throw new RefusedError('The service answered an identifier that is none')
  return join(configFolder(env), 'known_hosts', id)
}

/** Writes down the host keys that the service has published for a machine. @returns the file */
export async function keepHostKeys(env: Terminal['env'], id: string, knownHosts: string[]): Promise<string> {
  if (knownHosts.length === 0)
    throw new RefusedError(
      'The service has published no host key of it yet: wait until SSH answers, coinrack wait',
    )
  const path = knownHostsFile(env, id)
  await writePrivate(path, `${knownHosts.join('\n')}\n`)
  return path
}

/** Options of SSH by which only a machine is talked to that proves to hold a published host key. */
export const strictOptions = (knownHosts: string): [string, string][] => [
  // Values are read like lines of a configuration file, where a space ends a name.
  ['UserKnownHostsFile', `"${knownHosts}"`],
  ['GlobalKnownHostsFile', 'none'],
  ['StrictHostKeyChecking', 'yes'],
  ['UpdateHostKeys', 'no'],
]

/** Options as words of `ssh` and `scp`. */
export const optionWords = (options: [string, string][]) =>
  options.flatMap(([name, value]) => ['-o', `${name}=${value}`])

/** Runs a program of this computer on the terminal. @returns its exit code */
export function runHere(terminal: Terminal, program: string, words: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    // Interrupts reach it from the terminal itself; it decides what they mean.
    const child = spawn(program, words, { stdio: 'inherit', env: terminal.env as NodeJS.ProcessEnv })
    const end = () => child.kill('SIGTERM')
    terminal.signal.addEventListener('abort', end, { once: true })
    child.once('error', (error: NodeJS.ErrnoException) => {
      terminal.signal.removeEventListener('abort', end)
      reject(
        new RefusedError(
          error.code === 'ENOENT'
            ? `There is no program ${program} on this computer: install OpenSSH`
            : error.message,
          exitCodes.notRun,
        ),
      )
    })
    child.once('close', (code) => {
      terminal.signal.removeEventListener('abort', end)
      resolve(code ?? exitCodes.interrupted)
    })
  })
}
