import type { OsImage } from '../../ports/vps-driver.ts'

/** The facts that an operator names when adding an image. Sources are https or http addresses, or files of this host. */
export interface ImageSource {
  url: string
  /** The publisher's list of digests. Without it, the signature is one of the image itself. */
  checksums?: string
  /** Detached; without it but with a key, the list of digests carries its signature inside. */
  signature?: string
  /** A file with the publisher's public keys: a keyring, or ASCII armor. */
  key?: string
}

/** A foreign image, checked and kept on this host. */
export interface AddedImage extends OsImage {
  /** Names the content for ever: another download of the same slug has another name. */
  content: string
  /** No disk can be smaller. */
  diskGb: number
  url: string
  /** The digest of the file as published, such as `sha512:...`. */
  digest: string
  /** The fingerprint of the key that signed it; null when only the publisher's TLS certificate vouches for it. */
  signedBy: string | null
  addedAt: string
}

/** The image is not taken, and the operator is told why. Trying again without a change would not help. */
export class ImageRefusedError extends Error {
  override name = 'ImageRefusedError'
}
