import { type ClientOptions, type CoinrackError, createClient, Sandbox } from '@coinrack/sdk/index.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

/*
 * The SDK's object of a sandbox, against a service: programs that are typed into, connections that break, and what ends them.
 */

let service: TestService
let url: string
let options: ClientOptions
let sandbox: Sandbox
beforeAll(async () => {
  service = await startTestService()
  url = await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service?.close())
beforeEach(async () => {
  options = { url, token: (await service.customer(1_000_000n)).token }
  sandbox = await Sandbox.create(options)
})
afterEach(() => sandbox.kill())

/** A client of the same sandbox whose connections do what a test says. */
const through = (fetch: NonNullable<ClientOptions['fetch']>, more: Partial<ClientOptions> = {}) =>
  Sandbox.connect({ ...options, fetch, ...more }, sandbox.id)

test('default: a command with a terminal is typed into, and hears of another size', async () => {
  const heard: string[] = []
  const { exit_code, stdout, truncated } = await sandbox.exec(
    'tty -s && echo terminal; read a; echo "got $a"; exit 3',
    {
      terminal: { columns: 80, rows: 24 },
      onStdout: (text) => void heard.push(text),
      async onStart(task) {
        await task.resize({ columns: 100, rows: 30 })
        await task.write('go\n')
      },
    },
  )
  expect(stdout).toMatch(/terminal[\s\S]*got go/)
  expect(heard.join('')).toBe(stdout)
  expect([exit_code, truncated]).toEqual([3, false])
})

test('default: input comes piece by piece while the program runs', async () => {
  async function* words() {
    yield 'one\n'
    await new Promise((resolve) => setTimeout(resolve, 50))
    yield `${'ü'.repeat(70_000)}\n`
  }
  const { stdout, exit_code } = await sandbox.exec('read a; echo "$a"; cat | wc -m', { stdin: words() })
  expect([stdout.split('\n')[0], exit_code]).toEqual(['one', 0])
  expect((await sandbox.exec('cat', { stdin: 'all at once' })).stdout).toBe('all at once')
})

test('behavior: a signal ends the program, also one that is typed into', async () => {
  for (const more of [{}, { terminal: { columns: 80, rows: 24 } }]) {
    const end = new AbortController()
    const work = sandbox.exec('echo begun; sleep 77', {
      ...more,
      signal: end.signal,
      onStdout: () => end.abort(),
    })
    await expect(work).rejects.toMatchObject({ name: 'AbortError' })
    await expect
      .poll(async () => (await createClient(options).listTasks({ sandbox_id: sandbox.id })).items)
      .toSatisfy((tasks: { running: boolean }[]) => tasks.every(({ running }) => !running))
  }
})

test('behavior: a signal that has fired lets nothing begin', async () => {
  const signal = AbortSignal.abort(new Error('Given up'))
  const calls = [
    () => sandbox.exec('true', { signal }),
    () => sandbox.runCode('1', { signal }),
    () => sandbox.files.read('a', { signal }),
    () => sandbox.files.write('a', 'b', { signal }),
    () => sandbox.files.list('.', { signal }),
    () => sandbox.pause({ signal }),
    () => sandbox.fork({}, { signal }),
    () => sandbox.snapshot('a', { signal }),
    () => sandbox.expose(8000, 'public', { signal }),
    () => sandbox.info({ signal }),
    () => sandbox.files.makeFolder('a', { signal }),
    () => sandbox.files.move('a', 'b', { signal }),
    () => sandbox.files.watch('.', { signal }),
    () => sandbox.contexts.create('a', {}, { signal }),
    () => sandbox.exposeAll('public', { signal }),
    () => sandbox.startCode('1', {}, { signal }),
  ]
  for (const call of calls) await expect(call()).rejects.toThrow('Given up')
  expect((await sandbox.info()).state).toBe('running')
})

test('behavior: a refusal for now is repeated when the service says, streams and files too', async () => {
  const pauses: number[] = []
  let refusals = 0
  const busy = through(
    async (address, init) => {
      if (++refusals % 2 === 0) return fetch(address, init)
      return new Response('{"code":"rate_limited","retry_after":7}', { status: 429 })
    },
    { sleep: async (milliseconds) => void pauses.push(milliseconds) },
  )
  expect((await busy.exec('echo hello')).stdout).toBe('hello\n')
  await busy.files.write('a.txt', 'b')
  expect(await busy.files.text('a.txt')).toBe('b')
  expect(pauses).toEqual([7000, 7000, 7000])

  const never = through(async () => new Response('{"code":"overloaded","retry_after":3600}', { status: 503 }))
  const refused = (await never.exec('true').catch((error) => error)) as CoinrackError
  expect([refused.code, refused.retryAfter]).toEqual(['overloaded', 3600])
})

test('behavior: a reader of a task whose connection broke reads on where it was', async () => {
  let streams = 0
  const shaky = through(
    async (address, init) => {
      const response = await fetch(address, init)
      if (!address.includes('?stdout=') || ++streams > 1) return response
      const reader = response.body!.getReader()
      const first = await reader.read()
      const cut = new ReadableStream({
        start: (controller) => controller.enqueue(first.value),
        async pull(controller) {
          await reader.cancel()
          controller.error(new TypeError('terminated'))
        },
      })
      return new Response(cut, { headers: response.headers })
    },
    { sleep: async () => {} },
  )
  const task = await shaky.start('for i in 1 2 3; do echo $i; read go; done')
  const heard: string[] = []
  const waiting = task.wait({ onStdout: (text) => void heard.push(text) })
  await expect.poll(() => heard.join('')).toBe('1\n')
  await task.write('\n\n\n')
  expect((await waiting).stdout).toBe('1\n2\n3\n')
  expect(streams).toBe(2)
})

test('error: a stream that breaks off is no answer', async () => {
  const broken = through(async (address, init) => {
    if (!address.endsWith('/exec')) return fetch(address, init)
    return new Response('event: stdout\ndata: {"text":"a"}\n\n')
  })
  await expect(broken.exec('echo a')).rejects.toMatchObject({ name: 'ConnectionError' })
})

test('default: sandboxes, tasks and ports are listed page after page', async () => {
  const task = await sandbox.start('sleep 60')
  expect((await Array.fromAsync(sandbox.tasks())).map(({ id }) => id)).toEqual([task.id])
  await task.kill()
  await sandbox.expose(8000)
  expect((await Array.fromAsync(sandbox.ports())).map(({ port }) => port)).toEqual([8000])
  await sandbox.unexpose(8000)
  expect(await Array.fromAsync(sandbox.ports())).toEqual([])

  await using copy = await sandbox.fork()
  const ids = (await Array.fromAsync(Sandbox.list(options, { limit: 1 }))).map(({ id }) => id)
  expect(ids.sort()).toEqual([copy.id, sandbox.id].sort())
})

test('default: it is paused, goes on with another timeout, and is the template of another', async () => {
  await sandbox.runCode('x = 20', { context: 'python' })
  expect((await sandbox.pause()).state).toBe('paused')
  expect(await sandbox.resume({ timeout: 77 })).toMatchObject({ state: 'running', timeout: 77 })
  const { id } = await sandbox.snapshot('one')
  await using later = await Sandbox.create(options, { template: id })
  const { results } = await later.runCode('x + 22', { context: 'python' })
  expect(results[0]!.data['text/plain']).toBe('42')
})

test('default: folders are made and moved, and every change is told once they are watched', async () => {
  const { files } = sandbox
  expect([await files.makeFolder('a/b'), await files.makeFolder('a/b')]).toEqual([true, false])
  await files.write('a/b/one.txt', 'one')
  await files.move('a/b/one.txt', 'a/c/two.txt')
  expect(await files.text('a/c/two.txt')).toBe('one')
  await expect(files.move('a/none', 'a/c')).rejects.toMatchObject({ code: 'file_not_found' })
  await expect(files.watch('none')).rejects.toMatchObject({ code: 'file_not_found' })

  const changes = await files.watch('a', { recursive: true })
  await files.write('a/b/three.txt', 'three')
  for await (const { path } of changes) if (path === 'b/three.txt') break
  expect(await changes.next()).toEqual({ done: true, value: undefined })

  const end = new AbortController()
  const watched = await files.watch('a', { signal: end.signal })
  end.abort(new Error('Given up'))
  await expect(watched.next()).rejects.toThrow('Given up')
})

test('default: contexts keep what code defines, until they are emptied or deleted', async () => {
  const { contexts } = sandbox
  expect(await contexts.create('mine', { cwd: '/tmp' })).toEqual({
    ...{ id: 'mine', language: 'python', cwd: '/tmp' },
  })
  await sandbox.runCode('x = 1', { context: 'mine' })
  expect((await sandbox.runCode('x', { context: 'mine' })).results).toHaveLength(1)
  await contexts.restart('mine')
  expect((await sandbox.runCode('x', { context: 'mine' })).error?.name).toBe('NameError')
  expect((await contexts.list()).map(({ id }) => id)).toEqual(['bash', 'mine', 'node', 'python'])
  await contexts.remove('mine')
  expect((await contexts.list()).map(({ id }) => id)).toEqual(['bash', 'node', 'python'])
})

const SHOWS = 'import time\ndisplay(1)\ntime.sleep(0.5)\n2'

test('default: what code shows is told when it is shown, also from the background', async () => {
  const heard: (string | undefined)[] = []
  const onResult = ({ data }: { data: Record<string, string> }) => void heard.push(data['text/plain'])
  const running = sandbox.runCode(SHOWS, { onResult })
  await expect.poll(() => heard).toEqual(['1'])
  expect((await running).results.map(({ is_main }) => is_main)).toEqual([false, true])
  expect(heard).toEqual(['1', '2'])

  const task = await sandbox.startCode(SHOWS)
  heard.length = 0
  expect((await task.wait({ onResult })).results).toHaveLength(2)
  expect(heard).toEqual(['1', '2'])
})

test('behavior: a result is told once, also over a connection that breaks after it', async () => {
  let streams = 0
  const shaky = through(
    async (address, init) => {
      const response = await fetch(address, init)
      if (!address.includes('&results=') || ++streams > 1) return response
      const reader = response.body!.getReader()
      const first = await reader.read()
      await reader.cancel()
      return new Response(first.value, { headers: response.headers })
    },
    { sleep: async () => {} },
  )
  const task = await shaky.startCode(SHOWS)
  const heard: (string | undefined)[] = []
  await task.wait({ onResult: ({ data }) => void heard.push(data['text/plain']) })
  expect([heard, streams]).toEqual([['1', '2'], 2])
})

test('default: every port has a URL, until it is taken away', async () => {
  const { url, token } = await sandbox.exposeAll('token')
  expect(url).toContain('{port}')
  expect(token).toEqual(expect.any(String))
  expect(await sandbox.exposeAll('none')).toMatchObject({ url: null })
})
