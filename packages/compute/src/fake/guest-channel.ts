import { spawn } from 'node:child_process'
import { mkdir, open, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type GuestChannel, GuestError, type GuestUsage, OUTPUT_BYTES } from '../ports/guest-channel.ts'
import type { FakeDriver } from './driver.ts'

/*
 * A channel into machines of the fake driver. Each has a folder as its root: commands really run there, in a shell of
 * this host, with the machine's name and folder in HOSTNAME and ROOT. An agent is gone when the machine does not run or
 * its name says so:
 *
 *   no-agent...        never answers
 *
 * or when the test says so (`silence`).
 */

export interface FakeGuestChannel extends GuestChannel {
  /** Ends the agent of a machine, or starts it again. */
  silence(id: string, isGone: boolean): void
  /** Sets the counters of a machine's kernel from now on; it has none before. */
  setUsage(id: string, usage: GuestUsage): void
  /** The folder that stands for the machine's root. */
  rootOf(id: string): string
}

export function createFakeGuestChannel(driver: FakeDriver, folder: string): FakeGuestChannel {
  const silent = new Set<string>()
  const usages = new Map<string, GuestUsage>()
  const rootOf = (id: string) => join(folder, id)

  const here = async (id: string) => {
    if (!driver.features.guestCommands)
      throw new GuestError('unsupported', 'scripted: a host without guestCommands')
    const machine = driver.machines.get(id)
    const { sshReady } = await driver.observe(id)
    if (!machine || !sshReady || silent.has(id) || machine.spec.hostname.startsWith('no-agent'))
      throw new GuestError('guest_away', 'scripted: no guest agent answers')
    await mkdir(join(rootOf(id), 'root'), { recursive: true })
    return machine
  }

  return {
    rootOf,
    setUsage(id, usage) {
      usages.set(id, usage)
    },
    silence(id, isGone) {
      if (isGone) silent.add(id)
      else silent.delete(id)
    },

    async exec(id, { command, cwd = '/root', env, timeoutMs, input = '' }) {
      const { inside } = await here(id)
      const begun = performance.now()
      const child = spawn('/bin/sh', ['-c', command], {
        cwd: join(rootOf(id), cwd),
        env: { PATH: '/usr/bin:/bin', HOSTNAME: inside.hostname, ROOT: rootOf(id), ...env },
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        detached: true,
      })
      const out = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
      let truncated = false
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].on('data', (chunk: Buffer) => {
          truncated ||= out[name].length + chunk.length > OUTPUT_BYTES
          out[name] = Buffer.concat([out[name], chunk]).subarray(0, OUTPUT_BYTES)
        })
      }
      child.stdin.on('error', () => {})
      child.stdin.end(input)
      const exitCode = await new Promise<number | null>((resolve, reject) => {
        child.on('error', reject)
        child.on('exit', (code) => {
          // Whatever it started has the outputs too.
          if (code === null) process.kill(-child.pid!, 'SIGKILL')
        })
        child.on('close', resolve)
      })
      return {
        stdout: out.stdout.toString(),
        stderr: out.stderr.toString(),
        ...(exitCode === null ? {} : { exitCode }),
        timedOut: exitCode === null,
        truncated,
        durationMs: Math.round(performance.now() - begun),
      }
    },

    async usage(id) {
      await here(id)
      const usage = usages.get(id)
      if (!usage) throw new GuestError('guest_failed', 'scripted: the guest does not count')
      return usage
    },

    async readFile(id, path, { offset, length }) {
      const { inside } = await here(id)
      const file = join(rootOf(id), path)
      if (path === '/etc/hostname') {
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, `${inside.hostname}\n`)
      }
      const found = await stat(file).catch(() => undefined)
      if (!found) throw new GuestError('file_unknown', 'there is no such file')
      if (!found.isFile()) throw new GuestError('file_refused', 'it is not a regular file')
      const content = (await readFile(file)).subarray(offset, offset + length)
      return { content, size: found.size }
    },

    async writeFile(id, path, content, offset) {
      await here(id)
      const file = join(rootOf(id), path)
      const handle = await open(file, offset === undefined ? 'w' : 'r+')
        .catch((error: NodeJS.ErrnoException) => {
          if (offset !== undefined && error.code === 'ENOENT') return open(file, 'w')
          throw error
        })
        .catch(() => {
          throw new GuestError('file_refused', 'it cannot be written')
        })
      try {
        await handle.write(content, 0, content.length, offset ?? 0)
        return (await handle.stat()).size
      } finally {
        await handle.close()
      }
    },

    async setHostname(id, hostname) {
      const machine = await here(id)
      machine.inside = { ...machine.inside, hostname }
    },

    async setRootPasswordHash(id, rootPasswordHash) {
      const machine = await here(id)
      machine.inside = { ...machine.inside, rootPasswordHash }
    },

    alive: (id) =>
      here(id).then(
        () => true,
        () => false,
      ),
  }
}
