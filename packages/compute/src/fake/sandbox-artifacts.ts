import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ArtifactFile, SandboxArtifact, SandboxArtifacts } from '../ports/sandbox-artifacts.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'
import type { FakeRuntime } from './sandbox-runtime.ts'

/*
 * The artifacts of a fake runtime: images that are in memory, and its snapshots, which are their records and a few bytes.
 * A snapshot that is copied brings nothing of what a channel has written.
 */

const IMAGE = 'image:sandbox-fake-0123456789abcdef'
const RECORD = 'snapshot.json'

export function createFakeArtifacts(runtime: FakeRuntime, { hasImage = true } = {}): SandboxArtifacts {
  const received = new Map<string, Map<string, Buffer>>()
  const images = new Map<string, Map<string, Buffer>>()
  if (hasImage) images.set(IMAGE, new Map([['disk.qcow2', Buffer.from('a disk')]]))

  const contentOf = async (id: string): Promise<Map<string, Buffer>> => {
    const image = images.get(id)
    if (image) return image
    const found = (await runtime.snapshots()).find((each) => `snapshot:${each.id}` === id)
    if (!found) throw new SandboxError('artifact_unknown', `There is no ${id}`)
    return new Map([
      ['state', Buffer.from(`state of ${found.id}`)],
      [RECORD, Buffer.from(JSON.stringify(found))],
    ])
  }
  const ids = async () => [...images.keys(), ...(await runtime.snapshots()).map(({ id }) => `snapshot:${id}`)]
  const isWhole = (content: Map<string, Buffer> | undefined, files: readonly ArtifactFile[]) =>
    files.every(({ name, sha256 }) => content?.has(name) && sumOf(content.get(name)!) === sha256)

  return {
    list: ids,
    async describe(id) {
      const files = [...(await contentOf(id))].map(([name, data]) => ({
        name,
        bytes: data.length,
        sha256: sumOf(data),
      }))
      return { id, files, needs: id.startsWith('snapshot:') ? [IMAGE] : [] }
    },
    async read(id, file) {
      const content = (await contentOf(id)).get(file)
      if (!content) throw new SandboxError('artifact_unknown', `There is no ${file} of ${id}`)
      return Readable.from([content], { objectMode: false })
    },
    async write(id, { name, bytes, sha256 }, source) {
      if (!/^[a-z][a-z0-9.]*$/.test(name) || name.startsWith('authorized'))
        throw new SandboxError('spec_invalid', `No artifact has a ${name}`)
      const data = await buffer(source).catch((error) => {
        throw new SandboxError('guest_failed', (error as Error).message)
      })
      if (data.length !== bytes || sumOf(data) !== sha256)
        throw new SandboxError('artifact_damaged', `${name} of ${id} is not what it was said to be`)
      received.set(id, (received.get(id) ?? new Map()).set(name, data))
    },
    async complete({ id, files, needs }: SandboxArtifact) {
      const here = await ids()
      if (here.includes(id)) return
      if (needs.some((need) => !here.includes(need)))
        throw new SandboxError('artifact_unknown', 'What it needs is not here')
      const content = received.get(id)
      if (!content || !isWhole(content, files))
        throw new SandboxError('artifact_damaged', `${id} was not received`)
      if (id.startsWith('image:')) images.set(id, content)
      else runtime.adopt(JSON.parse(content.get(RECORD)!.toString()))
    },
  }
}

const sumOf = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')
