import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type DebianImage, osImages } from './catalog.ts'
import type { DebianMirror } from './debian-mirror.ts'

/** Everything that an image is made from, except what Debian publishes on that day. */
export interface Recipe {
  slug: string
  /** The hash of everything in the recipe; a change of any part makes another image. */
  hash: string
  /** The command that makes the folder `out`, as root. */
  command(mirror: DebianMirror, out: string): string[]
}

/** The recipes that an image store builds. */
export interface RecipeBook {
  /** In the order in which they are built. */
  slugs: readonly string[]
  /** The recipe of one of the slugs. */
  read(slug: string): Promise<Recipe>
}

/** The recipes of the operating systems of the catalog. */
export const osRecipes: RecipeBook = {
  slugs: osImages.map(({ slug }) => slug),
  read: (slug) => readRecipe(osImages.find((image) => image.slug === slug)!),
}

const BUILD_SCRIPT = join(import.meta.dirname, 'build-image.sh')
/** Laid over the installed system, file by file. */
export const ROOTFS = join(import.meta.dirname, 'rootfs')

/** The packages that a small cloud image is expected to have, beyond the essential ones. */
const PACKAGES = [
  'systemd-sysv',
  'systemd-timesyncd',
  'dbus',
  'udev',
  'kmod',
  'linux-image-cloud-amd64',
  'initramfs-tools',
  'lz4',
  'e2fsprogs',
  'fdisk',
  'openssh-server',
  'qemu-guest-agent',
  'ca-certificates',
  'cloud-init',
  'curl',
  'hostname',
  'iproute2',
  'iputils-ping',
  'less',
  'netbase',
  'procps',
  'python3-minimal',
  'rsync',
  'sudo',
  'vim-tiny',
]

/** The recipe of an image, from the catalog entry, the package list and the files beside this one. */
export async function readRecipe(image: DebianImage): Promise<Recipe> {
  const hash = createHash('sha256')
  hash.update(JSON.stringify([image.suite, image.arch, PACKAGES]))
  for (const file of [BUILD_SCRIPT, ...(await listFiles(ROOTFS))]) {
    hash.update(`\0${relative(import.meta.dirname, file)}\0`)
    hash.update(await readFile(file))
  }
  return {
    slug: image.slug,
    hash: hash.digest('hex').slice(0, 16),
    command: ({ main, security }, out) => [
      ...['sh', BUILD_SCRIPT, image.suite, main, security],
      ...[PACKAGES.join(','), ROOTFS, out],
    ],
  }
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
