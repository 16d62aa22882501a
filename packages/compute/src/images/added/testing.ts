import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'

/** How a server of tests treats one file. */
export interface ServedFile {
  body: Buffer
  etag?: string
  lastModified?: string
  /** Cuts the connection after so many bytes of an answer's body, so often. */
  cut?: { afterBytes: number; times: number }
  /** Never mind what part is asked for. */
  ignoresRanges?: boolean
  status?: number
  headers?: Record<string, string>
}

export interface FileServer {
  url: string
  files: Map<string, ServedFile>
  /** The `Range` of each request, in order: empty where there was none. */
  ranges: string[]
  close(): Promise<void>
}

/** A web server with files that can be made to fail. */
export async function startFileServer(): Promise<FileServer> {
  const files = new Map<string, ServedFile>()
  const ranges: string[] = []
  const server = createServer((request, response) => {
    const file = files.get(decodeURIComponent(request.url!.slice(1)))
    ranges.push(request.headers.range ?? '')
    if (!file) response.writeHead(404).end()
    else serve(file, request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    ranges,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function serve(file: ServedFile, { headers }: IncomingMessage, response: ServerResponse): void {
  const { body, etag, lastModified, cut } = file
  const known =
    headers['if-range'] === undefined || [etag, lastModified].includes(String(headers['if-range']))
  const from = file.ignoresRanges || !known ? 0 : Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
  const common = {
    ...(etag && { etag }),
    ...(lastModified && { 'last-modified': lastModified }),
  }
  if (file.status) return void response.writeHead(file.status, common).end()
  if (from >= body.length)
    return void response.writeHead(416, { ...common, 'content-range': `bytes */${body.length}` }).end()
  const rest = body.subarray(from)
  const range = { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` }
  const own = { 'content-length': rest.length, ...common, ...(from > 0 && range), ...file.headers }
  response.writeHead(from > 0 ? 206 : 200, own)
  if (!cut || cut.times === 0) return void response.end(rest)
  cut.times--
  // Ended, not reset: what was written arrives.
  response.write(rest.subarray(0, cut.afterBytes), () => response.socket?.end())
}

/** A publisher of images, with a key of their own. */
export interface Publisher {
  /** Public, in ASCII armor. */
  keyFile: string
  fingerprint: string
  detached(text: string | Buffer): Promise<Buffer>
  clearSigned(text: string): Promise<string>
  /** From now on its key file says that nothing it signs counts. */
  revoke(): Promise<void>
  close(): Promise<void>
}

/** @param expires as gpg writes it, such as `seconds=1`; never when left out */
export async function makePublisher(expires = 'never'): Promise<Publisher> {
  // Sockets of its agent have short paths.
  const home = await mkdtemp(join(tmpdir(), 'coinrack-gpg-'))
  const gpg = (args: string[], input?: string | Buffer) =>
    runCommand(
      'gpg',
      ['--homedir', home, '--batch', '--pinentry-mode', 'loopback', '--passphrase', '', ...args],
      {
        input,
      },
    )
  await mkdir(home, { recursive: true, mode: 0o700 })
  await gpg(['--quick-generate-key', 'Images <images@publisher.test>', 'ed25519', 'sign', expires])
  const { stdout } = await gpg(['--list-keys', '--with-colons'])
  const keyFile = join(home, 'key.asc')
  const writeKey = () => gpg(['--armor', '--yes', '--output', keyFile, '--export'])
  await writeKey()
  const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(stdout)![1]!
  let made = 0
  return {
    keyFile,
    fingerprint,
    async detached(text) {
      const file = join(home, `signature-${++made}`)
      await gpg(['--output', file, '--detach-sign', '-'], text)
      return readFile(file)
    },
    clearSigned: async (text) => (await gpg(['--clear-sign'], text)).stdout,
    async revoke() {
      // Made along with the key, and spoilt by a colon so that it is not taken by mistake.
      const certificate = await readFile(join(home, 'openpgp-revocs.d', `${fingerprint}.rev`), 'utf8')
      await gpg(['--import'], certificate.replace(/^:-----/m, '-----'))
      await writeKey()
    },
    async close() {
      await runCommand('gpgconf', ['--homedir', home, '--kill', 'all'])
      await rm(home, { recursive: true })
    },
  }
}
