import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import { type CallOptions, type Client, type ClientOptions, createClient } from './client.ts'
import { createContexts, type SandboxContexts } from './sandbox-contexts.ts'
import { createFiles, type SandboxFileAccess } from './sandbox-files.ts'
import {
  createTask,
  passOverEnd,
  type SandboxTask,
  type Stdin,
  type TerminalSize,
  typeInto,
} from './sandbox-task.ts'
import { type CodeListeners, createWire, type Listeners, type Wire } from './sandbox-wire.ts'

type Input<N extends keyof Client> = NonNullable<Parameters<Client[N]>[0]>
type InputOf<N extends keyof Client> = Omit<Input<N>, 'sandbox_id'>
type Work<N extends 'runCode' | 'execCommand'> = Output<Operations[N]>

/** Told while it runs; `signal` ends it. */
export type WorkOptions<N extends 'runCode' | 'execCommand'> = Omit<
  InputOf<N>,
  'code' | 'command' | 'background' | 'terminal' | 'input'
> &
  (N extends 'runCode' ? CodeListeners : Listeners) & { signal?: AbortSignal }

/** The options of a command. */
export interface ExecOptions extends WorkOptions<'execCommand'> {
  /** What it reads: text, or pieces that are typed as they come. */
  stdin?: Stdin
  /** It gets a terminal of this size, whose output is all in `stdout`. */
  terminal?: TerminalSize
  /** Told once it runs, with what types into it, resizes its terminal and signals it. Its input stays open for that. */
  onStart?: (task: SandboxTask) => unknown
}

/**
 * A code sandbox that runs, or is paused. It costs while it runs, until `kill`, or its time is over; as
 * `await using sandbox = await Sandbox.create(...)` it ends with its block.
 * All throw CoinrackError, ConnectionError, and what a signal gave as its reason.
 */
export class Sandbox implements AsyncDisposable {
  readonly id: string
  /** Every operation, for what has no method here. */
  readonly client: Client
  readonly files: SandboxFileAccess
  readonly contexts: SandboxContexts
  private readonly options: ClientOptions
  private readonly wire: Wire

