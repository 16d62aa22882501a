import { once } from 'node:events'
import { type AddressInfo, isIPv6 } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { reachSandboxHost, type SandboxHostLink } from '@coinrack/compute/remote-sandboxes/reach-host.ts'
import { HOST_PROTOCOL, JOIN_PROTOCOL } from '@coinrack/host/join-token.ts'
import { EVERYTHING } from '../platform/everything.ts'
import type { Services } from '../platform/services.ts'
import { version } from '../platform/version.ts'
import { acceptJoin, JoinRefusedError, JoinRequest } from './accept-join.ts'
import type { Authority } from './authority.ts'
import { type Admitted, admit, MEMBERSHIP, stillAdmitted, useCertificate } from './membership-store.ts'

type Listening = Pick<Services, 'db' | 'clock' | 'log' | 'changes' | 'sandboxes'>

/** A connection has to say by then who it is. */
const HANDSHAKE_MS = 10_000
/** Those that have not yet said who they are. */
const STRANGERS_AT_MOST = 200
const REQUEST_BYTES = 16 * 1024
const KEEP_ALIVE_MS = 10_000
const LOOK_MS = 5_000
/** At this share of its life a certificate is renewed. */
const RENEW_AT = 0.5
const TRY_AGAIN_MS = 60_000

interface Connected {
  link: SandboxHostLink
  admitted: Admitted
  renewedAt: number
}

/**
 * Takes the connections of sandbox hosts, and those of machines that join. The hosts that are connected are in
 * `services.sandboxes`.
 * @param at where it listens
 * @param addresses where hosts find this service, each `host:port`
 */
