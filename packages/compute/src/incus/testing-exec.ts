import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:https'
import { type WebSocket, WebSocketServer } from 'ws'

/*
 * Programs inside instances of a recorded cluster: they run on this host, and each of their outputs goes over a websocket of its
 * own, as Incus 6.0.4 carries them.
 */

export interface ExecBody {
  command: string[]
  environment: Record<string, string>
}

interface Exec {
  body: ExecBody
  fds: Record<string, string>
  sockets: Map<string, WebSocket>
  /** What the program ended with. */
  ended: PromiseWithResolvers<number>
}

const NAMES = ['0', '1', '2', 'control']

export function createRecordedExecs() {
  const execs = new Map<string, Exec>()

  const start = ({ body, sockets, ended }: Exec) => {
    const [program, ...args] = body.command
    const child = spawn(program!, args, { env: body.environment, cwd: '/' })
    child.stdin.on('error', () => {})
    sockets.get('0')!.on('message', (data: Buffer, isBinary) => {
      if (isBinary) child.stdin.write(data)
      else child.stdin.end()
    })
    sockets.get('control')!.on('message', (data) => child.kill(JSON.parse(String(data)).signal))
    for (const [name, stream] of [
      ['1', child.stdout],
      ['2', child.stderr],
    ] as const) {
      const socket = sockets.get(name)!
      stream.on('data', (chunk) => socket.send(chunk))
      stream.on('end', () => socket.send(''))
    }
    child.on('close', (code, signal) => ended.resolve(signal === null ? code! : -1))
  }

  return {
    begin(body: ExecBody) {
      const id = randomUUID()
      const fds = Object.fromEntries(NAMES.map((name) => [name, randomUUID()]))
      execs.set(id, { body, fds, sockets: new Map(), ended: Promise.withResolvers() })
      return { id, fds }
    },

    /** Undefined for an operation of another kind. */
    async waitFor(id: string) {
      const exec = execs.get(id)
      return (
        exec && {
          id,
          status_code: 200,
          err: '',
          metadata: { return: await exec.ended.promise },
          resources: null,
        }
      )
    },

    /** Lets the websockets of the programs come to a member. */
    attach(server: Server) {
      const sockets = new WebSocketServer({ noServer: true })
      server.on('upgrade', (request, socket, head) => {
        const url = new URL(request.url!, 'https://cluster')
        const exec = execs.get(url.pathname.split('/')[3]!)
        const name = NAMES.find((each) => exec?.fds[each] === url.searchParams.get('secret'))
        if (!exec || !name) return socket.destroy()
        sockets.handleUpgrade(request, socket, head, (opened) => {
          exec.sockets.set(name, opened)
          if (exec.sockets.size === NAMES.length) start(exec)
        })
      })
    },
  }
}
