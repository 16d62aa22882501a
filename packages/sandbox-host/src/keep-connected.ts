import { connect, type TLSSocket } from 'node:tls'
import type { HostControl } from '@coinrack/compute/ports/host-control.ts'
import { type ServedHost, serveSandboxHost } from '@coinrack/compute/remote-sandboxes/serve-host.ts'
import { HOST_PROTOCOL, isServiceAddress, SERVICE_NAME } from '@coinrack/host/join-token.ts'
import { expiryOf, type Identity, type RequestedKey, requestKey } from './identity.ts'

const CONNECT_MS = 10_000
const KEEP_ALIVE_MS = 10_000
const FIRST_MS = 1_000
const LONGEST_MS = 30_000
/** A connection that held for so long was a good one: the next failure is the first again. */
const GOOD_MS = 60_000
/** A service ends the connection of a host that it does not know within it. */
const REFUSED_MS = 3_000

export interface ConnectingHost extends Omit<ServedHost, 'control'> {
  identity: Identity
  version: string
  clock: { now(): Date }
  /** Keeps an identity that has changed. */
  keep(identity: Identity): Promise<void>
  /** Tells who sits at the machine. */
  say(line: string): void
}

/**
 * Keeps a connection to every process of the service that is known, and answers what comes over it. Each is opened anew when it
 * breaks, for ever, and with every new certificate.
 * @returns what ends them
 */
export function keepConnected(host: ConnectingHost): { close(): void } {
  let { identity } = host
  let requested: RequestedKey | undefined
  const dialers = new Map<string, Dialer>()
  const dialAll = () => {
    for (const [address, dialer] of dialers)
      if (!identity.services.includes(address)) {
        dialer.close()
        dialers.delete(address)
      }
    for (const address of identity.services)
      if (!dialers.has(address))
        dialers.set(
          address,
          dial(address, { ...host, control }, () => identity),
        )
  }
  const keep = async (change: Partial<Identity>) => {
    identity = { ...identity, ...change }
    await host.keep(identity)
  }

  const control: HostControl = {
    about: async () => ({ version: host.version }),
    async requestCertificate() {
      requested = await requestKey(identity.hostId)
      return requested.request
    },
    async installCertificate(certificate) {
      if (!requested) throw new Error('No certificate was requested')
      await keep({ certificate, key: requested.key })
      requested = undefined
      host.say(`The certificate of this host holds until ${expiryOf(certificate).toISOString()}`)
      for (const dialer of dialers.values()) dialer.again()
    },
    async setServices(addresses) {
      const services = addresses.filter(isServiceAddress)
      if (services.length === 0 || services.join() === identity.services.join()) return
      await keep({ services })
      dialAll()
    },
  }
  dialAll()
  return {
    close() {
      for (const dialer of dialers.values()) dialer.close()
    },
  }
}

interface Dialer {
  /** Opens a new connection beside the one that there is, which the service ends when nothing is under way on it. */
  again(): void
  close(): void
}

function dial(address: string, host: ConnectingHost & ServedHost, identity: () => Identity): Dialer {
  const sockets = new Set<TLSSocket>()
  let newest: TLSSocket | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let waitMs = FIRST_MS

  async function open(): Promise<void> {
    const socket = connectTo(address, identity())
    newest = socket
    sockets.add(socket)
    const begun = performance.now()
    try {
      await secured(socket)
      host.say(`Connected to the service at ${address}`)
      await serveSandboxHost(socket, host)
      const isRefused = performance.now() - begun < REFUSED_MS
      if (newest === socket && !isClosed)
        host.say(isRefused ? refused(address) : `The connection to ${address} is over; it is opened again`)
    } catch (error) {
      host.say(`${address} cannot be reached: ${inWords(error, identity(), host.clock.now())}`)
    }
    socket.destroy()
    sockets.delete(socket)
    if (newest !== socket || isClosed) return
    waitMs = performance.now() - begun > GOOD_MS ? FIRST_MS : Math.min(waitMs * 2, LONGEST_MS)
    timer = setTimeout(() => void open(), waitMs * (0.5 + jitter() / 2))
  }

  void open()
  return {
    again() {
      clearTimeout(timer)
      void open()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const socket of sockets) socket.destroy()
    },
  }
}

function connectTo(address: string, { key, certificate, authority }: Identity): TLSSocket {
  const { hostname, port } = new URL(`tls://${address}`)
  const socket = connect({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port),
    key,
    cert: certificate,
    ca: authority,
    servername: SERVICE_NAME,
    minVersion: 'TLSv1.3',
    ALPNProtocols: [HOST_PROTOCOL],
  })
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  socket.setNoDelay(true)
  return socket
}

async function secured(socket: TLSSocket): Promise<void> {
  const late = setTimeout(() => socket.destroy(new Error('it does not answer')), CONNECT_MS)
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve)
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('it closed the connection')))
    })
  } finally {
    clearTimeout(late)
  }
}

function inWords(error: unknown, { certificate }: Identity, now: Date): string {
  const { message } = error as Error
  if (expiryOf(certificate) > now) return message
  return `${message}. The certificate of this host has ended, since the service was not reached for a day: let its operator invite it again (npm run operator -- host invite)`
}

const refused = (address: string) =>
  `The service at ${address} let this host in and ended the connection at once: it may have forgotten the host. Its operator can invite it again: npm run operator -- host invite`

/** From 0 to 1, so that hosts do not come back at the same moment. */
const jitter = () => crypto.getRandomValues(new Uint8Array(1))[0]! / 255
