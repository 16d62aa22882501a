import { pathAtOrigin } from '@coinrack/contract/index.ts'
import { pathInputs, resourceInput } from '@coinrack/contract/operation.ts'
import { ConnectionError } from './errors.ts'
import type { Ask, Send } from './exchange.ts'
import type { World } from './world.ts'

/**
 * Makes the HTTP request of a call: what the path names into the path, the rest into the query or the body.
 * @param origin of the service, as `https://vps.example.net`
 * @throws ConnectionError; what an aborted signal gave as its reason
 */
export function sendByFetch(origin: string, world: World): Send {
  return async (ask) => {
    const { url, body } = locate(origin, ask)
    try {
      const response = await world.fetch(url, {
        method: ask.operation.method,
        headers: { ...ask.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        body,
        signal: ask.signal,
      })
      return { status: response.status, headers: response.headers, body: parse(await response.text()) }
    } catch (error) {
      ask.signal?.throwIfAborted()
      throw new ConnectionError(url.split('?')[0]!, error)
    }
  }
}

function locate(origin: string, { operation, input }: Ask): { url: string; body?: string } {
  const rest = { ...input }
  let path: string = pathAtOrigin(operation)
  if (operation.resource) {
    const field = resourceInput(operation.resource)
    path = path.replace('{id}', encodeURIComponent(String(rest[field])))
    delete rest[field]
  }
  for (const field of pathInputs(operation)) {
    path = path.replace(`{${field}}`, encodeURIComponent(String(rest[field])))
    delete rest[field]
  }
  const url = origin + path
  if (operation.method !== 'GET') return { url, body: JSON.stringify(rest) }
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return { url: query.size > 0 ? `${url}?${query}` : url }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
