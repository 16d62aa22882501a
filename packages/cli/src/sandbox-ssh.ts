import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Sandbox } from '@coinrack/sdk/index.ts'
import WebSocket from 'ws'
import { configFolder } from './config-folder.ts'
import { exitCodes, RefusedError } from './exit-codes.ts'
import { keepHostKeys, strictOptions } from './ssh-access.ts'
import { BRIDGE, BRIDGE_PORT, PREPARE, SSH_FOLDER } from './ssh-bridge.ts'
import type { Terminal } from './terminal.ts'

type Env = Terminal['env']

/** The key of this computer for sandboxes. */
const identityFile = (env: Env) => join(configFolder(env), 'sandbox_key')

/**
 * Options of SSH for sandboxes: the way there is `coinrack ssh-proxy`, which also writes their host keys down. `%n` is the name as it was typed.
 * @param coinrack how a shell calls the command line
 */
export const sandboxHost = (env: Env, url: string, coinrack = 'coinrack'): [string, string][] => [
  ['User', 'user'],
  ['IdentityFile', `"${identityFile(env)}"`],
  ['IdentitiesOnly', 'yes'],
  ['ProxyCommand', `${coinrack.replaceAll('%', '%%')} ssh-proxy --url ${url} %n`],
  ...strictOptions(join(configFolder(env), 'known_hosts', '%n')),
]

const READY_MS = 20_000
const LOOK_MS = 200

/**
 * Makes a sandbox ready for SSH and connects to its server.
 * @returns a WebSocket that is open, whose binary messages are the bytes of the connection
 */
export async function connectToSandbox({ env, signal }: Terminal, sandbox: Sandbox): Promise<WebSocket> {
  const key = await sandboxKey(env)
  const prepared = await sandbox.exec(PREPARE, { user: 'root', env: { KEY: key }, cwd: '/', signal })
  if (prepared.exit_code !== 0)
    throw new RefusedError(`SSH cannot be made ready in ${sandbox.id}: ${prepared.stderr.trim()}`)
  await keepHostKeys(env, sandbox.id, [`${sandbox.id} ${prepared.stdout.trim()}`])
  const { path_url, token } = await sandbox.expose(BRIDGE_PORT, 'token', { signal })
  const url = path_url.replace(/^http/, 'ws')
  const headers = { 'x-preview-token': token! }
  const running = await connect(url, headers).catch(() => undefined)
  if (running) return running
  await sandbox.files.write('/tmp/.coinrack-ssh-bridge.py', BRIDGE, { signal })
  await sandbox.start(
    `mv /tmp/.coinrack-ssh-bridge.py ${SSH_FOLDER}/bridge.py 2>/dev/null; exec python3 ${SSH_FOLDER}/bridge.py`,
    { user: 'root', cwd: '/' },
    { signal },
  )
  for (const latest = performance.now() + READY_MS; ; await sleep(LOOK_MS, undefined, { signal })) {
    try {
      return await connect(url, headers)
    } catch (error) {
      if (performance.now() > latest)
        throw new RefusedError(
          `The SSH server of ${sandbox.id} is not reached: ${(error as Error).message}`,
          exitCodes.unavailable,
        )
    }
  }
}

function connect(url: string, headers: Record<string, string>): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false })
    socket.once('open', () => resolve(socket))
    socket.once('error', reject)
  })
}

/** The public key of this computer for sandboxes, which is made when there is none. */
export async function sandboxKey(env: Env): Promise<string> {
  const file = identityFile(env)
  const read = () => readFile(`${file}.pub`, 'utf8').then((text) => text.trim())
  return read().catch(async () => {
    await mkdir(configFolder(env), { recursive: true, mode: 0o700 })
    // Another one may make it at the same moment, and be first.
    const words = ['-q', '-t', 'ed25519', '-N', '', '-C', 'coinrack', '-f', file]
    await promisify(execFile)('ssh-keygen', words, { env: env as NodeJS.ProcessEnv }).catch(() => {})
    return read().catch(() => {
      throw new RefusedError(`No key could be made as ${file}: install OpenSSH`)
    })
  })
}
