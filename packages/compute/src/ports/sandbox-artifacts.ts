import type { Readable } from 'node:stream'

/**
 * The port to the files that sandboxes of a host are made from and that another host can be given: images of templates,
 * and snapshots. Every call may be repeated, and may be cut short by a kill at any point and then repeated. All throw
 * SandboxError.
 */
export interface SandboxArtifacts {
  /** The ids of those that are here whole. */
  list(): Promise<string[]>
  /** Throws `artifact_unknown`. */
  describe(id: string): Promise<SandboxArtifact>
  /** One file of an artifact that is here. The stream has to be read or destroyed. Throws `artifact_unknown`. */
  read(id: string, file: string): Promise<Readable>
  /**
   * Keeps one file of an artifact that is not here whole. It counts only if its size and sum are those that were given.
   * Throws `artifact_damaged`, `no_space`, `spec_invalid`.
   */
  write(id: string, file: ArtifactFile, source: AsyncIterable<Uint8Array>): Promise<void>
  /**
   * Makes an artifact whole whose files were all written, and which needs nothing that is not here; from then on
   * sandboxes can be made from it. Whole already: nothing is done. Throws `artifact_damaged`, `artifact_unknown`.
   */
  complete(artifact: SandboxArtifact): Promise<void>
}

/** Files that never change and belong together. */
export interface SandboxArtifact {
  /** `image:` and the name of an image, or `snapshot:` and the id of a snapshot. */
  id: string
  files: ArtifactFile[]
  /** The ids of other artifacts that have to be on the host as well: the image that the disk of a snapshot builds on. */
  needs: string[]
}

export interface ArtifactFile {
  name: string
  bytes: number
  /** In hexadecimal. */
  sha256: string
}
