import { lastPasses } from '../platform/pass-report.ts'
import type { Command } from './command.ts'
import { table } from './table.ts'

export const background: Command = {
  name: 'background',
  arguments: '',
  summary: 'What runs in the background: when each last ran, what it did, and what failed',
  takes: 0,
  async run(operator) {
    const now = operator.clock.now().getTime()
    const passes = (await lastPasses(await operator.db())).map(
      ({ ended_at, failed_at, seen, done, failed, ...pass }) => ({
        ...pass,
        ended_at: ended_at.toISOString(),
        seconds_ago: Math.max(0, Math.round((now - ended_at.getTime()) / 1000)),
        ...{ seen: Number(seen), done: Number(done), failed: Number(failed) },
        failed_at: failed_at?.toISOString() ?? null,
      }),
    )
    return {
      json: passes,
      text: table(['name', 'seconds_ago', 'took_ms', 'seen', 'done', 'failed', 'failed_at', 'error'], passes),
    }
  },
}
