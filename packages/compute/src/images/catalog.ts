import type { OsImage } from '../ports/vps-driver.ts'

/** An image that is built here, from Debian's packages. */
export interface DebianImage extends OsImage {
  /** Debian's name of the release. */
  suite: string
}

/** In the order in which they are built. */
export const osImages: readonly DebianImage[] = [
  {
    slug: 'debian-12',
    osId: 1,
    name: 'Debian 12 (bookworm)',
    distribution: 'debian',
    version: '12',
    suite: 'bookworm',
    arch: 'x86_64',
  },
  {
    slug: 'debian-13',
    osId: 2,
    name: 'Debian 13 (trixie)',
    distribution: 'debian',
    version: '13',
    suite: 'trixie',
    arch: 'x86_64',
  },
]
