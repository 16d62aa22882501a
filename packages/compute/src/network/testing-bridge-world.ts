import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { runCommand } from '@coinrack/host/run-command.ts'
import { egressTo } from './testing.ts'
import { takeTurn } from './testing-turn.ts'

/*
 * A bridge of this host, with a namespace on it that plays the network to which the addresses of machines belong: its
 * router, and what lies beyond it. The host itself has an address of IPv6 alone on the bridge. Addresses of RFC 2544
 * and RFC 3849.
 */

export const BRIDGE = 'crbridge'
export const ROUTER = '198.18.0.1'
/** Beyond the router. */
export const OUTSIDE = '198.18.255.1'
export const PRIVATE_OUTSIDE = '10.98.0.2'
export const METADATA_OUTSIDE = '169.254.169.254'

export const ROUTER6 = '2001:db8:ffff::1'
/** This host, on the bridge. */
export const HOST6 = '2001:db8:ffff::2'
export const OUTSIDE6 = '2001:db8:fffe::1'
export const PRIVATE6 = 'fd98::2'

/** For machines that are to reach what lies beyond the router. */
export const bridgeEgress = { ...egressTo('198.18.0.0/15', '2001:db8::/32'), resolvers: ['192.0.2.53'] }

const NAME = 'crnet'
const PORT = 'crport'

/** Says on each port who called. */
const SERVE = `for (const port of [80, 25]) require('node:net').createServer((socket) =>
  socket.on('error', () => {}).end('caller ' + socket.remoteAddress.replace('::ffff:', '') + '\\n'))
  .listen(port, '::', () => console.log('ready'))`

/** One at a time on a host: a second one waits. What a killed one left is removed. @returns what ends it */
export async function startBridgeWorld(): Promise<() => Promise<void>> {
  const endTurn = await takeTurn('bridge-world')
  const run = (line: string) => runCommand('sh', ['-ec', line])
  const remove = () => run(`ip link delete ${BRIDGE} || :; ip netns delete ${NAME} || :`)
  await remove()
  const inside = (line: string) => `ip -n ${NAME} ${line}; `
  await run(
    `ip link add ${BRIDGE} type bridge; ip link set ${BRIDGE} up; ip netns add ${NAME}; ` +
      `ip link add ${PORT} master ${BRIDGE} type veth peer name out netns ${NAME}; ip link set ${PORT} up; ` +
      inside('link set lo up') +
      inside('link set out up') +
      inside(`address add ${ROUTER}/24 dev out`) +
      [OUTSIDE, PRIVATE_OUTSIDE, METADATA_OUTSIDE]
        .map((address) => inside(`address add ${address}/32 dev lo`))
        .join('') +
      inside(`address add ${ROUTER6}/64 dev out nodad`) +
      inside(`address add ${OUTSIDE6}/128 dev lo`) +
      inside(`address add ${PRIVATE6}/128 dev lo`) +
      `ip address add ${HOST6}/64 dev ${BRIDGE} nodad; ` +
      `for far in ${OUTSIDE6} ${PRIVATE6}; do ip -6 route add $far via ${ROUTER6} dev ${BRIDGE}; done`,
  ).catch(async (error) => {
    await remove()
    await endTurn()
    throw error
  })
  const child = spawn('ip', ['netns', 'exec', NAME, process.execPath, '-e', SERVE], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await remove()
    await endTurn()
  }
}

/** The first line of the answer at a port, for a caller beyond the router; `no` for none. */
export async function fromOutside(
  host: string,
  port: number,
  as = OUTSIDE,
  patienceMs = 3_000,
): Promise<string> {
  const script = `require('node:net').connect({ host: '${host}', port: ${port}, localAddress: '${as}', timeout: ${patienceMs} })
    .on('data', (data) => { process.stdout.write(data); process.exit() })
    .on('timeout', () => process.exit(1)).on('error', () => process.exit(1)).on('close', () => process.exit(1))`
  return runCommand('ip', ['netns', 'exec', NAME, process.execPath, '-e', script]).then(
    ({ stdout }) => stdout.trim(),
    () => 'no',
  )
}