  private constructor(options: ClientOptions, client: Client, id: string) {
    this.id = id
    this.client = client
    this.options = options
    this.wire = createWire(options, id)
    this.files = createFiles(client, this.wire, id)
    this.contexts = createContexts(client, id)
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

  /** The sandboxes that are not over, newest first, page after page. */
  static async *list(
    options: ClientOptions,
    input: Input<'listSandboxes'> = {},
    call?: CallOptions,
  ): AsyncGenerator<Sandbox, void> {
    const client = createClient(options)
    for await (const { id } of client.listSandboxes.all(input, call)) yield new Sandbox(options, client, id)
  }

  /** Its current state, and what it has cost so far. */
  info = (call?: CallOptions) => this.client.getSandbox({ sandbox_id: this.id }, call)

  /** What it uses, as its own system measures it. */
  metrics = (call?: CallOptions) => this.client.getSandboxMetrics({ sandbox_id: this.id }, call)

  /** Runs code to its end. Of each output the first MiB is in the result, and all that it showed. */
  runCode(code: string, options: WorkOptions<'runCode'> = {}): Promise<Work<'runCode'>> {
    const { onStdout, onStderr, onResult, signal, ...input } = options
    const heard = { ...listeners(onStdout, onStderr), ...(onResult && { onResult }) }
    return this.wire.run('/run', { ...input, code }, heard, signal)
  }

  /** Begins code in the background. What it shows is told by `wait` of the task. */
  async startCode(
    code: string,
    options: Omit<InputOf<'runCode'>, 'code' | 'background'> = {},
    call?: CallOptions,
  ): Promise<SandboxTask> {
    const input = { ...options, sandbox_id: this.id, code, background: true }
    return this.task((await this.client.runCode(input, call)).task_id!)
  }

  /**
   * Runs a command to its end. Of each output the first MiB is in the result. One with a terminal, or that is typed into while it runs,
   * drops what is more than 1 MiB ahead of its reader, and has no end of its own without `timeout`; any other one waits for its reader,
   * and has 30 s by default.
   */
  async exec(command: string, options: ExecOptions = {}): Promise<Work<'execCommand'>> {
    const { onStdout, onStderr, signal, stdin, terminal, onStart, ...input } = options
    const heard = listeners(onStdout, onStderr)
    if (terminal || onStart || (stdin !== undefined && typeof stdin !== 'string')) {
      const task = await this.start(command, { ...input, ...(terminal && { terminal }) }, { signal })
      return this.attend(task, options, heard)
    }
    const typed = stdin !== undefined && { input: stdin }
    return this.wire.run('/exec', { ...input, ...typed, command }, heard, signal)
  }

  /** Stays with a task to its end, and ends it when that fails. */
  private async attend(
    task: SandboxTask,
    { signal, stdin, onStart }: ExecOptions,
    heard: Listeners,
  ): Promise<Work<'execCommand'>> {
    const end = new AbortController()
    const until = signal ? AbortSignal.any([signal, end.signal]) : end.signal
    try {
      const typing = async () => {
        await Promise.resolve(onStart?.(task)).catch(passOverEnd)
        if (stdin !== undefined) await typeInto(task, stdin, { signal: until })
        return never
      }
      const ended = await Promise.race([task.wait({ ...heard, signal: until }), typing()])
      const { stdout, stderr, exit_code, timed_out, duration_ms } = ended
      const { truncated } = ended as unknown as { truncated: boolean }
      return {
        stdout,
        stderr,
        exit_code,
        timed_out,
        truncated,
        duration_ms: duration_ms ?? 0,
        task_id: task.id,
      }
    } catch (error) {
      await task.kill('SIGKILL').catch(() => {})
      throw error
    } finally {
      end.abort()
    }
  }

  /** Begins a command in the background. Its input is open, and no one has to read what it writes. */
  async start(
    command: string,
    options: Omit<InputOf<'execCommand'>, 'command' | 'background'> = {},
    call?: CallOptions,
  ): Promise<SandboxTask> {
    const input = { ...options, sandbox_id: this.id, command, background: true }
    return this.task((await this.client.execCommand(input, call)).task_id!)
  }

  /** An existing task, by its id. */
  task = (taskId: string): SandboxTask => createTask(this.client, this.wire, this.id, taskId)

  /** The tasks in the background that run, and those that ended last. */
  async *tasks(call?: CallOptions): AsyncGenerator<SandboxTask, void> {
    for await (const { id } of this.client.listTasks.all({ sandbox_id: this.id }, call)) yield this.task(id)
  }

  /** Gives a port a URL. */
  expose = (port: number, access: 'public' | 'token' = 'public', call?: CallOptions) =>
    this.client.exposePort({ sandbox_id: this.id, port, access }, call)

  /** Gives every port a URL, also those that nothing listens on yet, or takes them away again. `{port}` stands in `url` for the port. */
  exposeAll = (access: 'public' | 'token' | 'none' = 'public', call?: CallOptions) =>
    this.client.exposeAllPorts({ sandbox_id: this.id, access }, call)

  /** Takes the URL of a port away, and cuts its connections. */
  unexpose = (port: number, call?: CallOptions) =>
    this.client.unexposePort({ sandbox_id: this.id, port }, call)

  /** The ports that have a URL of their own. */
  ports = (call?: CallOptions) => this.client.listExposedPorts.all({ sandbox_id: this.id }, call)

  /** Gives it so many seconds from now on. */
  setTimeout = (seconds: number, call?: CallOptions) =>
    this.client.setSandboxTimeout({ sandbox_id: this.id, timeout: seconds }, call)

  /** Says what it may reach, in place of what was said before. */
  setNetwork = (network: InputOf<'setSandboxNetwork'>, call?: CallOptions) =>
    this.client.setSandboxNetwork({ ...network, sandbox_id: this.id }, call)

  /** Keeps memory and disk, and costs nothing until `resume`. */
  pause = (call?: CallOptions) => this.client.pauseSandbox({ sandbox_id: this.id }, call)
  /** Goes on where it was paused. */
  resume = (input: InputOf<'resumeSandbox'> = {}, call?: CallOptions) =>
    this.client.resumeSandbox({ ...input, sandbox_id: this.id }, call)

  /** Makes another one that goes on from where this one is now. */
  async fork(input: InputOf<'forkSandbox'> = {}, call?: CallOptions): Promise<Sandbox> {
    const { id } = await this.client.forkSandbox({ ...input, sandbox_id: this.id }, call)
    return new Sandbox(this.options, this.client, id)
  }

  /** Keeps what it is now: `id` of the answer is the template of new ones. */
  async snapshot(name?: string, call?: CallOptions) {
    const input = { sandbox_id: this.id, ...(name !== undefined && { name }) }
    return (await this.client.createSandboxSnapshot(input, call)).snapshot
  }

  /** Ends it, with all that is in it. One that is over is fine. */
  kill = (call?: CallOptions) => this.client.killSandbox({ sandbox_id: this.id }, call)

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

const never = new Promise<never>(() => {})

const listeners = (onStdout: Listeners['onStdout'], onStderr: Listeners['onStderr']): Listeners => ({
  ...(onStdout && { onStdout }),
  ...(onStderr && { onStderr }),
})
