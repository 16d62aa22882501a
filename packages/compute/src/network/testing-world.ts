import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { egressTo } from './testing.ts'
import { takeTurn } from './testing-turn.ts'

/*
 * A namespace that plays everything beyond this host: the internet, a private network, and the metadata address of
 * clouds. From the host all of it can be reached: what a guest does not reach, its filter keeps from it.
 */

/** This host, as the world sees it. */
export const HOST = '198.51.100.1'
export const INTERNET = '198.51.100.2'
/** Another address of the internet, where names are resolved as well. */
export const ELSEWHERE = '203.0.113.2'
/** It resolves every name to `INTERNET`, but for those that say their address: `203-0-113-2.any`. */
export const PRIVATE = '10.99.0.2'
export const METADATA = '169.254.169.254'

/** For machines that are to reach this internet, whose addresses are those for documentation. */
export const worldEgress = { ...egressTo('198.51.100.0/24', '203.0.113.0/24'), resolvers: [PRIVATE] }

const NAME = 'crworld'
const LINK = 'crworld'
const PORTS = ['80', '81', '25', '465', '587', '853']

/** One at a time on a host: a second one waits. What a killed one left is removed. @returns what ends it */
export async function startWorld(): Promise<() => Promise<void>> {
  const endTurn = await takeTurn('world')
  const run = (line: string) => runCommand('sh', ['-ec', line])
  const remove = () => run(`ip link delete ${LINK} || :; ip netns delete ${NAME} || :`)
  await remove()
  const beyond = [ELSEWHERE, PRIVATE, METADATA]
  const inWorld = (line: string) => `ip -n ${NAME} ${line}; `
  await run(
    `ip netns add ${NAME}; ip link add ${LINK} type veth peer name out netns ${NAME}; ` +
      `ip address add ${HOST}/30 dev ${LINK}; ip link set ${LINK} up; ` +
      inWorld(`address add ${INTERNET}/30 dev out`) +
      inWorld('link set lo up') +
      inWorld('link set out up') +
      beyond.map((address) => inWorld(`address add ${address}/32 dev lo`)).join('') +
      beyond.map((address) => `ip route add ${address}/32 via ${INTERNET}; `).join(''),
  ).catch(async (error) => {
    await remove()
    await endTurn()
    throw error
  })
  const script = join(import.meta.dirname, 'testing-world-servers.ts')
  const child = spawn('ip', ['netns', 'exec', NAME, process.execPath, script, ...PORTS], {
    env: { ...process.env, ANSWER: INTERNET, RESOLVERS: `${PRIVATE} ${ELSEWHERE}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await remove()
    await endTurn()
  }
}

/** Serves the files of a folder by HTTP at a port of `INTERNET`. @returns what ends it */
export async function serveFolder(folder: string, port: number): Promise<() => Promise<void>> {
  const args = ['-u', '-m', 'http.server', String(port), '--directory', folder]
  const child = spawn('ip', ['netns', 'exec', NAME, 'python3', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await ended
  }
}

/** The first seven bytes of the answer at a port, for a caller on this host; `no` for none. */
export const fromHost = (host: string, port: number) => reach([], host, port)
/** The same, for a caller beyond this host. */
export const fromWorld = (host: string, port: number) => reach(['ip', 'netns', 'exec', NAME], host, port)

async function reach(prefix: string[], host: string, port: number): Promise<string> {
  const script = `head -c 7 </dev/tcp/${host}/${port}`
  const [command, ...args] = [...prefix, 'timeout', '5', 'bash', '-c', script]
  return runCommand(command!, args).then(
    ({ stdout }) => stdout,
    () => 'no',
  )
}
