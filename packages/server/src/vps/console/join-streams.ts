import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** How many bytes may wait for a slow client before the machine is no longer read. */
const MOST_BUFFERED = 1024 * 1024
const GOING_AWAY = 1001

/** Carries bytes between a websocket and a stream, at the pace of the slower; when one ends, so does the other. */
export function joinStreams(client: WebSocket, machine: Duplex): void {
  client.on('message', (data) => {
    if (!machine.write(data)) {
      client.pause()
      machine.once('drain', () => client.resume())
    }
  })
  machine.on('data', (bytes: Buffer) => {
    client.send(bytes, { binary: true }, () => {
      if (machine.isPaused() && client.bufferedAmount < MOST_BUFFERED) machine.resume()
    })
    if (client.bufferedAmount >= MOST_BUFFERED) machine.pause()
  })
  machine.on('error', () => client.close(GOING_AWAY, 'The connection to the VPS broke'))
  machine.on('close', () => client.close(GOING_AWAY, 'The VPS hung up'))
  client.on('error', () => client.terminate())
  client.on('close', () => machine.destroy())
}
