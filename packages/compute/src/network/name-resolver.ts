import { chmod, chown, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import {
  AlreadyRunsError,
  adoptDetached,
  startDetached,
  stopDetached,
} from '@coinrack/host/detached-process.ts'
import { namespaceFile, RESOLVER } from './addresses.ts'
import type { NameRules } from './name-rules.ts'

/*
 * The resolver of a machine that has rules by name: a program in the machine's namespace, where it takes the place of
 * the operator's resolver, and outlives the service as the machine does.
 */

/** Emptied by a reboot, which ends resolvers as well. */
const FOLDER = '/run/coinrack/resolvers'
const SCRIPT = join(import.meta.dirname, 'name-resolver.sh')
const PROGRAM = join(import.meta.dirname, 'name-resolver.py')
const READY_MS = 20_000
const POLL_MS = 5

export interface ResolverRights {
  /** The user that it runs as. Default: `nobody`. */
  user?: Pick<RunAs, 'uid' | 'gid'>
  /** The files of the control groups that it joins: they take its number. */
  limits?: string[]
}

const NOBODY = { uid: 65_534, gid: 65_534 }
/** Added to the group of a machine's user. */
const GROUPS_FROM = 100_000_000

/** A group that nothing else runs as, so that the namespace's rules tell the resolver from QEMU, whose user it shares. */
export const resolverGroup = ({ user = NOBODY }: ResolverRights): number => GROUPS_FROM + user.gid

const filesOf = (id: string) => {
  const folder = join(FOLDER, id)
  const file = (name: string) => join(folder, name)
  return {
    folder,
    rules: file('rules.json'),
    program: file('resolver.py'),
    pidFile: file('pid'),
    logFile: file('log'),
  }
}

/** Writes the rules that the resolver follows from the next query on, whether it runs already or not. */
export async function writeNameRules(
  id: string,
  { allow, deny, isOpen }: NameRules,
  resolvers: string[],
  rights: ResolverRights,
): Promise<void> {
  const { folder, rules } = filesOf(id)
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const part = `${rules}.part`
  await writeFile(part, JSON.stringify({ resolvers, allow, deny, isOpen }), { mode: 0o640 })
  await chown(part, 0, resolverGroup(rights))
  await rename(part, rules)
}

/** Starts the resolver unless it runs. It answers when this returns. */
export async function keepResolver(id: string, rights: ResolverRights): Promise<void> {
  const { user = NOBODY, limits = [] } = rights
  const { rules, program, pidFile, logFile } = filesOf(id)
  const running = await adoptDetached(pidFile)
  if (running !== undefined) {
    const { gid } = await stat(`/proc/${running}`)
    if (gid === resolverGroup(rights)) return
    // Begun by a service that gave resolvers no group of their own: the rules let it ask nothing.
    await stopDetached(pidFile, { signal: 'SIGKILL', timeoutMs: 0 })
  }
  await rm(logFile, { force: true })
  await copyFile(PROGRAM, program)
  await chmod(program, 0o644)
  const words = ['/usr/bin/python3', '-I', program, rules, RESOLVER]
  await startDetached({
    name: `The resolver of ${id}`,
    command: '/bin/sh',
    args: [SCRIPT, String(user.uid), String(resolverGroup(rights)), ...limits, '--', ...words],
    within: ['nsenter', `--net=${namespaceFile(id)}`],
    pidFile,
    logFile,
  }).catch((error) => {
    if (!(error instanceof AlreadyRunsError)) throw error
  })
  for (let waited = 0; waited < READY_MS; waited += POLL_MS) {
    if (/^ready$/m.test(await readFile(logFile, 'utf8').catch(() => ''))) return
    await sleep(POLL_MS)
  }
  const said = await readFile(logFile, 'utf8').catch(() => '')
  await stopResolver(id)
  throw new Error(`The resolver of ${id} does not answer: ${said.slice(-2_000)}`)
}

/** Nothing of the resolver is left. One that is not there is fine. */
export async function stopResolver(id: string): Promise<void> {
  const { folder, pidFile } = filesOf(id)
  await stopDetached(pidFile, { signal: 'SIGKILL', timeoutMs: 0 })
  await rm(folder, { recursive: true, force: true })
}

/** The process of a machine's resolver; undefined when it does not run. */
export const resolverProcess = (id: string): Promise<number | undefined> => adoptDetached(filesOf(id).pidFile)
