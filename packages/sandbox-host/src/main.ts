import { readFileSync } from 'node:fs'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { arch, hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { type FileLock, lockFile } from '@coinrack/host/file-lock.ts'
import { decodeJoinToken } from '@coinrack/host/join-token.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { keepReady, openHost } from './host.ts'
import { type Identity, keyToJoin, readIdentity, writeIdentity } from './identity.ts'
import { JoinError, joinService } from './join.ts'
import { keepConnected } from './keep-connected.ts'
import { readSettings, SettingError } from './settings.ts'

/*
 * `npm run host -- join <token>` makes this machine a sandbox host of a service; `npm run host` runs it.
 */

const USAGE = `npm run host -- join <token>   join a service, by the token that its operator was given
npm run host                   run as a host of the service that was joined`

const say = (line: string) => console.log(line)
const clock = { now: () => new Date() }
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'))

async function main([command, text, ...more]: string[]): Promise<void> {
  const settings = readSettings(process.env)
  const { dataFolder } = settings
  const file = join(dataFolder, 'host', 'identity.json')
  if (more.length > 0 || (command !== undefined && command !== 'join')) throw new JoinError(USAGE)
  if (process.getuid?.() !== 0)
    throw new JoinError('A sandbox host makes users, networks and groups: run it as root')
  await mkdir(dataFolder, { recursive: true, mode: 0o711 })
  await chmod(dataFolder, 0o711)
  const locks = await lockAll(dataFolder)

  if (command === 'join') await joinBy(text, file)
  const identity = await readIdentity(file)
  if (!identity) throw new JoinError(`This machine has not joined a service.\n${USAGE}`)
  say(`${identity.hostId} on ${hostname()} (${arch()}), a sandbox host of ${identity.services.join(', ')}`)

  const log = {
    info: (fields: object, message: string) => say(`${message} ${describe(fields)}`.trimEnd()),
  }
  const user = await serviceUser()
  const sandboxes = await openHost({ settings, user, clock, log, say })
  const connections = keepConnected({
    ...sandboxes,
    ...{ identity, version, clock, log, say },
    keep: (changed: Identity) => writeIdentity(file, changed),
  })
  const endReady = keepReady(sandboxes, say)

  let isEnding = false
  const end = async () => {
    if (isEnding) return
    isEnding = true
    endReady()
    connections.close()
    await sandboxes.close()
    for (const lock of locks) await lock.release()
    say('Ended. The sandboxes go on; they are reached again when the host runs.')
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end())
}

/** As the service of a data folder does, so that there is one program on it, and `npm run stop` ends it. */
async function lockAll(dataFolder: string): Promise<FileLock[]> {
  const locks: FileLock[] = []
  for (const file of ['run/locks/machines.pid', 'run/services/host.pid']) {
    const { lock } = await lockFile(join(dataFolder, file))
    if (!lock)
      throw new JoinError(
        `A service, or another host, runs on ${dataFolder}\n  End it with npm run stop, or set COINRACK_DATA to another folder.`,
      )
    locks.push(lock)
  }
  return locks
}

async function joinBy(text: string | undefined, file: string): Promise<void> {
  const token = text === undefined ? undefined : decodeJoinToken(text)
  if (!token)
    throw new JoinError(
      'This is no token. The operator of the service gets one by: npm run operator -- host invite NAME',
    )
  say(`Joining ${token.addresses.join(', ')} as ${token.hostId}`)
  const keyFile = join(dirname(file), 'joining.json')
  const key = await keyToJoin(keyFile, token.hostId, token.secret)
  await writeIdentity(file, await joinService(token, key, clock.now()))
  await rm(keyFile, { force: true })
  say('Joined. From now on the machine runs by: npm run host')
}

const describe = (fields: object) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${value instanceof Error ? value.message : String(value)}`)
    .join(' ')

try {
  await main(process.argv.slice(2))
} catch (error) {
  const isExpected = error instanceof JoinError || error instanceof SettingError
  console.error(isExpected ? (error as Error).message : error)
  process.exit(1)
}
