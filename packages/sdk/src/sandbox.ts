import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import { type CallOptions, type Client, type ClientOptions, createClient } from './client.ts'
import { createWire, type Listeners, type Wire } from './sandbox-wire.ts'

type Input<N extends keyof Client> = NonNullable<Parameters<Client[N]>[0]>
type Work<N extends 'runCode' | 'execCommand' | 'getTask'> = Output<Operations[N]>

/** Told while it runs; `signal` ends it. */
export type WorkOptions<N extends 'runCode' | 'execCommand'> = Omit<
  Input<N>,
  'sandbox_id' | 'code' | 'command' | 'background'
> &
  Listeners & { signal?: AbortSignal }

/** A task in the background: it goes on without a reader. */
export interface SandboxTask {
  id: string
  /** Reads on from these offsets; nothing is lost between reads. */
  read(from?: { stdout?: number; stderr?: number; timeout?: number }): Promise<Work<'getTask'>>
  /** Follows it to its end. @returns how it ended, with the first MiB of what it wrote from now on */
  wait(options?: Listeners & { signal?: AbortSignal }): Promise<Work<'getTask'>>
  write(input: string, options?: { end?: boolean }): Promise<void>
  kill(signal?: Input<'killTask'>['signal']): Promise<void>
}

/**
 * A code sandbox that runs, or is paused. It costs while it runs, until `kill`, or its time is over; as
 * `await using sandbox = await Sandbox.create(...)` it ends with its block.
 * All throw CoinrackError and ConnectionError.
 */
export class Sandbox implements AsyncDisposable {
  readonly id: string
  /** Every operation, for what has no method here. */
  readonly client: Client
  readonly files: SandboxFileAccess
  private readonly options: ClientOptions
  private readonly wire: Wire

  private constructor(options: ClientOptions, client: Client, id: string) {
    this.id = id
    this.client = client
    this.options = options
    this.wire = createWire(options, id)
    this.files = createFiles(client, this.wire, id)
  }

  /** Starts one: it runs when this resolves. */
  static async create(
    options: ClientOptions,
    input: Input<'createSandbox'> = {},
    call?: CallOptions,
  ): Promise<Sandbox> {
    const client = createClient(options)
    const { id } = await client.createSandbox(input, call)
    return new Sandbox(options, client, id)
  }

  /** Connects to an existing sandbox, by its id. */
  static connect(options: ClientOptions, id: string): Sandbox {
    return new Sandbox(options, createClient(options), id)
  }

  /** Its current state, and what it has cost so far. */
  info = () => this.client.getSandbox({ sandbox_id: this.id })

  /** Runs code to its end. Of each output the first MiB is in the result. */
  runCode(code: string, options: WorkOptions<'runCode'> = {}): Promise<Work<'runCode'>> {
    const { onStdout, onStderr, signal, ...input } = options
    return this.wire.follow('/run', { ...input, code }, listeners(onStdout, onStderr), signal)
  }

  /** Runs a command to its end. Of each output the first MiB is in the result. */
  exec(command: string, options: WorkOptions<'execCommand'> = {}): Promise<Work<'execCommand'>> {
    const { onStdout, onStderr, signal, ...input } = options
    return this.wire.follow('/exec', { ...input, command }, listeners(onStdout, onStderr), signal)
  }

  /** Begins a command in the background. */
  async start(
    command: string,
    options: Omit<Input<'execCommand'>, 'sandbox_id' | 'command' | 'background'> = {},
  ): Promise<SandboxTask> {
    const begun = await this.client.execCommand({
      ...options,
      sandbox_id: this.id,
      command,
      background: true,
    })
    return this.task(begun.task_id!)
  }

  /** An existing task, by its id. */
  task(taskId: string): SandboxTask {
    const { client, wire } = this
    const task = { sandbox_id: this.id, task_id: taskId }
    return {
      id: taskId,
      read: (from = {}) => client.getTask({ ...task, ...from }),
      wait: ({ onStdout, onStderr, signal } = {}) =>
        wire.follow(`/tasks/${taskId}`, undefined, listeners(onStdout, onStderr), signal),
      write: async (input, { end = false } = {}) => void (await client.sendInput({ ...task, input, end })),
      kill: async (signal = 'SIGKILL') => void (await client.killTask({ ...task, signal })),
    }
  }

