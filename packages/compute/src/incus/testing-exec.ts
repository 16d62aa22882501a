import { type ChildProcess, spawn } from 'node:child_process'
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
  /** Runs once its streams are connected. */
  child?: ChildProcess
  /** The exit code of the program, once it has ended. */
  ended: PromiseWithResolvers<number>
}

const STREAMS = ['0', '1', '2']
const NAMES = [...STREAMS, 'control']

export function createRecordedExecs() {
  const execs = new Map<string, Exec>()

  const start = (exec: Exec) => {
    const { body, sockets, ended } = exec
    const [program, ...args] = body.command
    const child = spawn(program!, args, { env: body.environment, cwd: '/' })
    exec.child = child
    child.stdin.on('error', () => {})
    sockets.get('0')!.on('message', (data: Buffer, isBinary) => {
      if (isBinary) child.stdin.write(data)
      else child.stdin.end()
    })
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

    /**
     * Lets the websockets of the programs come to a member.
     * @param isControlLate whether the one that controls a program comes after its end
     */
    attach(server: Server, isControlLate: () => boolean) {
      const sockets = new WebSocketServer({ noServer: true })
      server.on('upgrade', (request, socket, head) => {
        const url = new URL(request.url!, 'https://cluster')
        const exec = execs.get(url.pathname.split('/')[3]!)
        const name = NAMES.find((each) => exec?.fds[each] === url.searchParams.get('secret'))
        if (!exec || !name) return socket.destroy()
        if (name === 'control' && isControlLate()) {
          const said = JSON.stringify({ type: 'error', error: 'Only running operations can be connected' })
          return socket.end(
            `HTTP/1.1 500 Internal Server Error\r\nContent-Length: ${said.length}\r\n\r\n${said}`,
          )
        }
        sockets.handleUpgrade(request, socket, head, (opened) => {
          exec.sockets.set(name, opened)
          if (name === 'control')
            opened.on('message', (data) => exec.child?.kill(JSON.parse(String(data)).signal))
          if (STREAMS.every((each) => exec.sockets.has(each)) && name !== 'control') start(exec)
        })
      })
    },
  }
}
