import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import { demandFolder, treeOf } from './files.ts'
import { Refusal } from './refusal.ts'
import type { MockSandbox } from './state.ts'
import { eventOf } from './stream.ts'

type Change = Output<Operations['watchFolder']>['changes'][number]

/** Someone who is told what changes in a folder. */
export interface Watcher {
  /** Compares what is there with what it saw last. */
  look(): void
  fail(refusal: Refusal): void
}

/**
 * The changes of a folder as the body of an answer, until its reader gives up.
 * @throws Refusal `file_not_found`, `file_refused`
 */
export function watchBody(
  sandbox: MockSandbox,
  { folder, recursive }: { folder: string; recursive: boolean },
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  demandFolder(sandbox, folder)
  const start = folder === '/' ? '/' : `${folder}/`
  const isSeen = (path: string) =>
    path.startsWith(start) && (recursive || !path.slice(start.length).includes('/'))
  const see = () => new Map([...treeOf(sandbox)].filter(([path]) => isSeen(path)))
  let seen = see()
  let watcher: Watcher
  return new ReadableStream({
    start(controller) {
      const tell = (type: Change['type'], path: string) =>
        controller.enqueue(eventOf('change', { type, path: path.slice(start.length) }))
      const stop = (end: () => void) => {
        if (sandbox.watchers.delete(watcher)) end()
      }
      watcher = {
        look() {
          const now = see()
          for (const path of [...seen.keys()].reverse()) if (!now.has(path)) tell('removed', path)
          for (const [path, bytes] of now) {
            if (!seen.has(path)) tell('created', path)
            if (bytes && seen.get(path) !== bytes) tell('written', path)
          }
          seen = now
        },
        fail: (refusal) =>
          stop(() => {
            controller.enqueue(eventOf('error', refusal.body('mock')))
            controller.close()
          }),
      }
      sandbox.watchers.add(watcher)
      signal?.addEventListener('abort', () => stop(() => controller.error(signal.reason)), { once: true })
      controller.enqueue(eventOf('watching', { path: folder }))
    },
    cancel: () => void sandbox.watchers.delete(watcher),
  })
}

/** Those who watch a sandbox that does not run any longer hear no more of it. */
export function endWatchers({ watchers, view }: MockSandbox): void {
  for (const watcher of watchers)
    watcher.fail(new Refusal('sandbox_not_running', `The sandbox ${view.id} does not run any longer`))
}
