import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  OUTPUT_BYTES,
  type ReadOptions,
  type SandboxChannel,
  type TaskEnd,
  type TaskOffsets,
  type TaskOutput,
  type TaskRequest,
} from '../sandbox-channel.ts'
import type { SandboxError } from '../sandbox-runtime.ts'

/** The subject of the suite: an implementation of the port, and ways to see what it does. */
export interface SandboxChannelUnderTest {
  channel: SandboxChannel
  /** A sandbox that runs, whose environment has FROM=spec. */
  id: string
  /** It has users, terminals and a loopback of its own. */
  hasInside: boolean
  close(): Promise<void>
}

let tasks = 0

/** Runs a task to its end, reading as it goes. */
export async function runTask(
  channel: SandboxChannel,
  id: string,
  request: TaskRequest,
): Promise<{ stdout: string; stderr: string; end: TaskEnd }> {
  const taskId = `suite-${process.pid}-${++tasks}`
  await channel.tasks.start(id, taskId, request)
  const stdout: Uint8Array[] = []
  const stderr: Uint8Array[] = []
  for (let from = { stdout: 0, stderr: 0 }; ; ) {
    const output = await channel.tasks.read(id, taskId, from, { waitMs: 5_000 })
    stdout.push(output.stdout)
    stderr.push(output.stderr)
    from = output.next
    if (!output.end) continue
    await channel.tasks.remove(id, taskId)
    return {
      stdout: Buffer.concat(stdout).toString(),
      stderr: Buffer.concat(stderr).toString(),
      end: output.end,
    }
  }
}

/** More than one piece on its way, either way; the same in each run. */
const content = Buffer.concat(
  Array.from({ length: 90_000 }, (_, index) => createHash('sha256').update(String(index)).digest()),
)

