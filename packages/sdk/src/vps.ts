import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import { type CallOptions, type Client, type ClientOptions, createClient } from './client.ts'
import { NeverError } from './never-error.ts'
import { createVpsFiles, type VpsFileAccess } from './vps-files.ts'
import { LONGEST_POLL_S, waitForSsh } from './wait-for-ssh.ts'

type Input<N extends keyof Client> = NonNullable<Parameters<Client[N]>[0]>
type InputOf<N extends keyof Client> = Omit<Input<N>, 'service_id'>
type Status = Output<Operations['getVpsStatus']>
type Work = Output<Operations['getOperation']>

/** How long something is waited for, and who is told on the way. */
export interface WaitOptions<T> {
  /** Ends the waiting, such as `AbortSignal.timeout(600_000)`. */
  signal?: AbortSignal
  /** Told what each poll showed. */
  onChange?: (seen: T) => void
}

/** The parameters of an SSH connection, for any client of SSH. */
export interface SshParameters {
  host: string
  port: number
  username: string
  /** Lines for a `known_hosts` file: with them the first connection is verified too. */
  knownHosts: string[]
  /** The command of OpenSSH for the same. */
  command: string
}

/**
 * One VPS as an object: its order, the way in, commands, files and power. `client` has every other operation.
 * Methods that change the machine resolve once the change is done. All throw CoinrackError and ConnectionError.
 */
export class Vps {
  readonly id: string
  readonly client: Client
  readonly files: VpsFileAccess

  private constructor(client: Client, id: string) {
    this.id = id
    this.client = client
    this.files = createVpsFiles(client, id)
  }

  /**
   * Orders a VPS, paid from the balance. It is being made when this resolves: go on with `waitUntilReady`.
   * @throws CoinrackError `insufficient_balance`, with the invoice that pays for the order in `body.invoice`
   */
  static async order(options: ClientOptions, input: Input<'orderVps'>, call?: CallOptions): Promise<Vps> {
    const client = createClient(options)
    const { service_id } = await client.orderVps(input, call)
    if (!service_id) throw new NeverError('The order made no VPS, as a dry run does not: use client.orderVps')
    return new Vps(client, service_id)
  }

  /** Connects to an existing VPS, by its id. */
  static connect(options: ClientOptions, id: string): Vps {
    return new Vps(createClient(options), id)
  }

  /** The VPS of the account, page after page. */
  static async *list(
    options: ClientOptions,
    input: Input<'listVps'> = {},
    call?: CallOptions,
  ): AsyncGenerator<Vps, void> {
    const client = createClient(options)
    for await (const { id } of client.listVps.all(input, call)) yield new Vps(client, id)
  }

  /** Its current state. It leaves the root password, which is shown once, for `waitUntilReady`. */
  info = (call?: CallOptions): Promise<Status> =>
    this.client.getVpsStatus({ service_id: this.id, reveal: false }, call)

  /**
   * Waits until it answers by SSH. The first time the answer has `root_password`: keep it, it is not shown again.
   * @throws NeverError when it could not be made, or was deleted
   */
  waitUntilReady = (options: WaitOptions<Status> & { reveal?: boolean } = {}): Promise<Status> =>
    waitForSsh(this.client, this.id, options)

  /** How to connect to it by SSH. */
  async ssh(call?: CallOptions): Promise<SshParameters> {
    const { host, port, user, command, known_hosts } = (await this.info(call)).ssh
    return { host, port, username: user, command, knownHosts: known_hosts }
  }

  /** Runs a shell command as root through the guest agent, without SSH, for up to 50 s. */
  exec(command: string, options: Omit<InputOf<'runOnVps'>, 'command'> & { signal?: AbortSignal } = {}) {
    const { signal, ...input } = options
    return this.client.runOnVps({ ...input, service_id: this.id, command }, { signal })
  }

  start = (options?: WaitOptions<Work>) => this.power('start', options)
  stop = (options?: WaitOptions<Work>) => this.power('stop', options)
  reboot = (options?: WaitOptions<Work>) => this.power('reboot', options)

  /** Changes its power, and waits until that is done. */
  async power(action: Input<'powerVps'>['action'], options: WaitOptions<Work> = {}): Promise<void> {
    const { signal } = options
    await this.done(await this.client.powerVps({ service_id: this.id, action }, { signal }), options)
  }

  /** Installs an operating system anew: everything on its disk is lost. `confirm` is its host name. */
  async reinstall(input: InputOf<'reinstallVps'>, options: WaitOptions<Work> = {}): Promise<void> {
    const { signal } = options
    await this.done(await this.client.reinstallVps({ ...input, service_id: this.id }, { signal }), options)
  }

  /** Moves it to a larger plan. */
  async changePlan(target_plan: string, options: WaitOptions<Work> = {}): Promise<void> {
    const { signal } = options
    const input = { service_id: this.id, target_plan, confirm: true as const }
    await this.done(await this.client.changePlan(input, { signal }), options)
  }

  /** Keeps the state of its disk, to which `restoreSnapshot` of `client` goes back. */
  snapshot = (input: InputOf<'createSnapshot'> = {} as InputOf<'createSnapshot'>, call?: CallOptions) =>
    this.client.createSnapshot({ ...input, service_id: this.id }, call)

  /** Ends it: at the end of what is paid, or at once with `{ mode: 'immediate', confirm: hostname }`, which credits unused time. */
  cancel = (input: InputOf<'cancelService'> = {}, call?: CallOptions) =>
    this.client.cancelService({ ...input, service_id: this.id }, call)

  /** @throws NeverError when the work failed, or a later call wanted something else */
  private async done(
    { operation }: { operation: Work },
    { signal, onChange }: WaitOptions<Work>,
  ): Promise<void> {
    let work = operation
    while (work.status === 'running') {
      onChange?.(work)
      work = await this.client.getOperation(
        { operation_id: work.id, wait: 'done', timeout: LONGEST_POLL_S },
        { signal },
      )
    }
    onChange?.(work)
    if (work.status !== 'succeeded')
      throw new NeverError(
        `${work.kind} of VPS ${this.id} ${work.status}${work.error ? `: ${work.error}` : ''}`,
      )
  }
}
