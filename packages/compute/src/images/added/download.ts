import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, statfs, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ImageRefusedError } from './added-image.ts'

export interface DownloadOptions {
  /** Plain http is fine for what a signature proves. */
  mayBePlain: boolean
  onProgress?: (line: string) => void
  /** Default: the global one. */
  request?: typeof fetch
  /** A server that sends nothing for so long is given up. */
  idleMs?: number
  /** Before the second try; doubled for each one after. */
  pauseMs?: number
}

const IDLE_MS = 60_000
const PAUSE_MS = 1_000
/** In a row, none of which brought a byte. */
const MOST_FAILURES = 5
const MOST_REDIRECTS = 8
const REDIRECTS = [301, 302, 303, 307, 308]
const SMALL_BYTES = 4 * 1024 * 1024
const MIB = 1024 ** 2
const KEEP_FREE_BYTES = 1024 ** 3

/** Worth another try. */
class BrokenOffError extends Error {}

/** Where a download is kept in the making, also over a kill. */
export function downloadFolder(folder: string, url: string): string {
  return join(folder, createHash('sha256').update(url).digest('hex').slice(0, 32))
}

/**
 * Downloads a file into its own folder under `folder`, going on where an earlier try ended if the server says that the
 * file is still the same one. Nothing about its content is proved by this.
 * @returns the path of the complete file
 * @throws ImageRefusedError when the server refuses, Error when it stays out of reach
 */
export async function download(url: string, folder: string, options: DownloadOptions): Promise<string> {
  const { onProgress = () => {}, pauseMs = PAUSE_MS } = options
  const own = downloadFolder(folder, url)
  await mkdir(own, { recursive: true, mode: 0o755 })
  const part = join(own, 'part')
  for (let failures = 0; ; ) {
    const before = await sizeOf(part)
    try {
      await fetchRest(url, own, part, options)
      return part
    } catch (error) {
      if (error instanceof ImageRefusedError || (error as NodeJS.ErrnoException).code === 'ENOSPC')
        throw error
      failures = (await sizeOf(part)) > before ? 1 : failures + 1
      const reason = reasonOf(error as Error)
      if (failures >= MOST_FAILURES)
        throw new Error(`${url} stays out of reach: ${reason}. What came is kept; the same command goes on.`)
      onProgress(`broken off (${reason}), trying again`)
      await sleep(pauseMs * 2 ** (failures - 1))
    }
  }
}

/** A small file: of an address, or of this host. */
export async function readSource(source: string, options: DownloadOptions): Promise<Buffer> {
  if (!/^https?:/i.test(source))
    return readFile(source).catch((error: Error) => {
      throw new ImageRefusedError(`${source} cannot be read: ${error.message}`)
    })
  const { pauseMs = PAUSE_MS } = options
  for (let failures = 1; ; failures++) {
    try {
      return await fetchSmall(source, options)
    } catch (error) {
      if (error instanceof ImageRefusedError) throw error
      if (failures >= MOST_FAILURES)
        throw new Error(`${source} stays out of reach: ${reasonOf(error as Error)}`)
      await sleep(pauseMs * 2 ** (failures - 1))
    }
  }
}

