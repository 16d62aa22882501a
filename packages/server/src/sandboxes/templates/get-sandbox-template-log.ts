import type { Handler } from '../../dispatch/handler.ts'
import { buildById, lastBuilds, logAfter } from './build-store.ts'

/** The most lines of one answer. */
const MOST_LINES = 1000
const WAIT_MS = 10_000

export const getSandboxTemplateLog: Handler<'getSandboxTemplateLog'> = async ({
  input,
  db,
  services,
  stream,
  until,
}) => {
  const last = (await lastBuilds(db, [input.template_id])).get(input.template_id)
  if (!last) return { build_id: null, running: false, lines: [], next: 0, error: null }
  const read = async (after: number) => {
    // Its end is read first: what was written before it is in the lines then.
    const { status, error } = await buildById(db, last.id)
    const lines = await logAfter(db, last.id, after, MOST_LINES)
    const next = lines.at(-1)?.number ?? after
    return {
      build_id: last.id,
      running: status === 'running' || lines.length === MOST_LINES,
      lines,
      next,
      error,
    }
  }
  if (!stream)
    return until(
      last.id,
      input.timeout,
      () => read(input.after),
      ({ lines, running }) => lines.length > 0 || !running,
    )
  for (let after = input.after; ; ) {
    const part = await read(after)
    after = part.next
    for (const { number, stream: name, text, at } of part.lines)
      if (!(await stream.emit('log', { number, stream: name, text, at: at.toISOString() })))
        return { ...part, lines: [] }
    if (!part.running || stream.gone.aborted) return { ...part, lines: [] }
    if (part.lines.length === 0 && !(await services.changes.wait(last.id, WAIT_MS, stream.gone)))
      return { ...part, lines: [] }
  }
}
