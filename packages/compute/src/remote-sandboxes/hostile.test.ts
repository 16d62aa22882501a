import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { duplexPair, PassThrough, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { SandboxArtifacts } from '../ports/sandbox-artifacts.ts'
import type { SandboxChannel } from '../ports/sandbox-channel.ts'
import type { SandboxRuntime } from '../ports/sandbox-runtime.ts'
import { makeSandboxId, makeSandboxSpec } from '../testing.ts'
import { encodeMessage } from './message.ts'
import { reachSandboxHost, type SandboxHostLink } from './reach-host.ts'
import { connectedSockets, reachOverTcp } from './testing.ts'

const MIB = 1024 ** 2
const id = makeSandboxId()
const links: SandboxHostLink[] = []
afterEach(() => {
  for (const link of links.splice(0)) link.close()
})

/** A host that answers as the test says. */
async function hostThat(answer: (stream: ServerHttp2Stream, session: ServerHttp2Session) => void) {
  const { host, service } = await connectedSockets()
  const session = performServerHandshake(host)
  session.on('error', () => {})
  session.on('stream', (stream) => {
    stream.on('error', () => {})
    stream.resume()
    answer(stream, session)
  })
  const link = reachSandboxHost(service)
  links.push(link)
  return link
}

const answering = (status: number, body: Buffer) => (stream: ServerHttp2Stream) => {
  stream.respond({ ':status': status })
  stream.end(body)
}
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error) => error.code,
  )

test.each([
  ['another shape', answering(200, encodeMessage({ vcpus: 'many' }))],
  ['nothing', answering(200, Buffer.alloc(0))],
  ['no message', answering(200, Buffer.from('<html>hello</html>'))],
  ['a length that is longer than the message', answering(200, Buffer.from([255, 255, 255, 255, 1]))],
  [
    'bytes that are not there',
    answering(200, Buffer.concat([Buffer.from([0, 0, 0, 29]), Buffer.from('{"value":{"$bytes":[0,9999]}}')])),
  ],
  ['a code that nobody knows', answering(409, encodeMessage({ code: 'pwned', message: 'x' }))],
  ['a refusal without a code', answering(500, encodeMessage('no'))],
  [
    'an end in the middle',
    (stream: ServerHttp2Stream) => {
      stream.respond({ ':status': 200 })
      stream.write(encodeMessage({ vcpus: 1 }).subarray(0, 8))
      stream.destroy()
    },
  ],
  [
    'more than any answer has',
    (stream: ServerHttp2Stream) => {
      stream.respond({ ':status': 200 })
      const endless = new Readable({
        read() {
          this.push(Buffer.alloc(64 * 1024))
        },
      })
      endless.pipe(stream)
      stream.once('close', () => endless.destroy())
    },
  ],
])('error: %s is an answer that fails, and the next one is heard', async (_name, answer) => {
  let isFirst = true
  const good = { vcpus: 1, memoryMb: 1, diskGb: 1, load: 0 }
  const { runtime } = await hostThat((stream) => {
    if (isFirst) answer(stream)
    else answering(200, encodeMessage(good))(stream)
    isFirst = false
  })
  expect(await codeOf(runtime.capacity())).toBe('guest_failed')
  expect(await runtime.capacity()).toEqual(good)
})

test('error: a refusal in the words of the port keeps its code', async () => {
  const { runtime } = await hostThat(answering(409, encodeMessage({ code: 'no_space', message: 'full' })))
  await expect(runtime.pause(id)).rejects.toMatchObject({ code: 'no_space', message: 'full' })
})

test('error: a file without a size, and one that breaks off, are no files', async () => {
  const without = await hostThat(answering(200, Buffer.alloc(4)))
  expect(await codeOf(without.channel.files.read(id, 'a'))).toBe('guest_failed')
  const broken = await hostThat((stream) => {
    stream.respond({ ':status': 200, 'x-size': '10' })
    stream.end(Buffer.from([0, 0, 0, 3, 1, 2]))
  })
  const { content } = await broken.channel.files.read(id, 'a')
  await expect(content.toArray()).rejects.toThrow('broke off')
})

const never = () => new Promise<never>(() => {})
const silent = new Proxy({} as SandboxRuntime, { get: () => never })
const inside = (change: object = {}) =>
  ({ tasks: {}, contexts: {}, files: {}, ...change }) as unknown as SandboxChannel
const artifacts = {} as SandboxArtifacts

