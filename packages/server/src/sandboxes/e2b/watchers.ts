import type { FileEvent } from '@coinrack/compute/ports/sandbox-channel.ts'
import { OperationError } from '../../platform/errors.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'
import type { Entered, InsideWorld } from './enter.ts'

/** The watchers of one sandbox at a time, and the events that each keeps: then the oldest is dropped. */
const WATCHERS = 16
const EVENTS = 10_000
/** One that is not asked for so long is given up. */
const FORGOTTEN_MS = 10 * 60_000

const types: Partial<Record<FileEvent['type'], string>> = {
  created: 'EVENT_TYPE_CREATE',
  written: 'EVENT_TYPE_WRITE',
  removed: 'EVENT_TYPE_REMOVE',
  renamed: 'EVENT_TYPE_RENAME',
  mode: 'EVENT_TYPE_CHMOD',
}

/** A change of a folder as E2B's clients read it; undefined where there were too many to tell, for which they have no word. */
export const eventView = ({ type, path }: FileEvent) =>
  types[type] === undefined ? undefined : { name: path, type: types[type] }

interface Watcher {
  sandboxId: string
  events: object[]
  stop(): void
  timer: NodeJS.Timeout
}

/** Watchers that clients ask for what has changed, again and again, as E2B's Python does. They live in this process alone. */
export function createWatchers({ services, closing }: InsideWorld) {
  const all = new Map<string, Watcher>()

  const remove = (sandboxId: string, watcherId: string) => {
    const { timer, stop } = known(sandboxId, watcherId)
    clearTimeout(timer)
    all.delete(watcherId)
    stop()
  }

  const known = (sandboxId: string, watcherId: string) => {
    const watcher = all.get(watcherId)
    if (watcher?.sandboxId === sandboxId) return watcher
    throw new OperationError('not_found', `watcher with id ${watcherId} not found`)
  }

  return {
    async create(
      { id, row }: Entered,
      { path, ...options }: { path: string; recursive: boolean; user?: string },
    ): Promise<{ watcherId: string }> {
      if ([...all.values()].filter(({ sandboxId }) => sandboxId === id).length >= WATCHERS)
        throw new OperationError('sandbox_limit', `More than ${WATCHERS} watchers of one sandbox`)
      const enough = new AbortController()
      const signal = AbortSignal.any([enough.signal, closing])
      const changes = await askSandbox(services, id, row, ({ files }) =>
        files.watch(id, path, { ...options, signal }),
      )
      const watcherId = services.newId('task')
      const events: object[] = []
      const timer = setTimeout(() => remove(id, watcherId), FORGOTTEN_MS).unref()
      all.set(watcherId, { sandboxId: id, events, stop: () => enough.abort(), timer })
      void keep(changes, events).catch((error) =>
        services.log.info({ err: error, sandbox: id }, 'A watcher of a sandbox broke'),
      )
      return { watcherId }
    },

    /** What has changed since it was asked last. @throws OperationError `not_found` */
    take(sandboxId: string, watcherId: string): object[] {
      const watcher = known(sandboxId, watcherId)
      watcher.timer.refresh()
      return watcher.events.splice(0)
    },
    remove,
  }
}

async function keep(changes: AsyncIterable<FileEvent>, events: object[]): Promise<void> {
  for await (const change of changes) {
    const event = eventView(change)
    if (event) events.push(event)
    if (events.length > EVENTS) events.shift()
  }
}
