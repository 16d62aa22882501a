import { type Duplex, duplexPair } from 'node:stream'
import type {
  SandboxChannel,
  SandboxTasks,
  TaskEnd,
  TaskOutput,
} from '@coinrack/compute/ports/sandbox-channel.ts'
import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { Draw } from './facts.ts'

/** What a program is in a sandbox that is only played: its end of the connection, until it has had enough. */
export type Played = (guest: Duplex, sandboxId: string) => Promise<void>

/** The ways in which a sandbox can lie about a program that has ended. */
function liesOf(draw: Draw): Partial<TaskEnd> {
  return draw.of<Partial<TaskEnd>>([
    { exitCode: 0 },
    {
      exitCode: 1,
      error: { name: 'x'.repeat(100_000), value: 'y'.repeat(1_000_000), traceback: '<code 1>:99999999999:1' },
    },
    {
      exitCode: 0,
      results: Array.from({ length: 1000 }, () => ({ data: { 'text/html': '<script>' }, isMain: true })),
    },
    { exitCode: -1, durationMs: -1 },
    { signal: 'SIGKILL', timedOut: true },
    { exitCode: 2 ** 31, error: { name: '', value: '\0\u202e', traceback: '<code 1>:0:0' } },
  ])
}

/** A program that is played instead of being run, by its number. */
export const playedProgram = (number: number) => `/* ${number} */`

/**
 * The inside of sandboxes whose programs are played, as their numbers say; what they print and how they end is drawn as
 * well.
 */
export function scriptedChannel(of: (number: number) => { played: Played; draw: Draw }): SandboxChannel {
  const runs = new Map<string, { done: Promise<void>; service: Duplex; draw: Draw }>()
  const ends: TaskEnd = { timedOut: false, durationMs: 1, results: [] }
  const none = { stdout: 0, stderr: 0 }

  const tasks = {
    async run(id, _taskId, { run }): Promise<TaskOutput> {
      const { code } = run as { code: string }
      const { played, draw } = of(Number(/\/\* (\d+) \*\//.exec(code)![1]))
      const [service, inside] = duplexPair()
      runs.set(id, { draw, service, done: played(inside, id) })
      if (draw.below(40) === 0) throw new SandboxError('guest_failed', 'scripted: the agent lies')
      const flood = draw.below(20) === 0 ? draw.below(500_000) : draw.below(200)
      const stdout = Buffer.alloc(flood, draw.of(['a', '\xff', '€', '\n']))
      return { stdout, stderr: Buffer.from('\u001b[31m'), from: none, next: none }
    },
    async read(id): Promise<TaskOutput> {
      const { done, draw } = runs.get(id)!
      await done
      const end = { ...ends, ...liesOf(draw) }
      return { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), from: none, next: none, end }
    },
    async remove() {},
  } as Partial<SandboxTasks> as SandboxTasks

  return {
    tasks,
    async connect(id: string) {
      const run = runs.get(id)
      if (!run) throw new SandboxError('port_refused', 'scripted: nothing listens yet')
      if (run.draw.below(60) === 0) throw new SandboxError('guest_failed', 'scripted: no connection')
      return run.service
    },
  } as Partial<SandboxChannel> as SandboxChannel
}