test('behavior: a connection that breaks ends every call at once, and the host goes on', async () => {
  let aborted = false
  const files = {
    read: async () => ({ content: new PassThrough().resume(), size: 5 }),
    write: async (_id: string, _path: string, source: AsyncIterable<Uint8Array>) => {
      for await (const _ of source);
    },
    async watch(_id: string, _path: string, { signal }: { signal: AbortSignal }) {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      return (async function* () {
        yield* []
        await never()
      })()
    },
  }
  const connect = async () => new PassThrough()
  const channel = inside({ files, connect })
  const link = await reachOverTcp({ runtime: silent, channel, artifacts })
  const endless = async function* () {
    for (;;) {
      yield Buffer.alloc(1000)
      await sleep(5)
    }
  }
  const socket = await link.channel.connect(id, 80)
  socket.on('error', () => {})
  const { content } = await link.channel.files.read(id, 'a')
  const waiting = [
    link.runtime.ensure(makeSandboxSpec()),
    link.runtime.observe(),
    link.channel.files.write(id, 'a', endless()),
    content.toArray(),
  ]
  const events = await link.channel.files.watch(id, '.', { signal: new AbortController().signal })
  const told = (async () => {
    for await (const _ of events);
  })()
  await sleep(50)
  link.sockets.host.destroy()
  const ended = await Promise.all([...waiting, told].map(codeOf))
  expect(ended.slice(0, 3)).toEqual(['host_unreachable', 'host_unreachable', 'host_unreachable'])
  expect(ended).not.toContain('none')
  await vi.waitUntil(() => socket.destroyed && aborted)
  await link.closed
  expect(await codeOf(link.runtime.capacity())).toBe('host_unreachable')
})

test('behavior: a host that is silent is given up after three signs of life', async () => {
  const { host, service } = await connectedSockets()
  host.pause()
  const link = reachSandboxHost(service, { pingMs: 30 })
  const asked = codeOf(link.runtime.capacity())
  await link.closed
  expect(await asked).toBe('host_unreachable')
})

test('behavior: a reader that stalls holds up nobody, and little is kept for it', {
  timeout: 60_000,
}, async () => {
  let read = 0
  const files = {
    read: async () => {
      const content = new Readable({
        read() {
          read += 64 * 1024
          this.push(Buffer.alloc(64 * 1024))
        },
      })
      return { content, size: 2_000 * MIB }
    },
  }
  const capacity = { vcpus: 1, memoryMb: 1, diskGb: 1, load: 0 }
  const runtime = { capacity: async () => capacity } as unknown as SandboxRuntime
  const link = await reachOverTcp({ runtime, channel: inside({ files }), artifacts })
  const stalled = await Promise.all(Array.from({ length: 50 }, () => link.channel.files.read(id, 'a')))
  await sleep(500)
  expect(await link.runtime.capacity()).toEqual(capacity)
  expect(read / stalled.length).toBeLessThan(4 * MIB)
  let carried = 0
  for await (const piece of stalled[0]!.content) {
    carried += piece.length
    if (carried > 100 * MIB) break
  }
  for (const { content } of stalled) content.destroy()
  expect(await link.runtime.capacity()).toEqual(capacity)
  link.close()
})

test('error: a host refuses what is no call of a port, and does nothing', async () => {
  const calls: string[] = []
  const runtime = new Proxy({} as SandboxRuntime, {
    get: (_target, name) => async () => void calls.push(String(name)),
  })
  const link = await reachOverTcp({ runtime, channel: inside(), artifacts })
  const wrong = link.runtime as unknown as Record<string, (...input: unknown[]) => Promise<unknown>>
  expect(await codeOf(wrong.pause!(7))).toBe('spec_invalid')
  expect(await codeOf(wrong.pause!(id, 'more'))).toBe('spec_invalid')
  expect(await codeOf(wrong.ensure!({ id }))).toBe('spec_invalid')
  expect(await codeOf(link.channel.connect(id, 70_000))).toBe('spec_invalid')
  expect(calls).toEqual([])
  link.close()
})

test('behavior: a source that fails is told apart from its end', async () => {
  const outcome = Promise.withResolvers<string>()
  const files = {
    write: async (_id: string, _path: string, source: AsyncIterable<Uint8Array>) => {
      try {
        for await (const _ of source);
        outcome.resolve('ended')
      } catch {
        outcome.resolve('broke off')
      }
      return 0
    },
  }
  const link = await reachOverTcp({ runtime: silent, channel: inside({ files }), artifacts })
  const source = async function* () {
    yield Buffer.from('some')
    throw new Error('the client hung up')
  }
  await expect(link.channel.files.write(id, 'a', source())).rejects.toThrow('the client hung up')
  expect(await outcome.promise).toBe('broke off')
  link.close()
})

test('behavior: what a sandbox ends, and what is ended towards it, ends on the other side alone', async () => {
  const [left, right] = duplexPair()
  const link = await reachOverTcp({
    runtime: silent,
    channel: inside({ connect: async () => right }),
    artifacts,
  })
  const socket = await link.channel.connect(id, 80)
  left.end('a banner')
  const banner: Buffer[] = []
  for await (const piece of socket.iterator({ destroyOnReturn: false })) banner.push(piece as Buffer)
  expect(Buffer.concat(banner).toString()).toBe('a banner')
  socket.end('a request')
  const got = await Readable.from(left, { objectMode: false }).toArray()
  expect(Buffer.concat(got).toString()).toBe('a request')
  link.close()
})
