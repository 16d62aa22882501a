import { askPublicHost, PublicHostFailure } from '../../platform/ask-public-host.ts'
import { addressJudge } from '../../platform/public-address.ts'
import type { Services } from '../../platform/services.ts'
import { withoutScope } from './application-metadata.ts'

const TIMEOUT_MS = 5_000
export const MOST_BYTES = 64 * 1024
/** How long a host that failed is not asked again: the library asks a second time for each request that is refused. */
const PAUSE_MS = 10_000
const MOST_FAILED = 1_000

/**
 * Fetches a document that an application names: its metadata, or its keys. It has to lie on a public host, as the address
 * of a webhook has to; no redirect is followed, and it is read for 5 seconds and up to 64 kB.
 * https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/, sections 4 and 6
 */
export function metadataFetcher({ lookup, config, log, clock }: Services) {
  const mayReach = addressJudge(config.webhookAllowedNetworks)
  /** When each address failed, by the clock. */
  const failed = new Map<string, number>()

  return async (asked: string | URL | Request): Promise<Response> => {
    const url = String(asked)
    const now = clock.now().getTime()
    if (now - (failed.get(url) ?? -PAUSE_MS) < PAUSE_MS) throw new PublicHostFailure('It failed a moment ago')
    try {
      const answer = await askPublicHost(new URL(url), {
        method: 'GET',
        headers: { accept: 'application/json' },
        ...{ lookup, mayReach, timeoutMs: TIMEOUT_MS, mostBytes: MOST_BYTES },
      })
      if (!answer.isWhole) throw new PublicHostFailure('The document is larger than 64 kB')
      const cacheControl = answer.headers['cache-control']
      return new Response(new Uint8Array(readable(answer.body)), {
        status: answer.status,
        headers: cacheControl === undefined ? {} : { 'cache-control': cacheControl },
      })
    } catch (error) {
      if (!(error instanceof PublicHostFailure)) throw error
      if (failed.size >= MOST_FAILED) failed.clear()
      failed.set(url, now)
      log.info({ url, why: error.message }, 'The metadata of an application was not read')
      throw error
    }
  }
}

/** The document without scopes; as it came, when it is no object. */
function readable(body: Buffer): Buffer {
  try {
    const metadata = JSON.parse(body.toString())
    return typeof metadata === 'object' && metadata !== null && 'client_id' in metadata
      ? Buffer.from(JSON.stringify(withoutScope(metadata)))
      : body
  } catch {
    return body
  }
}
