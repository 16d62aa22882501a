import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GuestChannel, type GuestError, OUTPUT_BYTES } from '../guest-channel.ts'

/** The subject of the suite: an implementation of the port, and ways to see what it does. */
export interface ChannelUnderTest {
  channel: GuestChannel
  /** A machine that runs, with an agent. */
  id: string
  /** The name that the machine goes by, and root's password hash, as they are inside. */
  inside(): Promise<{ hostname: string; rootPasswordHash: string }>
  /** Ends the machine. */
  stop(): Promise<void>
  close(): Promise<void>
}

/** More than one piece on its way, either way; the same in each run. */
const content = Buffer.concat(
  Array.from({ length: 45_000 }, (_, index) => createHash('sha256').update(String(index)).digest()),
)

/** The duties of every guest channel. The tests are one life of one machine, in order. */
export function guestChannelSuite(name: string, make: () => Promise<ChannelUnderTest>): void {
  describe(`${name}: the guest channel port`, { timeout: 120_000 }, () => {
    let subject: ChannelUnderTest
    let channel: GuestChannel
    let id: string

    beforeAll(async () => {
      subject = await make()
      ;({ channel, id } = subject)
    }, 8 * 60_000)
    afterAll(() => subject?.close())

    const run = (command: string, change: Partial<Parameters<GuestChannel['exec']>[1]> = {}) =>
      channel.exec(id, { command, timeoutMs: 20_000, ...change })
    const codeOf = (call: Promise<unknown>) =>
      call.then(
        () => 'none',
        (error: GuestError) => error.code,
      )

    test('default: outputs and exit code of a command', async () => {
      expect(await run('echo out; echo err >&2; exit 3')).toMatchObject({
        stdout: 'out\n',
        stderr: 'err\n',
        exitCode: 3,
        timedOut: false,
        truncated: false,
        durationMs: expect.any(Number),
      })
    })

    test('default: standard input, environment and folder', async () => {
      const answer = await run('cat; echo "$WHO"; basename "$PWD"', {
        input: 'typed\n',
        env: { WHO: `it's "me" $HOME` },
        cwd: '/root',
      })
      expect(answer).toMatchObject({ stdout: `typed\nit's "me" $HOME\nroot\n`, stderr: '', exitCode: 0 })
    })

    test('behavior: without input it ends at once, and an exit code of 124 is the command’s own', async () => {
      expect(await run('cat; exit 124')).toMatchObject({ stdout: '', exitCode: 124, timedOut: false })
    })

    test('behavior: ended by the timeout, with what it wrote before', async () => {
      const answer = await run('echo before; sleep 30; echo after', { timeoutMs: 1_000 })
      expect(answer).toMatchObject({ stdout: 'before\n', timedOut: true })
      expect(answer.exitCode).toBeUndefined()
      expect(answer.durationMs).toBeGreaterThanOrEqual(1_000)
      expect(answer.durationMs).toBeLessThan(8_000)
    })

    test('behavior: a program that heeds no request to end is killed', async () => {
      const answer = await run("trap '' TERM; while :; do sleep 1; done", { timeoutMs: 500 })
      expect(answer).toMatchObject({ timedOut: true })
    })

    test('behavior: of an output beyond the limit the beginning is kept, and the command does not notice', async () => {
      const answer = await run("head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2; exit 5")
      expect(answer).toMatchObject({ stderr: 'end\n', exitCode: 5, truncated: true })
      expect(answer.stdout).toBe('x'.repeat(OUTPUT_BYTES))
    })

    test('behavior: commands at the same moment run beside each other', async () => {
      const answers = await Promise.all(['a', 'b', 'c', 'd'].map((word) => run(`sleep 0.2; echo ${word}`)))
      expect(answers.map(({ stdout }) => stdout)).toEqual(['a\n', 'b\n', 'c\n', 'd\n'])
    })

    test('default: a file of several pieces comes back as it was, whole and in part', async () => {
      expect(await channel.writeFile(id, '/root/pieces', content)).toBe(content.length)
      const whole = await channel.readFile(id, '/root/pieces', { offset: 0, length: 5_000_000 })
      expect(whole.size).toBe(content.length)
      expect(Buffer.from(whole.content).equals(content)).toBe(true)
      const part = await channel.readFile(id, '/root/pieces', { offset: 1_000_001, length: 7 })
      expect(Buffer.from(part.content)).toEqual(content.subarray(1_000_001, 1_000_008))
      const beyond = await channel.readFile(id, '/root/pieces', { offset: 9_000_000, length: 7 })
      expect(beyond).toMatchObject({ size: content.length })
      expect(beyond.content).toHaveLength(0)
    })

    test('behavior: written at an offset, the rest of the file stays', async () => {
      await channel.writeFile(id, '/root/offset', Buffer.from('0123456789'))
      expect(await channel.writeFile(id, '/root/offset', Buffer.from('ab'), 3)).toBe(10)
      expect(await channel.writeFile(id, '/root/offset', Buffer.from('!'), 10)).toBe(11)
      expect((await run('cat offset')).stdout).toBe('012ab56789!')
    })

    test('behavior: replaced as a whole, a file keeps its mode; an empty one is empty', async () => {
      await run('printf secret >keep; chmod 600 keep')
      expect(await channel.writeFile(id, '/root/keep', Buffer.from(''))).toBe(0)
      // Nothing that it was written to first stays beside it.
      expect((await run('stat -c "%a %s" keep; ls -A | grep keep')).stdout).toBe('600 0\nkeep\n')
    })

    test('behavior: names that a shell would take apart', async () => {
      for (const path of ['/root/-n', '/root/a b', `/root/it's "$HOME" *`, '/root/ü']) {
        await channel.writeFile(id, path, Buffer.from(path))
        const { content: back } = await channel.readFile(id, path, { offset: 0, length: 100 })
        expect(Buffer.from(back).toString()).toBe(path)
      }
    })

    test('error: what is no regular file is refused', async () => {
      const range = { offset: 0, length: 10 }
      expect(await codeOf(channel.readFile(id, '/root/none', range))).toBe('file_unknown')
      expect(await codeOf(channel.readFile(id, '/root', range))).toBe('file_refused')
      await run('mkfifo pipe')
      expect(await codeOf(channel.readFile(id, '/root/pipe', range))).toBe('file_refused')
      expect(await codeOf(channel.writeFile(id, '/root', Buffer.from('x')))).toBe('file_refused')
      expect(await codeOf(channel.writeFile(id, '/root/no/folder', Buffer.from('x')))).toBe('file_refused')
    })

    test('default: name and password', async () => {
      const rootPasswordHash = `$6$suite$${'a'.repeat(86)}`
      await channel.setHostname(id, 'new.name.net')
      await channel.setHostname(id, 'new.name.net')
      await channel.setRootPasswordHash(id, rootPasswordHash)
      expect(await subject.inside()).toEqual({ hostname: 'new.name.net', rootPasswordHash })
    })

    test('error: nobody answers in a machine that is off, or that there is not', async () => {
      expect(await channel.alive(id)).toBe(true)
      await subject.stop()
      for (const machine of [id, 'vps_00000000000000000000000000', '../../etc']) {
        expect(await channel.alive(machine)).toBe(false)
        const request = { command: 'true', timeoutMs: 1_000 }
        expect(await codeOf(channel.exec(machine, request))).toBe('guest_away')
      }
    })
  })
}
