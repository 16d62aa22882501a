import { type Client, type ClientOptions, createClient, formatUsd } from '@coinrack/sdk/index.ts'
import { exitCodes, RefusedError } from './exit-codes.ts'
import { readLogins } from './login-store.ts'
import { styled, type Terminal } from './terminal.ts'
import { createWaitLine, type WaitLine } from './wait-line.ts'

/** The options that every command has. */
export interface CommonOptions {
  json?: boolean
  url?: string
}

/** What a command is given beside its arguments. */
export interface Call {
  terminal: Terminal
  /** The answer is wanted as JSON. */
  isJson: boolean
  /** Shows an answer: as JSON the value itself, for people these lines. */
  show(value: unknown, lines: (value: never) => string | string[]): void
  /** Says something beside the answer, on standard error; with `--json` it says nothing. */
  say(text: string): void
  /** Says how far something is that is waited for. */
  waiting(what: string): WaitLine
  /** The origin of the service, as `https://vps.example.net`. */
  origin(): Promise<string>
  /** The service with the token of the login. @throws RefusedError without one */
  service(): Promise<ClientOptions>
  client(): Promise<Client>
  /** A client that has the token of the login where there is one, for public operations. */
  publicClient(): Promise<Client>
}

const NO_SERVICE =
  'No service is known yet: log in with "coinrack login --url https://vps.example.net", or set COINRACK_URL'

/** What a command is given that was called with these options. */
export function createCall(terminal: Terminal, { json = false, url }: CommonOptions): Call {
  const { env, stdout, stderr, signal } = terminal
  const write = (text: string) => void stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`)

  const origin = async () => {
    const given = url ?? (env.COINRACK_URL || (await readLogins(env)).current)
    if (!given) throw new RefusedError(NO_SERVICE, exitCodes.login)
    if (!/^https?:\/\//.test(given) || !URL.canParse(given))
      throw new RefusedError(
        `"${given}" is no address of a service, such as https://vps.example.net`,
        exitCodes.usage,
      )
    return new URL(given).origin
  }
  const token = async (at: string) => {
    if (env.COINRACK_TOKEN) return env.COINRACK_TOKEN
    const login = (await readLogins(env)).logins[at]
    if (!login)
      throw new RefusedError(`You are not logged in at ${at}: coinrack login --url ${at}`, exitCodes.login)
    if (login.expires_at !== null && Date.parse(login.expires_at) <= terminal.now())
      throw new RefusedError(
        `The login at ${at} ended on ${login.expires_at}: coinrack login --url ${at}`,
        exitCodes.login,
      )
    return login.token
  }
  /** Calls end with the command. */
  const fetchUntilInterrupted = (address: string, init: RequestInit) =>
    globalThis.fetch(address, {
      ...init,
      signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal,
    })
  const service = async (): Promise<ClientOptions> => {
    const at = await origin()
    return { url: at, token: await token(at), fetch: fetchUntilInterrupted }
  }

  return {
    terminal,
    isJson: json,
    show(value, lines) {
      if (json) return write(toJson(value))
      const text = lines(value as never)
      write(Array.isArray(text) ? text.join('\n') : text)
    },
    say(text) {
      if (!json) stderr.write(`${text}\n`)
    },
    waiting: (what) => createWaitLine(terminal, what, json),
    origin,
    service,
    client: async () => createClient(await service()),
    async publicClient() {
      return createClient({ url: await origin(), fetch: fetchUntilInterrupted })
    },
  }
}

/** A value as the service itself writes it: money as decimal text, times in UTC. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? formatUsd(part) : part), 2)

/** An error, for people. */
export const errorText = (terminal: Terminal, text: string) =>
  `${styled(terminal, terminal.stderr, 'red', 'coinrack:')} ${text}\n`
