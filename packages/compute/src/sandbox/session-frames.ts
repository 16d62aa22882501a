import { crc32 } from 'node:zlib'

/*
 * The frames that the service and the agent of a sandbox exchange over the machine's serial port; guest/frames.py is the
 * other end. A frame is a header of 16 bytes (magic, type, flags, stream, length, and the CRC-32 of all but itself, all
 * little-endian) and up to 64 KiB. A message of a call or an answer is the length of its JSON, the JSON, and bytes.
 */

export const FrameType = {
  hello: 1,
  welcome: 2,
  call: 3,
  answer: 4,
  data: 5,
  end: 6,
  abort: 7,
  credit: 8,
} as const

export interface Frame {
  type: number
  /** The message goes on in the next frame of its stream. */
  hasMore: boolean
  stream: number
  payload: Buffer
}

export interface Message {
  head: Record<string, unknown>
  body: Buffer
}

const MAGIC = 0x1ac7
const HEADER_BYTES = 16
export const PAYLOAD_BYTES = 65_536
const HAS_MORE = 1

export function encodeFrame(type: number, stream: number, payload: Uint8Array, hasMore = false): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16LE(MAGIC, 0)
  header.writeUInt8(type, 2)
  header.writeUInt8(hasMore ? HAS_MORE : 0, 3)
  header.writeUInt32LE(stream, 4)
  header.writeUInt32LE(payload.length, 8)
  header.writeUInt32LE(crc32(payload, crc32(header.subarray(0, 12))), 12)
  return Buffer.concat([header, payload])
}

/** As many frames as the message takes. */
export function encodeMessage(type: number, stream: number, head: object, body: Uint8Array): Buffer {
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  const whole = Buffer.concat([length, text, body])
  const frames: Buffer[] = []
  for (let at = 0; at < whole.length; at += PAYLOAD_BYTES) {
    const end = at + PAYLOAD_BYTES
    frames.push(encodeFrame(type, stream, whole.subarray(at, end), end < whole.length))
  }
  return Buffer.concat(frames)
}

/** Throws for bytes that are no message. */
export function decodeMessage(payload: Buffer): Message {
  const length = payload.readUInt32LE(0)
  const head = JSON.parse(payload.toString('utf8', 4, 4 + length)) as unknown
  if (typeof head !== 'object' || head === null || Array.isArray(head)) throw new Error('not an object')
  return { head: head as Message['head'], body: payload.subarray(4 + length) }
}

/** Bytes that end a half-written previous frame, so that the next one is recognised. */
export const filler = () => Buffer.alloc(PAYLOAD_BYTES + HEADER_BYTES)

/** Finds frames in what is read. */
export class FrameReader {
  #buffer: Buffer = Buffer.alloc(0)

  /**
   * The next whole frame. `broken`: the bytes are none, and `skip` looks for the next. Undefined: more bytes are
   * needed.
   */
  next(): Frame | 'broken' | undefined {
    const buffer = this.#buffer
    if (buffer.length < HEADER_BYTES) return undefined
    const length = buffer.readUInt32LE(8)
    if (buffer.readUInt16LE(0) !== MAGIC || length > PAYLOAD_BYTES) return 'broken'
    if (buffer.length < HEADER_BYTES + length) return undefined
    const payload = buffer.subarray(HEADER_BYTES, HEADER_BYTES + length)
    if (crc32(payload, crc32(buffer.subarray(0, 12))) !== buffer.readUInt32LE(12)) return 'broken'
    this.#buffer = buffer.subarray(HEADER_BYTES + length)
    const hasMore = (buffer.readUInt8(3) & HAS_MORE) !== 0
    return { type: buffer.readUInt8(2), hasMore, stream: buffer.readUInt32LE(4), payload }
  }

  add(bytes: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? bytes : Buffer.concat([this.#buffer, bytes])
  }

  /** Forgets bytes up to what may be the begin of a frame. */
  skip(): void {
    const at = this.#buffer.indexOf(Buffer.from([MAGIC & 255, MAGIC >> 8]), 1)
    this.#buffer = this.#buffer.subarray(at > 0 ? at : Math.max(this.#buffer.length - 1, 1))
  }
}
