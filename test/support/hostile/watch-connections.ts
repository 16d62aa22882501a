import { Socket } from 'node:net'

/** Where this process connects to. */
export interface Watched {
  /** Each target once, as host and port or the path of a socket. */
  targets: Set<string>
  stop(): void
}

/** Notes every connection that this process opens, whoever asks for it, until it is stopped. */
export function watchConnections(): Watched {
  const targets = new Set<string>()
  const { connect } = Socket.prototype
  Socket.prototype.connect = function (this: Socket, ...given: unknown[]) {
    const [first, second] = given.flat(1)
    const options = typeof first === 'object' ? first : { port: first, host: second }
    const { host, port, path } = options as Record<string, unknown>
    targets.add(String(path ?? `${host}:${port}`))
    return connect.apply(this, given as never)
  } as typeof connect
  return {
    targets,
    stop() {
      Socket.prototype.connect = connect
    },
  }
}
