import { Agent, request } from 'node:http'
import { basePath } from '@coinrack/contract/index.ts'

export interface MeasuredAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
  body: any
  headers: Record<string, string | string[] | undefined>
}

export interface Ask {
  token?: string
  body?: object
  key?: string
}

/** Milliseconds that answers took. */
interface Durations {
  reads: number[]
  writes: number[]
}

/** Asks over connections that stay open, and keeps how long each answer took. */
export function createMeasuredClient() {
  const agent = new Agent({ keepAlive: true })
  const durations: Durations = { reads: [], writes: [] }

  function ask(origin: string, method: string, path: string, { token, body, key }: Ask = {}) {
    const text = body && JSON.stringify(body)
    const begun = performance.now()
    return new Promise<MeasuredAnswer>((resolve, reject) => {
      const sent = request(
        `${origin}${basePath}${path}`,
        {
          agent,
          method,
          headers: {
            ...(token && { authorization: `Bearer ${token}` }),
            ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
            ...(key && { 'idempotency-key': key }),
          },
        },
        (response) => {
          let read = ''
          response.setEncoding('utf8')
          response.on('data', (part) => {
            read += part
          })
          response.on('error', reject)
          response.on('end', () => {
            durations[method === 'GET' ? 'reads' : 'writes'].push(performance.now() - begun)
            resolve({ status: response.statusCode!, body: parsed(read), headers: response.headers })
          })
        },
      )
      sent.on('error', reject)
      sent.end(text)
    })
  }
  return { ask, durations, close: () => agent.destroy() }
}

/** Reads an answer, which is no JSON when a proxy gave it in the place of the service. */
function parsed(text: string): MeasuredAnswer['body'] {
  try {
    return JSON.parse(text)
  } catch {
    return { code: text.replace(/\s+/g, ' ').slice(0, 200) }
  }
}

export type MeasuredClient = ReturnType<typeof createMeasuredClient>

/** The value that 99 of 100 are not above. */
export const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * 0.99) - 1)] ?? 0
