import { Duplex } from 'node:stream'
import { FrameType, PAYLOAD_BYTES } from './session-frames.ts'

/** The bytes that either end may send before the other has taken some. */
export const WINDOW = 256 * 1024

export interface SessionStreamOptions {
  send(type: number, payload: Uint8Array): void
  /** Once, at its end: whether both directions came to theirs. */
  onDone(isWhole: boolean): void
}

/** Bytes either way within one call of a link; neither end has to keep more than a window of them. */
export class SessionStream extends Duplex {
  readonly #options: SessionStreamOptions
  /** Bytes that we may send. */
  #credit = WINDOW
  /** Bytes that the other end may send still. */
  #granted = WINDOW
  #waiting: { chunk: Buffer; done: (error?: Error | null) => void } | undefined
  #hasEnded = false

  constructor(options: SessionStreamOptions) {
    super({ allowHalfOpen: true, readableHighWaterMark: WINDOW, writableHighWaterMark: WINDOW })
    this.#options = options
    // The holder of the stream may ignore errors after its end.
    this.on('error', () => {})
  }

  /** @returns false when the other end does not keep to what it was granted */
  receive(type: number, payload: Buffer): boolean {
    if (type === FrameType.credit) {
      if (payload.length !== 4) return false
      this.#credit += payload.readUInt32LE(0)
      if (this.#credit > 2 * WINDOW) return false
      this.#writeOn()
    } else if (type === FrameType.end) {
      this.#hasEnded = true
      this.push(null)
    } else {
      this.#granted -= payload.length
      if (this.#granted < 0 || this.#hasEnded) return false
      this.push(payload)
      this.#grant()
    }
    return true
  }

  override _read(): void {}

  override read(size?: number): unknown {
    const chunk: unknown = super.read(size)
    this.#grant()
    return chunk
  }

  /** Lets the other end send again as much as was read by now. */
  #grant(): void {
    const more = WINDOW - this.#granted - this.readableLength
    if (more < WINDOW / 2 || this.#hasEnded) return
    this.#granted += more
    const credit = Buffer.alloc(4)
    credit.writeUInt32LE(more)
    this.#options.send(FrameType.credit, credit)
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#waiting = { chunk, done }
    this.#writeOn()
  }

  #writeOn(): void {
    while (this.#waiting && this.#credit > 0) {
      const { chunk, done } = this.#waiting
      const count = Math.min(chunk.length, this.#credit, PAYLOAD_BYTES)
      this.#options.send(FrameType.data, chunk.subarray(0, count))
      this.#credit -= count
      if (count < chunk.length) {
        this.#waiting = { chunk: chunk.subarray(count), done }
        continue
      }
      this.#waiting = undefined
      done()
    }
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#options.send(FrameType.end, Buffer.alloc(0))
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#options.onDone(this.#hasEnded && this.writableFinished)
    this.#waiting?.done(error ?? new Error('The stream was closed'))
    this.#waiting = undefined
    done(error)
  }
}
