import { Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { LARGEST_FILE_BYTES } from '@coinrack/contract/sandbox-files.ts'
import type { SandboxUse } from '../../dispatch/read-models.ts'
import { listOf } from '../../dispatch/resources.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { sandboxUse } from '../life/sandbox-store.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'

/** Which bytes of a file: both ends included. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Carries a file out of a sandbox, at the pace of the reader.
 * @param range what is wanted of a file of this size; undefined: all
 * @param begin told of what comes, once it is sure that it does; gives what takes the bytes
 */
export async function downloadFile(
  services: Services,
  id: string,
  path: string,
  range: ((size: number) => ByteRange | undefined) | undefined,
  begin: (file: { size: number; range: ByteRange | undefined }) => Writable,
): Promise<void> {
  await askSandbox(services, id, await usedOf(services, id), async ({ files }) => {
    const part = range?.((await files.stat(id, path)).size)
    const { content, size } = await files.read(
      id,
      path,
      part && { offset: part.start, length: part.end - part.start + 1 },
    )
    const length = part ? part.end - part.start + 1 : size
    await pipeline(content, atMost(length), begin({ size, range: part }))
  })
}

/**
 * Carries a file into a sandbox. When the source fails, or is larger than 2 GB, the file is as it was.
 * @returns its size
 */
export async function uploadFile(
  services: Services,
  id: string,
  path: string,
  source: AsyncIterable<Uint8Array>,
): Promise<number> {
  return askSandbox(services, id, await usedOf(services, id), ({ files }) =>
    files.write(id, path, limited(source)),
  )
}

async function usedOf({ db }: Services, id: string): Promise<SandboxUse> {
  const row = await sandboxUse(db, id)
  if (!row)
    throw new OperationError('not_found', 'There is no sandbox with this id', { nextSteps: listOf.sandbox })
  return row
}

export async function* limited(source: AsyncIterable<Uint8Array>) {
  let size = 0
  for await (const piece of source) {
    size += piece.length
    if (size > LARGEST_FILE_BYTES) throw tooLarge()
    yield piece
  }
}

export const tooLarge = () =>
  new OperationError('body_too_large', `A file has at most ${LARGEST_FILE_BYTES} bytes`)

/** Drops the bytes that a sandbox sends beyond what it promised. */
export function atMost(length: number): Transform {
  let left = length
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      const part = piece.subarray(0, left)
      left -= part.length
      done(null, part)
    },
  })
}
