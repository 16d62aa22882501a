import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ArtifactFile, SandboxArtifact, SandboxArtifacts } from '../sandbox-artifacts.ts'

/** The subject of the suite: an implementation of the port, and ways to see what it does. */
export interface ArtifactsUnderTest {
  /** A host that has an image, and a snapshot that needs it. */
  giver: SandboxArtifacts
  image: string
  snapshot: string
  /** A host that has neither. */
  taker: SandboxArtifacts
  close?(): Promise<void>
}

const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')

async function* one(data: Uint8Array) {
  yield data
}

/** The duties of what keeps artifacts. The tests are one copy, in order. */
export function sandboxArtifactsSuite(name: string, make: () => Promise<ArtifactsUnderTest>): void {
  describe(`${name}: the sandbox artifacts port`, { timeout: 120_000 }, () => {
    let subject: ArtifactsUnderTest
    let giver: SandboxArtifacts
    let taker: SandboxArtifacts
    let image: SandboxArtifact
    let snapshot: SandboxArtifact

    beforeAll(async () => {
      subject = await make()
      ;({ giver, taker } = subject)
      image = await giver.describe(subject.image)
      snapshot = await giver.describe(subject.snapshot)
    }, 300_000)
    afterAll(() => subject?.close?.())

    const codeOf = (call: Promise<unknown>) =>
      call.then(
        () => 'none',
        (error) => error.code,
      )
    const copy = async ({ id, files }: SandboxArtifact) => {
      for (const file of files) await taker.write(id, file, await giver.read(id, file.name))
    }

    test('default: what is here is listed, and described as it is', async () => {
      expect(await giver.list()).toEqual(expect.arrayContaining([subject.image, subject.snapshot]))
      expect(image).toMatchObject({ id: subject.image, needs: [] })
      expect(snapshot).toMatchObject({ id: subject.snapshot, needs: [subject.image] })
      for (const { id, files } of [image, snapshot])
        for (const { name, bytes, sha256: sum } of files) {
          const content = await buffer(await giver.read(id, name))
          expect([name, content.length, sha256(content)]).toEqual([name, bytes, sum])
        }
      expect(await giver.describe(subject.snapshot)).toEqual(snapshot)
    })

    test('error: what is not here', async () => {
      const none = 'snapshot:snp_00000000000000000000000000'
      for (const id of [none, 'image:sandbox-none-0123456789abcdef', 'snapshot:../../etc', 'image:..'])
        expect(await codeOf(giver.describe(id))).not.toBe('none')
      expect(await codeOf(giver.describe(none))).toBe('artifact_unknown')
      expect(await codeOf(giver.read(subject.image, 'shadow'))).not.toBe('none')
      expect(await codeOf(taker.complete({ ...snapshot, id: 'snapshot:../../etc' }))).not.toBe('none')
    })

    test('error: a file that is not what it was said to be is not kept', async () => {
      const [file] = image.files as [ArtifactFile]
      const wrong = [
        Buffer.from('other'),
        Buffer.alloc(0),
        Buffer.alloc(file.bytes + 1),
        Buffer.alloc(file.bytes),
      ]
      for (const content of wrong)
        expect(await codeOf(taker.write(image.id, file, one(content)))).toBe('artifact_damaged')
      const breaksOff = async function* () {
        yield Buffer.alloc(1)
        throw new Error('the other host is gone')
      }
      expect(await codeOf(taker.write(image.id, file, breaksOff()))).not.toBe('none')
      for (const name of ['../../etc/passwd', 'authorized_keys'])
        expect(
          await codeOf(taker.write(image.id, { ...file, name }, one(Buffer.alloc(file.bytes)))),
        ).not.toBe('none')
      expect(await codeOf(taker.complete(image))).toBe('artifact_damaged')
      expect(await taker.list()).toEqual([])
    })

    test('error: a snapshot is not whole without the image that it needs', async () => {
      await copy(snapshot)
      expect(await codeOf(taker.complete(snapshot))).toBe('artifact_unknown')
      expect(await taker.list()).toEqual([])
    })

    test('default: copied file by file, it is the same on the other host', async () => {
      await copy(image)
      await Promise.all([taker.complete(image), taker.complete(image)])
      await taker.complete(snapshot)
      expect((await taker.list()).sort()).toEqual([image.id, snapshot.id].sort())
      expect(await taker.describe(image.id)).toEqual(image)
      expect(await taker.describe(snapshot.id)).toEqual(snapshot)
      await taker.complete(snapshot)
    })
  })
}
