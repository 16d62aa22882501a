import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestService } from '../process/testing.ts'
import { forgetReplicas, noteTending } from '../replicas/replica-store.ts'
import { listenForReplicas } from './replica-link.ts'

/**
 * A client that hears nothing before all it has is sent, as Python's are.
 * @param to where it connects, as `http://127.0.0.1:8080`
 * @returns all that the connection gave to its end
 */
export async function sendAll(to: string, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(to)
  const socket = connect(Number(port), hostname)
  for (const part of parts) await new Promise<void>((done) => socket.write(part, () => done()))
  return text(socket)
}

/** Lets a service be the one that tends the machines, to which others pass on what needs them. */
export async function letTend({ app, services }: TestService) {
  const { db, config } = services
  const at = { host: '127.0.0.1', port: 0 }
  const link = await listenForReplicas(app, { serverSecret: config.serverSecret!, at })
  const noteAt = (address: string) => noteTending(db, { id: address, address, version: 'test' })
  await noteAt(link.address)
  return {
    address: link.address,
    noteAt,
    forget: (address: string) => forgetReplicas(db, address),
    close: link.close,
  }
}
