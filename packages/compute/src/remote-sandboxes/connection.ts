import { constants, type Http2Session, type Settings } from 'node:http2'

/*
 * Both halves of the connection agree on what follows. The host opens the TCP connection, and then the service asks by HTTP/2 (RFC 9113) and the
 * host answers: requests share the connection, each at the pace of its slower side, and can be given up one by one.
 */

/** The bytes that one stream may have in flight before they are read: a bound on the share of the connection that a stalled one holds. */
const STREAM_WINDOW = 512 * 1024
/** The same for all streams together: hundreds may stall, and the others still go on. */
const SESSION_WINDOW = 256 * 1024 * 1024
/** At the same moment: previews, files and commands of all sandboxes of a host. */
const STREAMS_AT_MOST = 2_000

export const settings: Settings = {
  enablePush: false,
  initialWindowSize: STREAM_WINDOW,
  maxConcurrentStreams: STREAMS_AT_MOST,
  maxHeaderListSize: 64 * 1024,
}

export const widen = (session: Http2Session): void => session.setLocalWindowSize(SESSION_WINDOW)

/** The longest question and answer that is no stream. */
export const MESSAGE_BYTES = 40 * 1024 * 1024
export const ANSWERED = 200
export const FAILED = 409
/** The parameters of what streams. */
export const INPUT = 'x-input'
/** The size of the file that follows. */
export const SIZE = 'x-size'
export const { NGHTTP2_CANCEL } = constants

export const toHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
export const fromHeader = (text: unknown): unknown =>
  JSON.parse(Buffer.from(String(text), 'base64url').toString())

/** A failure on the way that its reader is told by other means. */
export const ignore = (): void => {}
