import { pipeline, type Readable, Transform } from 'node:stream'
import type { SandboxArtifact, SandboxArtifacts } from '@coinrack/compute/ports/sandbox-artifacts.ts'
import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'

const STILL_MS = 60_000

const underWay = new WeakMap<SandboxArtifacts, Map<string, Promise<void>>>()

/**
 * Gives a host an artifact that another has, through this process at the pace of the slower side, unless it is there. The
 * host that gets it checks each file against its sum. Of calls for the same at the same moment one copies.
 * @param artifact as it was written down when it was made, whatever the giving host says of it now
 * @param stillMs neither side may stand still for longer
 */
export function copyArtifact(
  artifact: SandboxArtifact,
  from: Pick<SandboxArtifacts, 'read'>,
  to: SandboxArtifacts,
  { stillMs = STILL_MS } = {},
): Promise<void> {
  const works = underWay.get(to) ?? new Map<string, Promise<void>>()
  underWay.set(to, works)
  const work =
    works.get(artifact.id) ?? copy(artifact, from, to, stillMs).finally(() => works.delete(artifact.id))
  works.set(artifact.id, work)
  return work
}

async function copy(
  artifact: SandboxArtifact,
  from: Pick<SandboxArtifacts, 'read'>,
  to: SandboxArtifacts,
  stillMs: number,
): Promise<void> {
  if ((await to.list()).includes(artifact.id)) return
  for (const file of artifact.files)
    await whileItMoves(await from.read(artifact.id, file.name), stillMs, (source) =>
      to.write(artifact.id, file, source),
    )
  await to.complete(artifact)
}

/** Carries bytes, unless they stand still: then both hosts are left alone. */
async function whileItMoves(
  source: Readable,
  stillMs: number,
  carry: (source: Readable) => Promise<void>,
): Promise<void> {
  const stands = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    stands.reject(new SandboxError('guest_failed', 'A copy between hosts stands still'))
    source.destroy()
  }, stillMs)
  try {
    const moving = new Transform({
      transform(piece, _encoding, done) {
        timer.refresh()
        done(null, piece)
      },
    })
    // Either end's failure is met by who writes.
    pipeline(source, moving, () => {})
    await Promise.race([carry(moving), stands.promise])
  } finally {
    clearTimeout(timer)
    source.destroy()
  }
}
