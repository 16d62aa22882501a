import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createFakeArtifacts } from '@coinrack/compute/fake/sandbox-artifacts.ts'
import { createFakeSandboxChannel } from '@coinrack/compute/fake/sandbox-channel.ts'
import { createFakeRuntime } from '@coinrack/compute/fake/sandbox-runtime.ts'
import { decodeJoinToken, type JoinToken } from '@coinrack/host/join-token.ts'
import { type Identity, requestKey } from '@coinrack/sandbox-host/identity.ts'
import { joinService } from '@coinrack/sandbox-host/join.ts'
import { keepConnected } from '@coinrack/sandbox-host/keep-connected.ts'
import { runOperator } from '../operator/run-operator.ts'
import { testOperator } from '../operator/testing.ts'
import type { TestService } from '../process/testing.ts'
import { openAuthority } from './authority.ts'
import { listenForHosts } from './listen-for-hosts.ts'

/** The network between hosts and the service, whose connections can be cut. */
async function networkTo(address: string) {
  const { hostname, port } = new URL(`tls://${address}`)
  const carried = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      carried.add(one)
      one.on('error', () => other.destroy()).once('close', () => carried.delete(one))
      one.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of carried) socket.destroy()
  }
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    close() {
      server.close()
      cut()
    },
  }
}

/** A service that takes hosts on loopback, and the operator's commands for them. */
export async function takeHosts({ services }: TestService) {
  const authority = await openAuthority(services)
  const addresses: string[] = []
  const listening = await listenForHosts(services, authority, {
    at: { host: '127.0.0.1', port: 0 },
    addresses,
  })
  const network = await networkTo(listening.address)
  addresses.push(network.address)
  const operator = (...words: string[]) =>
    runOperator(testOperator(services, { hostsAddresses: addresses }), words)
  return {
    ...listening,
    async close() {
      network.close()
      await listening.close()
    },
    /** Breaks the connections that there are. */
    cut: network.cut,
    authority,
    operator,
    /** The token for a host of this name. */
    async invite(name: string): Promise<JoinToken> {
      const { exitCode, stdout, stderr } = await operator('host', 'invite', name, '--json')
      if (exitCode !== 0) throw new Error(stderr)
      return decodeJoinToken(JSON.parse(stdout).token)!
    },
  }
}

/** A machine that has joined by the token. */
export const joinBy = async (token: JoinToken): Promise<Identity> =>
  joinService(token, await requestKey(token.hostId), new Date())

/** A host with fake sandboxes that keeps connected, as the program of a host does. */
export function runHost({ clock }: TestService, identity: Identity, folder: string) {
  const runtime = createFakeRuntime({ clock })
  const channel = createFakeSandboxChannel(runtime, folder)
  const said: string[] = []
  const kept: Identity[] = [identity]
  const connections = keepConnected({
    ...{ runtime, channel, artifacts: createFakeArtifacts(runtime), identity, version: '1.0.0' },
    clock: { now: () => new Date() },
    log: { info: () => {} },
    keep: async (changed) => void kept.push(changed),
    say: (line) => void said.push(line),
  })
  return {
    runtime,
    said,
    /** The identity that it would start with. */
    identity: () => kept.at(-1)!,
    async close() {
      connections.close()
      await channel.close()
    },
  }
}
