import { createReadStream, watch } from 'node:fs'
import { lstat, mkdir, open, readdir, readlink, rename, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { FileEvent, FileInfo, SandboxFiles } from '../ports/sandbox-channel.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'

/** Files of sandboxes that are folders of this host. */
export function createFakeFiles(here: (id: string) => Promise<{ root: string; home: string }>): SandboxFiles {
  const locate = async (id: string, path: string) => {
    const { root, home } = await here(id)
    return { root, file: path.startsWith('/') ? join(root, path) : join(home, path) }
  }

  const infoOf = async (root: string, file: string): Promise<FileInfo> => {
    const found = await lstat(file)
    const target = found.isSymbolicLink() ? await readlink(file) : undefined
    return {
      path: `/${relative(root, file)}`,
      type: found.isFile() ? 'file' : found.isDirectory() ? 'folder' : target ? 'link' : 'other',
      size: found.size,
      mode: found.mode & 0o7777,
      user: 'user',
      group: 'user',
      modifiedAt: found.mtime,
      ...(target && { target }),
    }
  }

  return {
    stat: (id, path) =>
      refused(async () => {
        const { root, file } = await locate(id, path)
        return infoOf(root, file)
      }),

    list: (id, path, { depth = 1 } = {}) =>
      refused(async () => {
        const { root, file } = await locate(id, path)
        const found: FileInfo[] = []
        const walk = async (folder: string, left: number) => {
          for (const name of await readdir(folder)) {
            const info = await infoOf(root, join(folder, name))
            found.push(info)
            if (info.type === 'folder' && left > 1) await walk(join(folder, name), left - 1)
          }
        }
        await walk(file, depth)
        return found.sort((a, b) => (a.path < b.path ? -1 : 1))
      }),

    read: (id, path, { offset = 0, length } = {}) =>
      refused(async () => {
        const { file } = await locate(id, path)
        const found = await lstat(file)
        if (!found.isFile()) throw new SandboxError('file_refused', `${path} is no file`)
        const end = length === undefined ? Number.POSITIVE_INFINITY : offset + length - 1
        const content =
          length === 0 ? createReadStream('/dev/null') : createReadStream(file, { start: offset, end })
        return { content, size: found.size }
      }),

    write: (id, path, source, { mode = 0o644 } = {}) =>
      refused(async () => {
        const { file } = await locate(id, path)
        const there = await lstat(file).catch(() => undefined)
        if (there && !there.isFile()) throw new SandboxError('file_refused', `${path} is no file`)
        await mkdir(dirname(file), { recursive: true })
        const part = `${file}.part`
        const handle = await open(part, 'w')
        try {
          for await (const chunk of source) await handle.write(chunk)
          await handle.chmod(there ? there.mode & 0o7777 : mode)
          await rename(part, file)
          return (await handle.stat()).size
        } catch (error) {
          await rm(part, { force: true })
          throw error
        } finally {
          await handle.close()
        }
      }),

    makeFolder: (id, path) =>
      refused(async () => (await mkdir((await locate(id, path)).file, { recursive: true })) !== undefined),

    move: (id, from, to) =>
      refused(async () => {
        const { file } = await locate(id, to)
        await mkdir(dirname(file), { recursive: true })
        await rename((await locate(id, from)).file, file)
      }),

    remove: (id, path) =>
      refused(async () => rm((await locate(id, path)).file, { recursive: true, force: true })),

    watch: (id, path, { recursive = false, signal }) =>
      refused(async () => {
        const { file } = await locate(id, path)
        if (!(await lstat(file)).isDirectory()) throw new SandboxError('file_refused', `${path} is no folder`)
        return changesIn(file, recursive, signal)
      }),
  }
}

function changesIn(folder: string, recursive: boolean, signal: AbortSignal): AsyncIterable<FileEvent> {
  const waiting: FileEvent[] = []
  let wake = () => {}
  const watcher = watch(folder, { recursive, signal }, async (kind, name) => {
    const isThere = await lstat(join(folder, name!)).then(
      () => true,
      () => false,
    )
    waiting.push({
      type: kind === 'change' ? 'written' : isThere ? 'created' : 'removed',
      path: name!,
    })
    wake()
  })
  watcher.on('error', () => {})
  signal.addEventListener('abort', () => wake())
  return (async function* () {
    while (!signal.aborted) {
      const event = waiting.shift()
      if (event) yield event
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  })()
}

/** Turns an error of this host about a path into the one that a sandbox gives. */
async function refused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!code?.startsWith('E')) throw error
    throw new SandboxError(code === 'ENOENT' ? 'file_unknown' : 'file_refused', (error as Error).message, {
      cause: error,
    })
  }
}