export async function listenForHosts(
  services: Listening,
  authority: Authority,
  { at, addresses }: { at: { host: string; port: number }; addresses: readonly string[] },
): Promise<{ address: string; close(): Promise<void> }> {
  const { db, log, clock, changes, sandboxes } = services
  const connected = new Map<string, Connected>()
  const sockets = new Set<TLSSocket>()
  let strangers = 0

  const server = createServer(
    {
      ...(await authority.serverIdentity()),
      ca: authority.certificate,
      minVersion: 'TLSv1.3',
      ALPNProtocols: [HOST_PROTOCOL, JOIN_PROTOCOL],
      requestCert: true,
      // A machine that joins has no certificate yet; that of a host is looked at by the authority.
      rejectUnauthorized: false,
      handshakeTimeout: HANDSHAKE_MS,
    },
    (socket) => void take(socket),
  )
  server.on('connection', (socket) => {
    strangers++
    socket.once('close', () => strangers--)
    if (strangers > STRANGERS_AT_MOST + connected.size) socket.destroy()
  })
  server.on('tlsClientError', (error) =>
    log.debug({ err: error }, 'A connection to the port for hosts failed'),
  )

  async function take(socket: TLSSocket): Promise<void> {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', (error) => log.debug({ err: error }, 'A connection of a host failed'))
    try {
      if (socket.alpnProtocol === JOIN_PROTOCOL) await letJoin(socket)
      else await letIn(socket)
    } catch (error) {
      log.warn({ err: error, address: socket.remoteAddress }, 'A host was not let in')
      socket.destroy()
    }
  }

  async function letJoin(socket: TLSSocket): Promise<void> {
    const late = setTimeout(() => socket.destroy(), HANDSHAKE_MS)
    socket.once('close', () => clearTimeout(late))
    const asked = JoinRequest.parse(JSON.parse(await readLine(socket)))
    const answer = await acceptJoin(services, authority, asked).then(
      (certificate) => ({ certificate, authority: authority.certificate, services: addresses }),
      (error) => {
        if (!(error instanceof JoinRefusedError)) throw error
        log.warn({ host: asked.host, reason: error.message }, 'A machine was not let join')
        return { refused: error.message }
      },
    )
    socket.end(`${JSON.stringify(answer)}\n`)
  }

  async function letIn(socket: TLSSocket): Promise<void> {
    const shown = socket.getPeerX509Certificate()
    const named = shown && authority.read(shown.raw)
    const admitted = named && (await useCertificate(db, named.hostId, named.serial))
    if (!admitted) throw new Error('It has no certificate of a host that is known')
    if (socket.destroyed) return
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    join(admitted, reachSandboxHost(socket))
  }

  /** From now on the host is reached over this connection; what is under way on an older one is brought to its end. */
  function join(admitted: Admitted, link: SandboxHostLink): void {
    const { host_id: id } = admitted
    const before = connected.get(id)
    const now: Connected = { link, admitted, renewedAt: Number.NEGATIVE_INFINITY }
    connected.set(id, now)
    sandboxes.set(id, { runtime: link.runtime, channel: link.channel, artifacts: link.artifacts })
    const reached = sandboxes.get(id)
    before?.link.retire()
    log.info({ host: id }, 'A sandbox host is connected')
    void link.closed.then(() => {
      if (connected.get(id) !== now) return
      connected.delete(id)
      if (sandboxes.get(id) === reached) sandboxes.delete(id)
      log.warn({ host: id }, 'A sandbox host is not connected any more')
    })
    void greet(id, link).catch((error) =>
      log.warn({ err: error, host: id }, 'A host was not told where the service is'),
    )
  }

  async function greet(id: string, { control }: SandboxHostLink): Promise<void> {
    const about = await control.about()
    if (about.version !== version)
      log.warn(
        { host: id, there: about.version, here: version },
        'A host runs another version than the service',
      )
    await control.setServices([...addresses])
  }

  /** Cuts those that were forgotten, and renews certificates. */
  async function look(): Promise<void> {
    const serials = [...connected.values()].map(({ admitted }) => admitted.serial)
    if (serials.length === 0) return
    const admitted = await stillAdmitted(db, serials)
    for (const [id, host] of connected)
      if (!admitted.has(host.admitted.serial)) {
        log.warn({ host: id }, 'A sandbox host was forgotten; its connection is cut')
        host.link.close()
      } else if (isDue(host)) await renew(id, host)
  }

  function isDue({ admitted: { issued_at, expires_at }, renewedAt }: Connected): boolean {
    const due = issued_at.getTime() + (expires_at.getTime() - issued_at.getTime()) * RENEW_AT
    const now = clock.now().getTime()
    return now >= due && now - renewedAt >= TRY_AGAIN_MS
  }

  /** The old certificate holds until the new one is used: whatever is lost on the way, the host can come back. */
  async function renew(id: string, host: Connected): Promise<void> {
    host.renewedAt = clock.now().getTime()
    try {
      const certificate = await authority.sign(await host.link.control.requestCertificate(), id)
      await admit(db, id, certificate)
      await host.link.control.installCertificate(certificate.pem)
      log.info({ host: id }, 'The certificate of a sandbox host was renewed')
    } catch (error) {
      log.warn(
        { err: error, host: id },
        'The certificate of a sandbox host was not renewed; it is tried again',
      )
    }
  }

  let looking: Promise<void> = Promise.resolve()
  const lookAgain = () => {
    looking = looking
      .then(look)
      .catch((error) => log.error({ err: error }, 'Looking after sandbox hosts failed'))
  }
  const timer = setInterval(lookAgain, LOOK_MS)
  const unsubscribe = changes.subscribe((topic) => {
    if (topic === MEMBERSHIP || topic === EVERYTHING) lookAgain()
  })

  server.listen(at)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: `${isIPv6(at.host) ? `[${at.host}]` : at.host}:${port}`,
    async close() {
      clearInterval(timer)
      unsubscribe()
      const closed = new Promise((resolve) => server.close(resolve))
      for (const { link } of connected.values()) link.close()
      for (const socket of sockets) socket.destroy()
      await Promise.all([closed, looking])
    },
  }
}

async function readLine(socket: TLSSocket): Promise<string> {
  let text = ''
  for await (const piece of socket.iterator({ destroyOnReturn: false })) {
    text += String(piece)
    if (text.length > REQUEST_BYTES) break
    if (text.endsWith('\n')) return text
  }
  throw new Error('It did not say what it wants')
}