/** The duties of every sandbox channel. The tests are one life of one sandbox, in order. */
export function sandboxChannelSuite(name: string, make: () => Promise<SandboxChannelUnderTest>): void {
  describe(`${name}: the sandbox channel port`, { timeout: 120_000 }, () => {
    let subject: SandboxChannelUnderTest
    let channel: SandboxChannel
    let id: string

    beforeAll(async () => {
      subject = await make()
      ;({ channel, id } = subject)
    }, 8 * 60_000)
    afterAll(() => subject?.close())

    const run = (request: TaskRequest) => runTask(channel, id, request)
    const sh = (command: string, change: Partial<TaskRequest> = {}) => run({ run: { command }, ...change })
    const codeOf = (call: Promise<unknown>) =>
      call.then(
        () => 'none',
        (error: SandboxError) => error.code,
      )
    const until = async (taskId: string, wanted: (output: TaskOutput) => boolean) => {
      for (;;) {
        const output = await channel.tasks.read(id, taskId, { stdout: 0, stderr: 0 }, { waitMs: 200 })
        if (wanted(output)) return output
        await sleep(20)
      }
    }
    const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()
    const one = async function* (...chunks: (string | Uint8Array)[]) {
      for (const chunk of chunks) yield Buffer.from(chunk)
    }
    const readAll = async (path: string, options = {}) =>
      buffer((await channel.files.read(id, path, options)).content)

    test('default: outputs and exit code of a command, in its environment', async () => {
      const done = await sh('echo out; echo err >&2; echo "$FROM $ALSO"; exit 3', { env: { ALSO: `it's` } })
      expect(done).toMatchObject({
        stdout: `out\nspec it's\n`,
        stderr: 'err\n',
        end: { exitCode: 3, timedOut: false, durationMs: expect.any(Number), results: [] },
      })
    })

    test('default: a program with arguments that no shell reads, in a folder', async () => {
      const done = await run({ run: { program: ['/usr/bin/printf', '%s|', '$HOME', 'a b'] }, cwd: '/tmp' })
      expect(done.stdout).toBe('$HOME|a b|')
      expect((await sh('basename "$PWD"', { cwd: '/tmp' })).stdout).toBe('tmp\n')
      expect((await sh('basename "$PWD"')).stdout).toBe('user\n')
    })

    test('error: no such folder, user or program', async () => {
      const start = (request: TaskRequest) => channel.tasks.start(id, 'refused', request)
      const command = 'true'
      expect(await codeOf(start({ run: { command }, cwd: '/none' }))).toBe('spec_invalid')
      expect(await codeOf(start({ run: { command }, user: 'nobody-here' }))).toBe('spec_invalid')
      expect(await codeOf(start({ run: { program: ['/no/such/program'] } }))).toBe('spec_invalid')
      expect(await codeOf(channel.tasks.read(id, 'refused', { stdout: 0, stderr: 0 }))).toBe('task_unknown')
    })

    test('behavior: of calls with one task id one task comes', async () => {
      const start = () =>
        channel.tasks.start(id, 'once', { run: { command: 'echo x >> ~/once; cat ~/once' } })
      await Promise.all([start(), start()])
      await until('once', ({ end }) => end !== undefined)
      await start()
      expect((await sh('cat ~/once')).stdout).toBe('x\n')
      expect((await channel.tasks.list(id)).find(({ taskId }) => taskId === 'once')).toMatchObject({
        isRunning: false,
        startedAt: expect.any(Date),
      })
      await channel.tasks.remove(id, 'once')
      await channel.tasks.remove(id, 'once')
    })

    test('default: a task is started and read in one go, until there is something, its end, or no more time', async () => {
      const start = (taskId: string, command: string, options: ReadOptions) =>
        channel.tasks.run(id, taskId, { run: { command } }, options)
      const whole = await start('whole', 'echo 1; sleep 0.5; echo 2', { waitMs: 20_000, untilEnd: true })
      expect([textOf(whole.stdout), whole.end?.exitCode]).toEqual(['1\n2\n', 0])
      const first = await start('first', 'echo 1; sleep 5', { waitMs: 20_000 })
      expect([textOf(first.stdout), first.end]).toEqual(['1\n', undefined])
      const late = await start('late', 'echo 1; sleep 30', { waitMs: 3_000, untilEnd: true })
      expect([textOf(late.stdout), late.end]).toEqual(['1\n', undefined])
      expect(await codeOf(start('none', 'true', {}).then(() => start('none', 'false', {})))).toBe('none')
      for (const taskId of ['whole', 'first', 'late', 'none']) await channel.tasks.remove(id, taskId)
    })

    test('default: a background task is read by offsets while it runs, and typed into', async () => {
      await channel.tasks.start(id, 'talk', {
        run: { command: 'while read line; do echo "heard $line"; done; echo end' },
        stdin: true,
      })
      const none = await channel.tasks.read(id, 'talk', { stdout: 0, stderr: 0 })
      expect(none).toMatchObject({ next: { stdout: 0, stderr: 0 } })
      await channel.tasks.write(id, 'talk', Buffer.from('one\n'))
      const first = await channel.tasks.read(id, 'talk', none.next, { waitMs: 10_000 })
      expect(textOf(first.stdout)).toBe('heard one\n')
      const again = await channel.tasks.read(id, 'talk', none.next)
      expect(textOf(again.stdout)).toBe('heard one\n')
      await channel.tasks.write(id, 'talk', Buffer.from('two\n'), { end: true })
      const last = await until('talk', ({ end }) => end !== undefined)
      expect(textOf(last.stdout)).toContain('heard two\nend\n')
      expect(last.end).toMatchObject({ exitCode: 0 })
      expect(await codeOf(channel.tasks.write(id, 'talk', Buffer.from('x')))).toBe('task_ended')
    })

    test('behavior: a command has the groups that its user has by then', async () => {
      if (!subject.hasInside) return
      await sleep(1_000)
      await sh('groupadd latecomers && usermod -aG latecomers user', { user: 'root' })
      expect((await sh('id -Gn')).stdout.split(/\s/)).toContain('latecomers')
    })

    test('behavior: without input it is empty, and cannot be typed into', async () => {
      expect((await sh('cat; echo done')).stdout).toBe('done\n')
      await channel.tasks.start(id, 'deaf', { run: { command: 'sleep 60' } })
      expect(await codeOf(channel.tasks.write(id, 'deaf', Buffer.from('x')))).toBe('task_ended')
      await channel.tasks.remove(id, 'deaf')
    })

    test('default: signals reach a task and all that it started', async () => {
      await channel.tasks.start(id, 'trap', {
        run: { command: 'trap "echo caught; exit 7" TERM; echo ready; while :; do sleep 0.1; done' },
      })
      await until('trap', ({ stdout }) => textOf(stdout).includes('ready'))
      await channel.tasks.signal(id, 'trap', 'SIGTERM')
      const caught = await until('trap', ({ end }) => end !== undefined)
      expect(caught.end).toMatchObject({ exitCode: 7 })
      await channel.tasks.signal(id, 'trap', 'SIGTERM')

      await channel.tasks.start(id, 'family', { run: { command: 'sleep 4321 & sleep 4321; true' } })
      await channel.tasks.signal(id, 'family', 'SIGKILL')
      expect((await until('family', ({ end }) => end !== undefined)).end).toMatchObject({ signal: 'SIGKILL' })
      expect((await sh(`pgrep -xf 'sleep 4321' | wc -l`)).stdout.trim()).toBe('0')
    })

    test('behavior: ended by its timeout, with what it wrote before', async () => {
      const done = await sh('echo before; trap "" TERM; sleep 30; echo after', { timeoutMs: 1_000 })
      expect(done).toMatchObject({ stdout: 'before\n', end: { timedOut: true, signal: 'SIGKILL' } })
      expect(done.end.durationMs).toBeGreaterThanOrEqual(1_000)
      expect(done.end.durationMs).toBeLessThan(10_000)
    })

    test('behavior: of too much output the oldest is dropped, which offsets show', async () => {
      await channel.tasks.start(id, 'flood', {
        run: { command: `head -c 3000000 /dev/zero | tr '\\0' x; printf END` },
      })
      while ((await channel.tasks.list(id)).find(({ taskId }) => taskId === 'flood')?.isRunning)
        await sleep(20)
      const output = await channel.tasks.read(id, 'flood', { stdout: 0, stderr: 0 })
      expect(output.from.stdout).toBeGreaterThan(0)
      const rest = await channel.tasks.read(id, 'flood', { stdout: 3_000_003 - 10, stderr: 0 })
      expect(textOf(rest.stdout)).toBe('xxxxxxxEND')
    })

    test('behavior: a task that waits for its reader loses nothing', async () => {
      const bytes = 3 * OUTPUT_BYTES + 17
      const done = await sh(`head -c ${bytes} /dev/zero | tr '\\0' x`, { overflow: 'wait' })
      expect(done.stdout.length).toBe(bytes)
    })

    test('behavior: a task that is followed loses nothing, while its readers read, and goes on without them', async () => {
      const bytes = 3 * OUTPUT_BYTES + 17
      const run = { command: `head -c ${bytes} /dev/zero | tr '\\0' x; touch ~/written` }
      await channel.tasks.start(id, 'followed', { run, overflow: 'follow' })
      const read = async (reader: string, hurry: number) => {
        let size = 0
        for (let from = { stdout: 0, stderr: 0 }; ; ) {
          const output = await channel.tasks.read(id, 'followed', from, { waitMs: 5_000, reader })
          size += output.stdout.length
          from = output.next
          if (output.end) return size
          await sleep(hurry)
        }
      }
      for (const reader of ['quick', 'slow'])
        await channel.tasks.read(id, 'followed', { stdout: 0, stderr: 0 }, { reader })
      expect(await Promise.all([read('quick', 0), read('slow', 20)])).toEqual([bytes, bytes])

      await channel.tasks.start(id, 'left', {
        run: { command: `rm ~/written; ${run.command}` },
        overflow: 'follow',
      })
      await channel.tasks.read(id, 'left', { stdout: 0, stderr: 0 }, { waitMs: 5_000, reader: 'gone' })
      let left: TaskOutput
      let from = { stdout: 0, stderr: 0 }
      do {
        left = await channel.tasks.read(id, 'left', from, { waitMs: 1_000 })
        from = left.next
      } while (!left.end)
      expect(left.end).toMatchObject({ exitCode: 0 })
      for (const taskId of ['followed', 'left']) await channel.tasks.remove(id, taskId)
    })

    test('default: a task that was started says its process, and the list what it runs', async () => {
      const request = { run: { program: ['/bin/sleep', '60'] }, env: { A: 'b' }, cwd: '/tmp' }
      const { pid } = await channel.tasks.start(id, 'listed', request)
      expect(pid).toBeGreaterThan(1)
      expect((await channel.tasks.list(id)).find(({ taskId }) => taskId === 'listed')).toMatchObject({
        pid,
        isRunning: true,
        args: ['/bin/sleep', '60'],
        env: { A: 'b' },
        cwd: '/tmp',
      })
      await channel.tasks.remove(id, 'listed')
    })

    test('behavior: tasks at the same moment run beside each other', async () => {
      const done = await Promise.all(['a', 'b', 'c', 'd'].map((word) => sh(`sleep 0.2; echo ${word}`)))
      expect(done.map(({ stdout }) => stdout)).toEqual(['a\n', 'b\n', 'c\n', 'd\n'])
    })

    test('default: a terminal, of a size', async () => {
      await channel.tasks.start(id, 'terminal', {
        run: { command: 'tty -s && echo terminal; while read word; do stty size; done' },
        terminal: { columns: 80, rows: 24 },
      })
      await until('terminal', ({ stdout }) => textOf(stdout).includes('terminal\r\n'))
      if (subject.hasInside) {
        await channel.tasks.write(id, 'terminal', Buffer.from('a\n'))
        await until('terminal', ({ stdout }) => textOf(stdout).includes('24 80'))
      }
      await channel.tasks.resize(id, 'terminal', { columns: 100, rows: 30 })
      if (subject.hasInside) {
        await channel.tasks.write(id, 'terminal', Buffer.from('b\n'))
        await until('terminal', ({ stdout }) => textOf(stdout).includes('30 100'))
      }
      await channel.tasks.remove(id, 'terminal')
      await channel.tasks.start(id, 'plain', { run: { command: 'sleep 5' } })
      expect(await codeOf(channel.tasks.resize(id, 'plain', { columns: 1, rows: 1 }))).toBe('spec_invalid')
      await channel.tasks.remove(id, 'plain')
    })

    const code = (text: string, language: 'python' | 'node' | 'bash', context?: string) =>
      run({ run: { code: text, language, ...(context && { context }) } })

    test('default: code without a context, with its outputs and its last expression', async () => {
      expect(await code('print(1)', 'python')).toMatchObject({
        stdout: '1\n',
        end: { exitCode: 0, results: [] },
      })
      expect(await code('console.log(1)', 'node')).toMatchObject({ stdout: '1\n', end: { exitCode: 0 } })
      expect(await code('echo 1; exit 4', 'bash')).toMatchObject({ stdout: '1\n', end: { exitCode: 4 } })
      const done = await code('x = 20\nx * 2 + 2', 'python')
      expect(done.end.results).toEqual([{ data: { 'text/plain': '42' }, isMain: true }])
    })

    test('default: results are told as they are made, before the end and in it', async () => {
      const text = 'import time\ndisplay(1)\ndisplay("two")\ntime.sleep(2)\n3'
      await channel.tasks.start(id, 'shows', { run: { code: text, language: 'python' } })
      const told: string[] = []
      let early = 0
      for (let from = { stdout: 0, stderr: 0, results: 0 } as TaskOffsets; ; ) {
        const { results = [], next, end } = await channel.tasks.read(id, 'shows', from, { waitMs: 10_000 })
        told.push(...results.map(({ data, isMain }) => `${data['text/plain']} ${isMain}`))
        if (!end) early = told.length
        from = next
        if (end) {
          expect(end.results).toHaveLength(3)
          break
        }
      }
      expect(told).toEqual(['1 false', "'two' false", '3 true'])
      expect(early).toBeGreaterThanOrEqual(2)
      await channel.tasks.remove(id, 'shows')
    })

    test('default: a context keeps what code defined', async () => {
      await code('import math\nx = 41', 'python', 'python')
      expect((await code('x + 1', 'python', 'python')).end.results[0]?.data['text/plain']).toBe('42')
      await code('var y = 41', 'node', 'node')
      expect((await code('y + 1', 'node', 'node')).end.results[0]?.data['text/plain']).toBe('42')
      await code('z=41', 'bash', 'bash')
      expect((await code('echo $((z + 1))', 'bash', 'bash')).stdout).toBe('42\n')
    })

    test('behavior: contexts are apart, until restarted or removed', async () => {
      await channel.contexts.create(id, 'mine', { language: 'python', cwd: '/tmp' })
      await channel.contexts.create(id, 'mine', { language: 'python', cwd: '/tmp' })
      expect(await channel.contexts.list(id)).toContainEqual({
        contextId: 'mine',
        language: 'python',
        cwd: '/tmp',
      })
      await code('x = 1', 'python', 'mine')
      expect((await code('x', 'python', 'python')).end.results[0]?.data['text/plain']).toBe('41')
      await channel.contexts.restart(id, 'mine')
      expect((await code('x', 'python', 'mine')).end).toMatchObject({
        exitCode: 1,
        error: { name: 'NameError', traceback: expect.stringContaining('NameError') },
      })
      await channel.contexts.remove(id, 'mine')
      await channel.contexts.remove(id, 'mine')
      const request: TaskRequest = { run: { code: '1', language: 'python', context: 'mine' } }
      expect(await codeOf(channel.tasks.start(id, 'gone', request))).toBe('context_unknown')
      expect(await codeOf(channel.contexts.restart(id, 'mine'))).toBe('context_unknown')
    })

    test('behavior: code that throws says what and where; the context goes on', async () => {
      const failed = await code('def f():\n  raise ValueError("no")\nf()', 'python', 'python')
      expect(failed.end).toMatchObject({ exitCode: 1, error: { name: 'ValueError', value: 'no' } })
      expect((await code('throw new TypeError("no")', 'node', 'node')).end).toMatchObject({
        exitCode: 1,
        error: { name: 'TypeError', value: 'no' },
      })
      expect((await code('x', 'python', 'python')).end.results[0]?.data['text/plain']).toBe('41')
      const quiet = { code: '1 / 0', language: 'python', context: 'python', quiet: true } as const
      const { stderr, end } = await run({ run: quiet })
      expect([stderr, end.error?.name]).toEqual(['', 'ZeroDivisionError'])
      expect(end.count).toBeGreaterThan(3)
    })

    test('default: a file of many pieces comes back as it was, whole and in part', async () => {
      const pieces = Array.from({ length: 12 }, (_, at) => content.subarray(at * 240_000, (at + 1) * 240_000))
      expect(await channel.files.write(id, 'new/folder/pieces', one(...pieces))).toBe(content.length)
      expect((await readAll('/home/user/new/folder/pieces')).equals(content)).toBe(true)
      const part = await readAll('new/folder/pieces', { offset: 1_000_001, length: 7 })
      expect(part).toEqual(content.subarray(1_000_001, 1_000_008))
      expect(await readAll('new/folder/pieces', { offset: content.length + 5 })).toHaveLength(0)
    })

    test('behavior: a write that fails half-way leaves the file as it was', async () => {
      await channel.files.write(id, 'whole', one('before'))
      const broken = async function* () {
        yield Buffer.from('half')
        throw new Error('the sender is gone')
      }
      await expect(channel.files.write(id, 'whole', broken())).rejects.toThrow('the sender is gone')
      expect((await readAll('whole')).toString()).toBe('before')
      expect((await channel.files.list(id, '/home/user')).map(({ path }) => path)).not.toContain(
        '/home/user/whole.part',
      )
    })

    test('behavior: replaced, a file keeps its mode; an empty one is empty; a new one has what was asked', async () => {
      await sh('printf secret > keep; chmod 600 keep')
      expect(await channel.files.write(id, 'keep', one())).toBe(0)
      expect(await channel.files.stat(id, 'keep')).toMatchObject({ mode: 0o600, size: 0, type: 'file' })
      expect(await readAll('keep')).toHaveLength(0)
      await channel.files.write(id, 'tool', one('#!/bin/sh\n'), { mode: 0o755 })
      expect(await channel.files.stat(id, 'tool')).toMatchObject({ path: '/home/user/tool', mode: 0o755 })
    })

    test('default: folders are listed, made, moved and removed', async () => {
      expect(await channel.files.makeFolder(id, 'tree/deep')).toBe(true)
      expect(await channel.files.makeFolder(id, 'tree/deep')).toBe(false)
      await channel.files.write(id, 'tree/deep/leaf', one('leaf'))
      await sh('ln -s deep tree/link')
      const shallow = await channel.files.list(id, 'tree')
      expect(shallow.map(({ path, type }) => [path, type])).toEqual([
        ['/home/user/tree/deep', 'folder'],
        ['/home/user/tree/link', 'link'],
      ])
      expect(shallow[1]).toMatchObject({ target: 'deep', modifiedAt: expect.any(Date) })
      const deep = await channel.files.list(id, 'tree', { depth: 2 })
      expect(deep.map(({ path }) => path)).toContain('/home/user/tree/deep/leaf')
      await channel.files.move(id, 'tree/deep/leaf', 'tree/new/moved')
      expect((await readAll('tree/new/moved')).toString()).toBe('leaf')
      await channel.files.remove(id, 'tree')
      await channel.files.remove(id, 'tree')
      expect(await codeOf(channel.files.stat(id, 'tree'))).toBe('file_unknown')
    })

    test('behavior: names that a shell would take apart', async () => {
      for (const path of ['-n', 'a b', `it's "$HOME" *`, 'ü']) {
        await channel.files.write(id, path, one(path))
        expect((await readAll(path)).toString()).toBe(path)
      }
    })

    test('error: what is no regular file is refused', async () => {
      expect(await codeOf(channel.files.read(id, 'none'))).toBe('file_unknown')
      expect(await codeOf(channel.files.list(id, 'none'))).toBe('file_unknown')
      expect(await codeOf(channel.files.read(id, '/tmp'))).toBe('file_refused')
      await channel.files.write(id, 'plain', one('x'))
      expect(await codeOf(channel.files.list(id, 'plain'))).toBe('file_refused')
      expect(await codeOf(channel.files.write(id, '/tmp', one('x')))).toBe('file_refused')
      await sh('mkfifo pipe')
      expect(await codeOf(channel.files.read(id, 'pipe'))).toBe('file_refused')
    })

    test('default: changes of a folder are told', async () => {
      await channel.files.makeFolder(id, 'watched')
      const enough = new AbortController()
      const events = await channel.files.watch(id, 'watched', { signal: enough.signal })
      const told: string[] = []
      const listening = (async () => {
        for await (const { type, path } of events) told.push(`${type} ${path}`)
      })()
      await channel.files.write(id, 'watched/file', one('x'))
      await sh('rm watched/file')
      while (!told.includes('removed file')) await sleep(20)
      enough.abort()
      await listening
      expect(told.some((text) => text.endsWith(' file'))).toBe(true)
    })

    test('default: a port of the sandbox, both ways, to the end of each', async () => {
      const server = `
import socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    client, _ = server.accept()
    data = b""
    while chunk := client.recv(65536): data += chunk
    client.sendall(data[::-1]); client.close()`
      await channel.tasks.start(id, 'server', { run: { program: ['python3', '-c', server] } })
      const { stdout } = await until('server', (output) => output.stdout.length > 0)
      const port = Number(textOf(stdout))
      const socket = await channel.connect(id, port)
      socket.end(content)
      const back = await buffer(socket)
      expect(back.equals(Buffer.from(content).reverse())).toBe(true)
      await channel.tasks.remove(id, 'server')
      expect(await codeOf(channel.connect(id, 1))).toBe('port_refused')
    })

    test('default: what it uses', async () => {
      const seen = await channel.metrics(id)
      expect(seen.memoryUsedBytes).toBeLessThan(seen.memoryTotalBytes)
      expect(seen.diskUsedBytes).toBeLessThan(seen.diskTotalBytes)
      expect(seen.processes).toBeGreaterThan(1)
      expect(seen.vcpus).toBeGreaterThanOrEqual(1)
    })

    test('default: what it used, up to now and between two moments', async () => {
      const samples = await channel.history(id)
      const last = samples.at(-1)!
      expect(last.memoryUsedBytes).toBeLessThan(last.memoryTotalBytes)
      expect(last.cpuPercent).toBeGreaterThanOrEqual(0)
      expect(last.at.getTime()).toBeGreaterThanOrEqual(samples[0]!.at.getTime())
      const before = new Date(samples[0]!.at.getTime() - 1)
      expect(await channel.history(id, { until: before })).toEqual([])
      expect((await channel.history(id, { since: samples[0]!.at })).length).toBeGreaterThanOrEqual(1)
    })
  })
}
