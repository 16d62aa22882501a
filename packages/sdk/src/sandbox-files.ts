import type { CallOptions, Client } from './client.ts'
import { CoinrackError } from './errors.ts'
import type { StreamEvent } from './read-events.ts'
import type { Wire } from './sandbox-wire.ts'

/** A change in a folder that is watched; `path` is below the folder. */
export type FileChange = Awaited<ReturnType<Client['watchFolder']>>['changes'][number]

/** Files, up to 2 GB. Relative paths are of /home/user. */
export interface SandboxFileAccess {
  /** Replaces the file, and makes the folders on the way. A stream is sent once, and never again. @returns its size */
  write(
    path: string,
    content: string | Uint8Array | ReadableStream<Uint8Array>,
    call?: CallOptions,
  ): Promise<number>
  read(path: string, call?: CallOptions): Promise<Uint8Array>
  text(path: string, call?: CallOptions): Promise<string>
  /** For files that are too large for the memory. */
  stream(path: string, call?: CallOptions): Promise<ReadableStream<Uint8Array>>
  list(
    path?: string,
    options?: CallOptions & { depth?: number },
  ): Promise<Awaited<ReturnType<Client['listFiles']>>['items']>
  /** Makes a folder, with those on the way to it. @returns whether it is new */
  makeFolder(path: string, call?: CallOptions): Promise<boolean>
  /** Renames or moves a file or a folder, and makes the folders on the way. A file that is at the new path is replaced. */
  move(path: string, to: string, call?: CallOptions): Promise<void>
  /**
   * Watches a folder: no change is missed once this resolves. To break out of the loop over the changes ends it; a sandbox that
   * ends, or a connection that breaks, ends the loop by an error.
   */
  watch(
    path?: string,
    options?: { recursive?: boolean; signal?: AbortSignal },
  ): Promise<AsyncGenerator<FileChange, void>>
  remove(path: string, call?: CallOptions): Promise<void>
  /** A link that works without a token, for so many seconds. */
  link(what: 'upload' | 'download', path: string, seconds?: number, call?: CallOptions): Promise<string>
}

/** @returns the files of one sandbox */
export function createFiles(client: Client, wire: Wire, id: string): SandboxFileAccess {
  const at = (path: string) => `/files/content?path=${encodeURIComponent(path)}`
  const get = (path: string, { signal }: CallOptions) =>
    wire.send(at(path), { method: 'GET', ...(signal && { signal }) })
  const read = async (path: string, call: CallOptions) => wire.bytes(await get(path, call), call.signal)
  return {
    async write(path, content, { signal } = {}) {
      const init: RequestInit & { duplex: 'half' } = {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream' },
        body: content as BodyInit,
        duplex: 'half',
        ...(signal && { signal }),
      }
      const response = await wire.send(at(path), init, true)
      return ((await response.json()) as { size: number }).size
    },
    read: (path, call = {}) => read(path, call),
    text: async (path, call = {}) => new TextDecoder().decode(await read(path, call)),
    stream: async (path, call = {}) => (await get(path, call)).body!,
    async list(path = '.', { depth, ...call } = {}) {
      const files = []
      const input = { sandbox_id: id, path, ...(depth !== undefined && { depth }) }
      for await (const file of client.listFiles.all(input, call)) files.push(file)
      return files
    },
    makeFolder: async (path, call) => (await client.makeFolder({ sandbox_id: id, path }, call)).created,
    move: async (path, to, call) => void (await client.moveFile({ sandbox_id: id, path, to }, call)),
    async watch(path = '.', { recursive = false, signal } = {}) {
      const query = `path=${encodeURIComponent(path)}&recursive=${recursive}`
      const changes = changesOf(wire.events(`/folders/changes?${query}`, signal))
      await changes.next()
      return changes as AsyncGenerator<FileChange, void>
    },
    remove: async (path, call) => void (await client.deleteFile({ sandbox_id: id, path }, call)),
    async link(what, path, seconds = 3600, call) {
      const get = what === 'upload' ? client.getUploadUrl : client.getDownloadUrl
      return (await get({ sandbox_id: id, path, expires_in: seconds }, call)).url
    },
  }
}

/** First undefined, when the folder is watched, and then each change. */
async function* changesOf(
  events: AsyncGenerator<StreamEvent, void>,
): AsyncGenerator<FileChange | undefined, void> {
  for await (const { event, data } of events) {
    if (event === 'watching') yield undefined
    if (event === 'change') yield data
    if (event === 'error') throw new CoinrackError(0, data)
    if (event === 'end') return
  }
}
