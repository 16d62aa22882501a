import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type AgentSession, openSession } from './agent-session.ts'
import {
  encodeFrame,
  encodeMessage,
  type Frame,
  FrameReader,
  FrameType,
  PAYLOAD_BYTES,
} from './session-frames.ts'
import { WINDOW } from './session-stream.ts'

/*
 * A guest that keeps to nothing: what it does costs its own link, and never more memory than the limits.
 */

const nothing = Buffer.alloc(0)
let folder: string
let close: (() => void)[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-link-'))
  close = []
})
afterEach(async () => {
  for (const end of close) end()
  await rm(folder, { recursive: true })
})

/** Connects to an agent that is played by `play`, which gets every frame but greetings. */
async function sessionWith(
  play: (frame: Frame, socket: Socket) => void,
  greet: (socket: Socket, nonce: Buffer) => void = (socket, nonce) =>
    void socket.write(encodeFrame(FrameType.welcome, 1, nonce)),
  timeoutMs = 2_000,
): Promise<AgentSession> {
  const path = join(folder, 'agent.sock')
  const server = createServer((socket) => {
    close.push(() => socket.destroy())
    socket.on('error', () => {})
    const reader = new FrameReader()
    socket.on('data', (bytes: Buffer) => {
      reader.add(bytes)
      for (let frame = reader.next(); frame; frame = reader.next()) {
        if (frame === 'broken') reader.skip()
        else if (frame.type === FrameType.hello) greet(socket, frame.payload)
        else play(frame, socket)
      }
    })
  }).listen(path)
  close.push(() => server.close())
  await once(server, 'listening')
  return openSession(connect(path), { timeoutMs })
}

const answer = (frame: Frame, head: object) => encodeMessage(FrameType.answer, frame.stream, head, nothing)
const failed = { code: 'guest_failed' }

test('default: calls at the same moment get each their own answer', async () => {
  const session = await sessionWith((frame, socket) => {
    const { n } = JSON.parse(frame.payload.subarray(4).toString()) as { n: number }
    setTimeout(() => socket.write(answer(frame, { n })), (4 - n) * 10)
  })
  const answers = await Promise.all([1, 2, 3].map((n) => session.call('count', { n })))
  expect(answers.map(({ head }) => head.n)).toEqual([1, 2, 3])
})

test('behavior: what an earlier session left is skipped', async () => {
  const session = await sessionWith(
    (frame, socket) => socket.write(answer(frame, { isHere: true })),
    (socket, nonce) => {
      socket.write(encodeFrame(FrameType.answer, 1, Buffer.alloc(1000)).subarray(100))
      socket.write(encodeFrame(FrameType.welcome, 1, Buffer.alloc(16)))
      socket.write(encodeFrame(FrameType.welcome, 1, nonce))
    },
  )
  expect((await session.call('ping')).head).toEqual({ isHere: true })
})

test('error: a refusal that is known is told, any other is a failure', async () => {
  const session = await sessionWith((frame, socket) => {
    const code = frame.stream === 1 ? 'task_unknown' : 'sandbox_unknown'
    socket.write(
      encodeFrame(FrameType.abort, frame.stream, Buffer.from(JSON.stringify({ code, message: 'no' }))),
    )
  })
  await expect(session.call('read')).rejects.toMatchObject({ code: 'task_unknown', message: 'no' })
  await expect(session.call('read')).rejects.toMatchObject(failed)
})

describe('a hostile agent', () => {
  test('error: it never greets', async () => {
    await expect(
      sessionWith(
        () => {},
        () => {},
        300,
      ),
    ).rejects.toMatchObject(failed)
  })

  test('error: it talks without end instead of a greeting', async () => {
    const chatter = (socket: Socket) => {
      for (let i = 0; i < 200; i++) socket.write(Buffer.alloc(PAYLOAD_BYTES, 'x'))
    }
    await expect(sessionWith(() => {}, chatter, 10_000)).rejects.toMatchObject(failed)
  })

  test.each<[string, (frame: Frame, socket: Socket) => void]>([
    ['hangs up', (_, socket) => socket.destroy()],
    ['writes what is no frame', (_, socket) => socket.write('x'.repeat(100))],
    [
      'answers what is no message',
      (frame, socket) =>
        socket.write(encodeFrame(FrameType.answer, frame.stream, Buffer.from('\xff'.repeat(20)))),
    ],
    [
      'answers without end',
      (frame, socket) => {
        const piece = encodeFrame(FrameType.answer, frame.stream, Buffer.alloc(PAYLOAD_BYTES), true)
        const flood = () => {
          while (!socket.destroyed && socket.write(piece));
        }
        socket.on('drain', flood)
        flood()
      },
    ],
    [
      'floods with frames that nobody asked for',
      (_, socket) => {
        const piece = encodeFrame(FrameType.data, 99, Buffer.alloc(PAYLOAD_BYTES))
        for (let i = 0; i < 100; i++) socket.write(piece)
      },
    ],
  ])('error: one that %s ends its link, and nothing else', async (_, play) => {
    const session = await sessionWith(play)
    await expect(session.call('ping')).rejects.toMatchObject(failed)
    expect(session.failure).toMatchObject(failed)
    await expect(session.call('ping')).rejects.toMatchObject(failed)
  })

  test('error: one that does not answer costs the call its time, and the link lives', async () => {
    let asked = 0
    const session = await sessionWith((frame, socket) => {
      if (frame.type === FrameType.call && ++asked > 1) socket.write(answer(frame, {}))
    })
    await expect(session.call('ping', {}, { timeoutMs: 100 })).rejects.toMatchObject(failed)
    expect((await session.call('ping')).head).toEqual({})
  })
})

describe('a stream', () => {
  test('behavior: of what nobody reads no more comes than the window, and all of it in time', async () => {
    let credit = WINDOW
    let sent = 0
    let stream = 0
    const total = 5 * WINDOW
    const session = await sessionWith((frame, socket) => {
      if (frame.type === FrameType.credit) credit += frame.payload.readUInt32LE(0)
      if (frame.type === FrameType.call) {
        stream = frame.stream
        socket.write(answer(frame, {}))
      }
      while (credit >= 1024 && sent < total) {
        socket.write(encodeFrame(FrameType.data, stream, Buffer.alloc(1024)))
        credit -= 1024
        sent += 1024
        if (sent === total) socket.write(encodeFrame(FrameType.end, stream, nothing))
      }
    })
    const content = await session.open('read')
    await sleep(100)
    expect(sent).toBeLessThanOrEqual(2 * WINDOW)
    let read = 0
    for await (const chunk of content) read += (chunk as Buffer).length
    expect(read).toBe(total)
  })

  test('error: one that sends more than it may ends its link', async () => {
    const session = await sessionWith((frame, socket) => {
      if (frame.type !== FrameType.call) return
      socket.write(answer(frame, {}))
      for (let i = 0; i < 10; i++)
        socket.write(encodeFrame(FrameType.data, frame.stream, Buffer.alloc(PAYLOAD_BYTES)))
    })
    await session.open('read').catch(() => {})
    await sleep(200)
    expect(session.failure).toMatchObject(failed)
  })

  test('behavior: what is written waits for the other end', async () => {
    let taken = 0
    const session = await sessionWith((frame, socket) => {
      if (frame.type === FrameType.call) socket.write(answer(frame, {}))
      if (frame.type === FrameType.data) taken += frame.payload.length
    })
    const stream = await session.open('write')
    stream.write(Buffer.alloc(3 * WINDOW))
    await sleep(200)
    expect(taken).toBe(WINDOW)
    stream.destroy()
  })
})
