import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { HostControl } from '../ports/host-control.ts'
import { reachSandboxHost, type SandboxHostLink } from './reach-host.ts'
import { type ServedHost, serveSandboxHost } from './serve-host.ts'

/** Two ends of a TCP connection on loopback: the one of the host, which opened it, and the one of the service. */
export async function connectedSockets(): Promise<{ host: Socket; service: Socket }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [service] = (await once(server, 'connection')) as [Socket]
  server.close()
  return { host, service }
}

export const noControl: HostControl = {
  about: async () => ({ version: '1.0.0' }),
  requestCertificate: async () => 'a request',
  installCertificate: async () => {},
  setServices: async () => {},
}

/** A host as the service reaches it over a connection. */
export async function reachOverTcp(
  served: Omit<ServedHost, 'log' | 'control'> & { control?: HostControl },
): Promise<SandboxHostLink & { sockets: { host: Socket; service: Socket } }> {
  const sockets = await connectedSockets()
  void serveSandboxHost(sockets.host, { control: noControl, ...served, log: { info() {} } })
  return { ...reachSandboxHost(sockets.service), sockets }
}
