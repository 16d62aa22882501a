import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A file that the page needs, under a name that changes with its content: it can be kept for ever. */
export interface Asset {
  path: `/assets/${string}`
  type: string
  body: string
}

function asset(name: string, ending: string, type: string): Asset {
  const body = readFileSync(new URL(`./${name}.${ending}`, import.meta.url), 'utf8')
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12)
  return { path: `/assets/${name}-${hash}.${ending}`, type: `${type}; charset=utf-8`, body }
}

export const style = asset('checkout', 'css', 'text/css')
export const script = asset('checkout', 'js', 'text/javascript')
export const wallet = asset('wallet', 'js', 'text/javascript')
