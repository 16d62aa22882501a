import type { Send } from './exchange.ts'

/** Presents the token with every call that is not public. */
export function withToken(token: string | undefined, send: Send): Send {
  if (token === undefined) return send
  return (ask) =>
    ask.operation.access === 'public'
      ? send(ask)
      : send({ ...ask, headers: { ...ask.headers, authorization: `Bearer ${token}` } })
}
