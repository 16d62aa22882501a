import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

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
