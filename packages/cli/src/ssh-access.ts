import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { SshParameters } from '@coinrack/sdk/index.ts'
import { configFolder, writePrivate } from './config-folder.ts'
import { exitCodes, RefusedError } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** The file of the host keys of a machine: our own, so that nothing is changed in that of the user. */
export const knownHostsFile = (env: Terminal['env'], id: string) => join(configFolder(env), 'known_hosts', id)

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

/** Options for `ssh` and `scp`: only a machine that proves to hold a published host key is talked to. */
export const strictOptions = (knownHosts: string) => [
  ...['-o', `UserKnownHostsFile=${quote(knownHosts)}`, '-o', 'GlobalKnownHostsFile=none'],
  ...['-o', 'StrictHostKeyChecking=yes', '-o', 'UpdateHostKeys=no'],
]

/** The values of options are read like lines of a configuration file, where a space ends a name. */
const quote = (path: string) => `"${path}"`

/** The arguments of `ssh` up to the command. */
export const sshWords = ({ host, port, username }: SshParameters, knownHosts: string) => [
  ...strictOptions(knownHosts),
  ...['-p', String(port), `${username}@${host}`],
]

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
    child.once('close', (code, signal) => {
      terminal.signal.removeEventListener('abort', end)
      resolve(code ?? (signal === 'SIGINT' ? exitCodes.interrupted : 128 + 15))
    })
  })
}
