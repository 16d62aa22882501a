import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Services } from '../services.ts'

/** What takes over connections that ask for another protocol. */
export interface Upgrade {
  isMine(request: IncomingMessage): boolean
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
}

export const NOTHING_HERE = 'HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'
const NOT_NOW = 'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

/** Each connection goes to the first that it belongs to. */
export function registerUpgrades(
  app: FastifyInstance,
  services: Services,
  upgrades: readonly Upgrade[],
): void {
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const upgrade = upgrades.find(({ isMine }) => isMine(request))
    if (!upgrade) return void socket.end(NOTHING_HERE)
    upgrade.accept(request, socket, head).catch((error) => {
      services.log.error({ err: error }, 'A connection could not be taken over')
      socket.end(NOT_NOW)
    })
  })
}
