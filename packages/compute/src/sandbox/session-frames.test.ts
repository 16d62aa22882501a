import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  decodeMessage,
  encodeFrame,
  encodeMessage,
  FrameReader,
  FrameType,
  PAYLOAD_BYTES,
} from './session-frames.ts'

/** Everything that is whole in the bytes. */
function framesIn(...pieces: Buffer[]) {
  const reader = new FrameReader()
  const found = []
  for (const piece of pieces) {
    reader.add(piece)
    for (let frame = reader.next(); frame; frame = reader.next()) {
      if (frame === 'broken') reader.skip()
      else found.push(frame)
    }
  }
  return found
}

const frame = encodeFrame(FrameType.data, 7, Buffer.from('hello'))

test('default: a frame comes out as it went in, however it was cut', () => {
  for (let at = 0; at <= frame.length; at++)
    expect(framesIn(frame.subarray(0, at), frame.subarray(at))).toMatchObject([
      { type: FrameType.data, stream: 7, hasMore: false, payload: Buffer.from('hello') },
    ])
})

test('default: a message longer than a frame', () => {
  const body = Buffer.alloc(3 * PAYLOAD_BYTES, 'x')
  const frames = framesIn(encodeMessage(FrameType.call, 1, { op: 'read' }, body))
  expect(frames.map(({ hasMore }) => hasMore)).toEqual([true, true, true, false])
  const whole = decodeMessage(Buffer.concat(frames.map(({ payload }) => payload)))
  expect(whole.head).toEqual({ op: 'read' })
  expect(whole.body.equals(body)).toBe(true)
})

test('behavior: half a frame harms nothing but itself', () => {
  for (let at = 1; at < frame.length; at++)
    expect(framesIn(frame.subarray(0, at), Buffer.alloc(PAYLOAD_BYTES + 16), frame)).toHaveLength(1)
})

test('error: a frame with a wrong bit is none', () => {
  for (let at = 0; at < frame.length; at++) {
    const wrong = Buffer.from(frame)
    wrong[at]! ^= 1
    expect(framesIn(wrong, Buffer.alloc(PAYLOAD_BYTES + 16), frame)).toHaveLength(1)
  }
})

/** Answers every frame by one of the same, as the agent's code reads and writes them. */
const ECHO = `
import sys, frames
parser = frames.Parser()
for kind, flags, stream, payload in parser.feed(sys.stdin.buffer.read()):
    if kind == frames.CALL:
        head, body = frames.decode_message(payload)
        sys.stdout.buffer.write(frames.encode_message(frames.ANSWER, stream, head, body))
    else:
        sys.stdout.buffer.write(frames.encode(kind, stream, payload, flags))
`

test('default: the agent reads and writes the same frames, and skips what is none', () => {
  const call = encodeMessage(FrameType.call, 3, { text: 'ü' }, Buffer.from([0, 255]))
  const input = Buffer.concat([frame.subarray(0, 9), frame, Buffer.from('junk'), call])
  const guest = join(import.meta.dirname, 'guest')
  const { stdout, error } = spawnSync('python3', ['-B', '-c', ECHO], { input, cwd: guest })
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return
  const [back, answer] = framesIn(stdout)
  expect(back).toMatchObject({ type: FrameType.data, stream: 7, payload: Buffer.from('hello') })
  expect(decodeMessage(answer!.payload)).toEqual({ head: { text: 'ü' }, body: Buffer.from([0, 255]) })
})