  /** Gives a port a URL. */
  expose = (port: number, access: 'public' | 'token' = 'public') =>
    this.client.exposePort({ sandbox_id: this.id, port, access })

  /** Gives it so many seconds from now on. */
  setTimeout = (seconds: number) => this.client.setSandboxTimeout({ sandbox_id: this.id, timeout: seconds })

  /** Says what it may reach, in place of what was said before. */
  setNetwork = (network: Omit<Input<'setSandboxNetwork'>, 'sandbox_id'>) =>
    this.client.setSandboxNetwork({ ...network, sandbox_id: this.id })

  /** Keeps memory and disk, and costs nothing until `resume`. */
  pause = () => this.client.pauseSandbox({ sandbox_id: this.id })
  resume = () => this.client.resumeSandbox({ sandbox_id: this.id })

  /** Makes another one that goes on from where this one is now. */
  async fork(input: Omit<Input<'forkSandbox'>, 'sandbox_id'> = {}): Promise<Sandbox> {
    const { id } = await this.client.forkSandbox({ ...input, sandbox_id: this.id })
    return new Sandbox(this.options, this.client, id)
  }

  /** Keeps what it is now: `id` of the answer is the template of new ones. */
  snapshot = async (name?: string) =>
    (await this.client.createSandboxSnapshot({ sandbox_id: this.id, ...(name !== undefined && { name }) }))
      .snapshot

  /** Ends it, with all that is in it. One that is over is fine. */
  kill = () => this.client.killSandbox({ sandbox_id: this.id })

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

/** Files, up to 2 GB. Relative paths are of /home/user. */
export interface SandboxFileAccess {
  /** Replaces the file, and makes the folders on the way. @returns its size */
  write(path: string, content: string | Uint8Array | ReadableStream<Uint8Array>): Promise<number>
  read(path: string): Promise<Uint8Array>
  text(path: string): Promise<string>
  /** For files that are too large for the memory. */
  stream(path: string): Promise<ReadableStream<Uint8Array>>
  list(
    path?: string,
    options?: { depth?: number },
  ): Promise<Awaited<ReturnType<Client['listFiles']>>['items']>
  remove(path: string): Promise<void>
  /** A link that works without a token, for so many seconds. */
  link(what: 'upload' | 'download', path: string, seconds?: number): Promise<string>
}

function createFiles(client: Client, wire: Wire, id: string): SandboxFileAccess {
  const at = (path: string) => `/files/content?path=${encodeURIComponent(path)}`
  const get = (path: string) => wire.send(at(path), { method: 'GET' })
  return {
    async write(path, content) {
      const headers = { 'content-type': 'application/octet-stream' }
      const body = content as BodyInit
      const response = await wire.send(at(path), { method: 'PUT', headers, body, duplex: 'half' })
      return ((await response.json()) as { size: number }).size
    },
    read: async (path) => new Uint8Array(await (await get(path)).arrayBuffer()),
    text: async (path) => (await get(path)).text(),
    stream: async (path) => (await get(path)).body!,
    async list(path = '.', options = {}) {
      const files = []
      for await (const file of client.listFiles.all({ ...options, sandbox_id: id, path })) files.push(file)
      return files
    },
    remove: async (path) => void (await client.deleteFile({ sandbox_id: id, path })),
    async link(what, path, seconds = 3600) {
      const get = what === 'upload' ? client.getUploadUrl : client.getDownloadUrl
      return (await get({ sandbox_id: id, path, expires_in: seconds })).url
    },
  }
}

const listeners = (onStdout: Listeners['onStdout'], onStderr: Listeners['onStderr']): Listeners => ({
  ...(onStdout && { onStdout }),
  ...(onStderr && { onStderr }),
})
