import { createHash, randomBytes } from 'node:crypto'
import type { TestService } from '../../process/testing.ts'

/** An application that speaks OAuth by hand, and a person with a browser that keeps cookies, against a service that listens. */
export interface OauthHand {
  register(metadata?: object): Promise<{ status: number; body: Record<string, string> }>
  /** Asks for access. @returns where the browser is led first */
  authorize(params: Record<string, string>): Promise<Response>
  /** Walks through the pages from where `authorize` led. @returns the address that the application is called back at */
  consent(first: Response, choices?: Choices): Promise<URL>
  token(fields: Record<string, string>): Promise<{ status: number; body: Record<string, string> }>
  revoke(fields: Record<string, string>): Promise<number>
  /** Registers, asks, consents and exchanges the code. */
  signIn(choices?: Choices): Promise<SignedIn>
  /** The tools that `/mcp/connect` lists. */
  list(accessToken: string): Promise<{ name: string }[]>
  /** Calls a tool at `/mcp/connect`. */
  call(
    accessToken: string,
    tool: string,
    input?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }>
}

export interface Choices {
  email?: string
  decision?: 'allow' | 'deny'
  scopes?: string[]
  perDay?: string
  total?: string
  /** Above it a person is asked for each call. */
  askAbove?: string
}

export interface SignedIn {
  clientId: string
  access: string
  refresh: string
  scope: string
}

export const REDIRECT = 'http://127.0.0.1:9/callback'
/** The verifier and the challenge of a request (RFC 7636). */
export function pkce() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export function oauthHand(service: TestService, origin: string): OauthHand {
  // Each mailbox is sent so many codes of six digits an hour.
  let people = 0
  const form = (fields: Record<string, string>) => new URLSearchParams(fields)
  const json = async (response: Response) => ({ status: response.status, body: await response.json() })
  /** What the browser keeps, by name and path. */
  const cookies = new Map<string, { value: string; path: string }>()

  async function browse(url: string, init: RequestInit = {}): Promise<Response> {
    const { pathname } = new URL(url)
    const cookie = [...cookies]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`)
      .join('; ')
    const response = await fetch(url, { redirect: 'manual', ...init, headers: { ...init.headers, cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      const path = /path=([^;]*)/i.exec(line)?.[1] ?? '/'
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(`${name} ${path}`)
      else cookies.set(`${name} ${path}`, { value, path })
    }
    return response
  }
  const post = (url: string, fields: URLSearchParams) =>
    browse(url, { method: 'POST', headers: { origin }, body: fields })
  const to = (response: Response) => new URL(response.headers.get('location')!, origin).href

  const hand: OauthHand = {
    register: async (metadata = {}) =>
      json(
        await fetch(`${origin}/oauth/register`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            client_name: 'Hand',
            redirect_uris: [REDIRECT],
            token_endpoint_auth_method: 'none',
            ...metadata,
          }),
        }),
      ),
    authorize: (params) => browse(`${origin}/oauth/authorize?${form(params)}`),
    async consent(first, choices = {}) {
      const {
        email = `person${++people}@rackmail.net`,
        decision = 'allow',
        scopes,
        perDay = '5.00',
        total = '50.00',
        askAbove = '',
      } = choices
      const page = to(first)
      await browse(page)
      await post(`${page}/address`, form({ email }))
      const code = /\d{6}/.exec(service.mails.at(-1)!.text)![0]
      await post(`${page}/code`, form({ email, code }))
      const shown = await (await browse(page)).text()
      const offered = [...shown.matchAll(/name="scope" value="(\w+)"/g)].map(([, scope]) => scope!)
      const fields = form({ decision, per_day: perDay, total, ask_above: askAbove })
      for (const scope of scopes ?? offered) fields.append('scope', scope)
      const decided = await post(`${page}/decision`, fields)
      const back = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(await decided.text())?.[1]
      if (back === undefined) throw new Error(`The decision was not taken: ${decided.status}`)
      return new URL(to(await browse(back.replaceAll('&amp;', '&'))))
    },
    token: async (fields) =>
      json(await fetch(`${origin}/oauth/token`, { method: 'POST', body: form(fields) })),
    revoke: async (fields) =>
      (await fetch(`${origin}/oauth/revoke`, { method: 'POST', body: form(fields) })).status,
    async signIn(choices) {
      const { body: client } = await hand.register()
      const clientId = client.client_id!
      const { verifier, challenge } = pkce()
      const first = await hand.authorize({
        client_id: clientId,
        redirect_uri: REDIRECT,
        response_type: 'code',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        resource: `${origin}/mcp/connect`,
      })
      const back = await hand.consent(first, choices)
      const { body } = await hand.token({
        grant_type: 'authorization_code',
        client_id: clientId,
        code: back.searchParams.get('code')!,
        code_verifier: verifier,
        redirect_uri: REDIRECT,
        resource: `${origin}/mcp/connect`,
      })
      return { clientId, access: body.access_token!, refresh: body.refresh_token!, scope: body.scope! }
    },
    async call(accessToken, tool, input = {}) {
      const { status, message } = await send(accessToken, 'tools/call', { name: tool, arguments: input })
      return { status, body: message.result ? answerOf(message.result) : message }
    },
    async list(accessToken) {
      return (await send(accessToken, 'tools/list')).message.result.tools
    },
  }
  async function send(accessToken: string, method: string, params: object = {}) {
    const response = await fetch(`${origin}/mcp/connect`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${accessToken}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const text = await response.text()
    return { status: response.status, message: JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) }
  }
  return hand
}

const answerOf = (result: { structuredContent?: object; content: { text: string }[] }) =>
  (result.structuredContent ?? JSON.parse(result.content[0]!.text)) as Record<string, unknown>
