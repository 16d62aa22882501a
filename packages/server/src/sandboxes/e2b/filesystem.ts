import type { FileInfo, SandboxChannel } from '@coinrack/compute/ports/sandbox-channel.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { askSandbox } from '../tasks/ask-sandbox.ts'
import { type Entered, type InsideWorld, userOf } from './enter.ts'
import { entryOf, pathOf } from './entries.ts'
import { type Refusal, Refused } from './refusals.ts'
import { serveStream, serveUnary } from './remote-calls.ts'
import { AtPath, ListDir, Move, OfWatcher, Watch } from './shapes.ts'
import { createWatchers, eventView } from './watchers.ts'

const path = (name: string) => `/filesystem.Filesystem/${name}`

/** What E2B's clients ask of the files of a sandbox, but for their bytes. */
export function registerFilesystem(scope: FastifyInstance, world: InsideWorld): void {
  const { services } = world
  const watchers = createWatchers(world)
  const inside = <T>(
    { id, row }: Entered,
    request: FastifyRequest,
    work: (files: Asked) => Promise<T>,
  ): Promise<T> => askSandbox(services, id, row, ({ files }) => work(asked(files, id, userOf(request))))

  serveUnary(scope, world, [path('Stat'), AtPath], (sandbox, { path }, request) =>
    inside(sandbox, request, async ({ entryAt }) => ({ entry: await entryAt(path) })),
  )

  serveUnary(scope, world, [path('MakeDir'), AtPath], (sandbox, { path }, request) =>
    inside(sandbox, request, async ({ files, id, user, entryAt }) => {
      if (!(await files.makeFolder(id, pathOf(path), user))) throw new Refused(alreadyThere(path))
      return { entry: await entryAt(path) }
    }),
  )

  serveUnary(scope, world, [path('Move'), Move], (sandbox, { source, destination }, request) =>
    inside(sandbox, request, async ({ files, id, user, entryAt }) => {
      await files.move(id, pathOf(source), pathOf(destination), user)
      return { entry: await entryAt(destination) }
    }),
  )

  serveUnary(scope, world, [path('ListDir'), ListDir], (sandbox, { path, depth }, request) =>
    inside(sandbox, request, async ({ files, id, user, entry }) => {
      const found = await files.list(id, pathOf(path), { ...user, depth: Math.max(1, depth) })
      return { entries: await Promise.all(found.map(entry)) }
    }),
  )

  serveUnary(scope, world, [path('Remove'), AtPath], (sandbox, { path }, request) =>
    inside(sandbox, request, async ({ files, id, user }) => {
      await files.remove(id, pathOf(path), user)
      return {}
    }),
  )

  serveStream(
    scope,
    world,
    [path('WatchDir'), Watch, { keepalive: {} }],
    (sandbox, asked, { send, gone, request }) =>
      inside(sandbox, request, async ({ files, id, user }) => {
        const { path, recursive } = asked
        const limitMs = Number(request.headers['connect-timeout-ms'])
        const signal = limitMs > 0 ? AbortSignal.any([gone, AbortSignal.timeout(limitMs)]) : gone
        const events = await files.watch(id, pathOf(path), { ...user, recursive, signal })
        await send({ start: {} })
        for await (const event of events) {
          const filesystem = eventView(event)
          if (filesystem && !(await send({ filesystem }))) return
        }
      }),
  )

  serveUnary(scope, world, [path('CreateWatcher'), Watch], (sandbox, { path, recursive }, request) =>
    watchers.create(sandbox, { path: pathOf(path), recursive, ...userOf(request) }),
  )
  serveUnary(scope, world, [path('GetWatcherEvents'), OfWatcher], async ({ id }, { watcherId }) => ({
    events: watchers.take(id, watcherId),
  }))
  serveUnary(scope, world, [path('RemoveWatcher'), OfWatcher], async ({ id }, { watcherId }) => {
    watchers.remove(id, watcherId)
    return {}
  })
}

const alreadyThere = (path: string): Refusal => ({
  status: 409,
  message: `directory already exists: ${path}`,
  rpcCode: 'already_exists',
  headers: {},
})

type Asked = ReturnType<typeof asked>

/** The files of a sandbox, for a user of it. */
function asked(files: SandboxChannel['files'], id: string, user: { user?: string }) {
  const entry = (found: FileInfo) => entryOf(files, id, found, user)
  return {
    files,
    id,
    user,
    entry,
    entryAt: async (path: string) => entry(await files.stat(id, pathOf(path), user)),
  }
}
