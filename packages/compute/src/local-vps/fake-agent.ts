import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'

/*
 * A guest agent at a Unix socket, as QEMU shows one: programs really run, on this host. For tests of the protocol.
 */

export interface FakeAgent {
  /** The answer that it gives in place of the true one to a command of this name; undefined gives none. */
  lies: Map<string, string | Buffer | undefined>
  /** Sent as soon as a client connects. */
  greeting: Buffer | undefined
  /** How many talked to it at the same moment, at most. */
  mostTalkers(): number
  close(): Promise<void>
}

type Json = Record<string, unknown>

interface Program {
  child: ChildProcess
  outputs: Buffer[][]
  exit: Json | undefined
}

export async function startFakeAgent(path: string): Promise<FakeAgent> {
  const programs = new Map<number, Program>()
  const opened: string[] = []
  let talkers = 0
  let most = 0

  const commands: Record<string, (args: Json) => unknown> = {
    'guest-ping': () => ({}),
    'guest-file-open': ({ path: file }) => {
      opened.push(file as string)
      return opened.length
    },
    'guest-file-read': async ({ handle, count }) => {
      const content = await readFile(opened[(handle as number) - 1]!)
      const part = content.subarray(0, count as number)
      return { count: part.length, 'buf-b64': part.toString('base64'), eof: part.length < content.length }
    },
    'guest-file-close': () => ({}),
    'guest-exec': (args) => {
      const child = spawn(args.path as string, args.arg as string[], {
        env: Object.fromEntries((args.env as string[]).map((line) => line.split(/=(.*)/s).slice(0, 2))),
      })
      const program: Program = { child, outputs: [[], []], exit: undefined }
      for (const [index, stream] of [child.stdout, child.stderr].entries())
        stream.on('data', (chunk) => program.outputs[index]!.push(chunk))
      child.on('close', (exitcode, signal) => {
        program.exit = signal === null ? { exitcode } : { signal }
      })
      child.stdin.on('error', () => {})
      child.stdin.end(Buffer.from((args['input-data'] as string) ?? '', 'base64'))
      programs.set(child.pid!, program)
      return { pid: child.pid }
    },
    'guest-exec-status': ({ pid }) => {
      const { exit, outputs } = programs.get(pid as number)!
      if (!exit) return { exited: false }
      const [out, err] = outputs.map((chunks) => Buffer.concat(chunks).toString('base64'))
      return {
        exited: true,
        ...exit,
        ...(out ? { 'out-data': out } : {}),
        ...(err ? { 'err-data': err } : {}),
      }
    },
  }

  const agent: FakeAgent = {
    lies: new Map(),
    greeting: undefined,
    mostTalkers: () => most,
    async close() {
      server.close()
      for (const { child } of programs.values()) child.kill('SIGKILL')
      await rm(path, { force: true })
    },
  }

  const answer = async (
    socket: Socket,
    { execute, arguments: args = {} }: { execute: string; arguments?: Json },
  ) => {
    const isSync = execute === 'guest-sync-delimited'
    if (agent.lies.has(execute)) return socket.write(agent.lies.get(execute) ?? '')
    const result = isSync ? args.id : await commands[execute]?.(args)
    const line =
      result === undefined ? { error: { class: 'GenericError', desc: 'unknown' } } : { return: result }
    if (isSync) socket.write(Buffer.from([0xff]))
    return socket.write(`${JSON.stringify(line)}\n`)
  }

  const server = createServer((socket) => {
    most = Math.max(most, ++talkers)
    let kept = ''
    socket.on('close', () => talkers--)
    socket.on('error', () => {})
    if (agent.greeting) socket.write(agent.greeting)
    socket.on('data', (chunk) => {
      const said = kept + chunk.toString('latin1')
      const start = said.lastIndexOf('\xff') + 1
      // As the agent does: the mark ends what was half said, and is complained of.
      if (start > 0) socket.write('{"error": {"class": "GenericError", "desc": "stray mark"}}\n')
      const lines = said.slice(start).split('\n')
      kept = lines.pop()!
      for (const line of lines) answer(socket, JSON.parse(Buffer.from(line, 'latin1').toString('utf8')))
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return agent
}
