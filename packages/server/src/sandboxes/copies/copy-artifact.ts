import type { SandboxArtifact, SandboxArtifacts } from '@coinrack/compute/ports/sandbox-artifacts.ts'

const underWay = new WeakMap<SandboxArtifacts, Map<string, Promise<void>>>()

/**
 * Gives a host an artifact that another has, through this process at the pace of the slower side, unless it is there. The
 * host that gets it checks each file against its sum. Of calls for the same at the same moment one copies.
 * @param artifact as it was written down when it was made, whatever the giving host says of it now
 */
export function copyArtifact(
  artifact: SandboxArtifact,
  from: Pick<SandboxArtifacts, 'read'>,
  to: SandboxArtifacts,
): Promise<void> {
  const works = underWay.get(to) ?? new Map<string, Promise<void>>()
  underWay.set(to, works)
  const work = works.get(artifact.id) ?? copy(artifact, from, to).finally(() => works.delete(artifact.id))
  works.set(artifact.id, work)
  return work
}

async function copy(
  artifact: SandboxArtifact,
  from: Pick<SandboxArtifacts, 'read'>,
  to: SandboxArtifacts,
): Promise<void> {
  if ((await to.list()).includes(artifact.id)) return
  for (const file of artifact.files)
    await to.write(artifact.id, file, await from.read(artifact.id, file.name))
  await to.complete(artifact)
}
