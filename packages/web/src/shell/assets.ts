import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A file that pages need, under a name that changes with its content: it can be kept for ever. */
export interface Asset {
  path: `/assets/${string}`
  type: string
  body: string
}

const TYPES = { css: 'text/css', js: 'text/javascript' }

/** Reads an asset that lies beside the module that asks for it. */
export function readAsset(beside: string, name: string, ending: keyof typeof TYPES): Asset {
  const body = readFileSync(new URL(`./${name}.${ending}`, beside), 'utf8')
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12)
  return { path: `/assets/${name}-${hash}.${ending}`, type: `${TYPES[ending]}; charset=utf-8`, body }
}

/** The styles that all pages share. */
export const shellStyle = readAsset(import.meta.url, 'shell', 'css')