async function fetchSmall(url: string, options: DownloadOptions): Promise<Buffer> {
  const watch = idleWatch(options.idleMs)
  try {
    const response = await follow(url, {}, watch.signal, options)
    refuseUnless(response.status === 200, url, response)
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      watch.alive()
      bytes += chunk.length
      if (bytes > SMALL_BYTES) throw new ImageRefusedError(`${url} is too large for a list or a signature`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } finally {
    watch.end()
  }
}

/** The server's description of the file that the part belongs to; without it the download cannot be resumed. */
interface Mark {
  validator: string | null
}

async function fetchRest(url: string, own: string, part: string, options: DownloadOptions): Promise<void> {
  const markFile = join(own, 'mark.json')
  const text = await readFile(markFile, 'utf8').catch(() => undefined)
  const validator = text === undefined ? null : (JSON.parse(text) as Mark).validator
  let have = validator === null ? 0 : await sizeOf(part)
  const watch = idleWatch(options.idleMs)
  try {
    const range = { range: `bytes=${have}-`, 'if-range': validator ?? '' }
    const response = await follow(url, have > 0 ? range : {}, watch.signal, options)
    const { status, headers } = response
    const said = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(headers.get('content-range') ?? '')
    if (status === 416 && have > 0) {
      if (said?.[2] === String(have)) return
      await rm(markFile, { force: true })
      throw new BrokenOffError('the server has another file now')
    }
    const goesOn = status === 206 && have > 0
    refuseUnless(status === 200 || goesOn, url, response)
    if (goesOn && said?.[1] !== String(have))
      throw new ImageRefusedError(`${url}: the server sent another part than was asked for`)
    if (!goesOn) {
      have = 0
      // First the old mark goes, then the old bytes: a kill in between leaves nothing that does not belong together.
      await rm(markFile, { force: true })
      await writeFile(part, '', { mode: 0o644 })
      const mark: Mark = { validator: validatorOf(headers) }
      await writeFile(`${markFile}.part`, JSON.stringify(mark), { flush: true })
      await rename(`${markFile}.part`, markFile)
    }
    const length = headers.get('content-length')
    const total = length === null ? undefined : have + Number(length)
    if (goesOn) options.onProgress?.(`going on at ${mib(have)}`)
    await refuseWhenFull(own, total === undefined ? 0 : total - have)
    await append(response, part, { have, total, watch, onProgress: options.onProgress })
  } finally {
    watch.end()
  }
}

interface Appending {
  have: number
  total: number | undefined
  watch: IdleWatch
  onProgress: DownloadOptions['onProgress']
}

async function append(response: Response, part: string, { have, total, watch, onProgress }: Appending) {
  await truncate(part, have)
  const file = await open(part, 'a')
  let [bytes, told] = [have, -1]
  try {
    for await (const chunk of response.body ?? []) {
      watch.alive()
      await file.write(chunk)
      bytes += chunk.length
      // Every hundredth; where the size is not known, every 16 MiB.
      const step = total ? Math.floor((bytes / total) * 100) : Math.floor(bytes / (16 * MIB))
      if (step > told) onProgress?.(`downloaded ${mib(bytes)}${total ? ` of ${mib(total)} (${step} %)` : ''}`)
      told = step
    }
    await file.sync()
  } finally {
    await file.close()
  }
  if (total !== undefined && bytes !== total) throw new BrokenOffError(`${bytes} of ${total} bytes came`)
}

async function follow(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  { mayBePlain, request = fetch }: DownloadOptions,
): Promise<Response> {
  let next = url
  for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
    const { protocol } = new URL(next)
    if (protocol !== 'https:' && !(protocol === 'http:' && mayBePlain))
      throw new ImageRefusedError(
        `${next} is not https: without a signature nothing proves what comes from there`,
      )
    const response = await request(next, {
      headers: { 'accept-encoding': 'identity', ...headers },
      redirect: 'manual',
      signal,
    })
    if (!REDIRECTS.includes(response.status)) return response
    await response.body?.cancel()
    next = new URL(response.headers.get('location') ?? '', next).href
  }
  throw new ImageRefusedError(`${url} leads from one address to the next without end`)
}

/** A refusal of a server may pass later; a file that it does not have stays missing. */
function refuseUnless(isFine: boolean, url: string, { status, headers }: Response): void {
  if (status >= 500 || status === 408 || status === 429) throw new BrokenOffError(`status ${status}`)
  if (!isFine) throw new ImageRefusedError(`${url}: the server answers with status ${status}`)
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity')
    throw new ImageRefusedError(`${url}: the server sends it as ${encoding}, which was not asked for`)
}

/** A weak ETag does not say that the bytes are the same. */
function validatorOf(headers: Headers): string | null {
  const etag = headers.get('etag')
  return etag !== null && !etag.startsWith('W/') ? etag : headers.get('last-modified')
}

async function refuseWhenFull(folder: string, wanted: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize - wanted < KEEP_FREE_BYTES)
    throw new ImageRefusedError(`There is no room under ${folder} for ${mib(wanted)} more`)
}

interface IdleWatch {
  signal: AbortSignal
  alive(): void
  end(): void
}

function idleWatch(idleMs = IDLE_MS): IdleWatch {
  const controller = new AbortController()
  const late = () => controller.abort(new BrokenOffError(`nothing came for ${idleMs / 1000} s`))
  const timer = setTimeout(late, idleMs)
  return { signal: controller.signal, alive: () => timer.refresh(), end: () => clearTimeout(timer) }
}

/** `fetch` hides why behind a word that says nothing. */
const reasonOf = ({ message, cause }: Error) =>
  cause instanceof Error && cause.message ? cause.message : message

const mib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`

const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  )
