import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { DriverError, type ImageStatus } from '../ports/vps-driver.ts'
import { findDebianMirror } from './debian-mirror.ts'
import type { OwnImage } from './disk-images.ts'
import { osRecipes, type Recipe, type RecipeBook } from './recipe.ts'

/** A built image. Its files never change; another recipe makes another folder. */
export interface BuiltImage extends OwnImage {
  kernel: string
  initrd: string
}

export interface ImageStore {
  /** The image, built now if need be. Safe in several processes at once, and after a kill at any point. */
  ensure(slug: string, onProgress?: (line: string) => void): Promise<BuiltImage>
  /** The image if it is built, without building it. Throws DriverError `image_unknown`, `image_not_ready`. */
  get(slug: string): Promise<BuiltImage>
  status(): Promise<ImageStatus[]>
}

/** The size that they are built with. */
const DISK_GB = 2
const BUILD_TIMEOUT_MS = 60 * 60_000
/** A build ends with the service, however that ends, and with it all that it started and mounted. */
const APART = [
  ...['setpriv', '--pdeathsig', 'KILL', '--'],
  ...['unshare', '--pid', '--mount-proc', '--kill-child', '--'],
]

/** Images under `cacheFolder`, each in a folder named by its recipe. Building needs root; using does not. */
export function createImageStore({
  cacheFolder,
  recipes = osRecipes,
}: {
  cacheFolder: string
  /** Default: those of the operating systems. */
  recipes?: RecipeBook
}): ImageStore {
  const folder = join(cacheFolder, 'images')
  const builds = new Map<string, Promise<BuiltImage>>()
  const progress = new Map<string, string>()
  const failures = new Map<string, string>()
  const read = new Map<string, Promise<Recipe>>()

  /** Read once, as it is made from files of this software, which are the same as long as it runs. */
  const recipeOf = (slug: string): Promise<Recipe> => {
    const recipe = read.get(slug) ?? recipes.read(slug)
    read.set(slug, recipe)
    return recipe
  }

  const find = async (slug: string): Promise<{ recipe: Recipe; built: BuiltImage; isReady: boolean }> => {
    if (!recipes.slugs.includes(slug)) throw new DriverError('image_unknown', `There is no image "${slug}"`)
    const recipe = await recipeOf(slug)
    const built = builtImage(folder, recipe)
    return { recipe, built, isReady: await exists(built.disk) }
  }

  const build = async (slug: string, onProgress: (line: string) => void): Promise<BuiltImage> => {
    const { recipe, built, isReady } = await find(slug)
    if (isReady) return built
    if (process.getuid?.() !== 0)
      throw new Error(
        `Image ${slug} is not built yet, and building installs a Debian, which needs root: start once as root with the same cache folder (${cacheFolder})`,
      )
    const mirror = await findDebianMirror()
    await mkdir(folder, { recursive: true, mode: 0o755 })
    const out = join(folder, built.name)
    await runCommand('flock', ['--no-fork', `${out}.lock`, ...APART, ...recipe.command(mirror, out)], {
      timeoutMs: BUILD_TIMEOUT_MS,
      onLine: (line) => {
        const step = /^step: (.*)/.exec(line)?.[1]
        if (step === undefined) return
        progress.set(slug, step)
        onProgress(`${slug}: ${step}`)
      },
    })
    return built
  }

  return {
    ensure(slug, onProgress = () => {}) {
      const running = builds.get(slug)
      if (running) return running
      failures.delete(slug)
      const started = build(slug, onProgress)
        .catch((error: Error) => {
          failures.set(slug, error.message)
          throw error
        })
        .finally(() => {
          builds.delete(slug)
          progress.delete(slug)
        })
      builds.set(slug, started)
      return started
    },

    async get(slug) {
      const { built, isReady } = await find(slug)
      if (isReady) return built
      const reason = failures.get(slug)
      throw new DriverError('image_not_ready', `Image ${slug} is not built yet${reason ? `: ${reason}` : ''}`)
    },

    status() {
      return Promise.all(
        recipes.slugs.map(async (slug): Promise<ImageStatus> => {
          const { isReady } = await find(slug)
          if (isReady) return { slug, state: 'ready' }
          if (builds.has(slug)) return { slug, state: 'building', detail: progress.get(slug) ?? 'waiting' }
          const reason = failures.get(slug)
          return reason === undefined ? { slug, state: 'missing' } : { slug, state: 'failed', detail: reason }
        }),
      )
    },
  }
}

function builtImage(folder: string, { slug, hash }: Recipe): BuiltImage {
  const name = `${slug}-${hash}`
  const file = (base: string) => join(folder, name, base)
  return {
    // Slug and recipe hash.
    name,
    disk: file('disk.qcow2'),
    diskGb: DISK_GB,
    mbr: file('mbr'),
    kernel: file('vmlinuz'),
    initrd: file('initrd.img'),
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
