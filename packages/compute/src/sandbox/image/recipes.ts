import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RecipeBook } from '../../images/recipe.ts'
import type { CodeLanguage } from '../../ports/sandbox-channel.ts'

/** The state that a sandbox begins in. */
export interface SandboxTemplate {
  /** By which it is ordered. */
  name: string
  /** A slug of the recipes below. */
  image: string
  /** Interpreters that run already when a sandbox begins. */
  warm: CodeLanguage[]
  /**
   * The Python code that its owner is likely to run first: the modules that it loads are loaded in interpreters of
   * Python.
   */
  first?: string
}

const SUITE = 'bookworm'
const BUILD_SCRIPT = join(import.meta.dirname, 'build-sandbox-image.sh')
const INIT = join(import.meta.dirname, 'init')

/** The whole package, which brings what it needs. */
const NPM_MANIFEST = fileURLToPath(import.meta.resolve('npm/package.json'))

/** The packages that are expected in a machine for customers' code. */
const PACKAGES = [
  ...[
    'bash',
    'bsdutils',
    'busybox-static',
    'ca-certificates',
    'coreutils',
    'curl',
    'e2fsprogs',
    'file',
    'git',
  ],
  ...[
    'iproute2',
    'less',
    'libatomic1',
    'libstdc++6',
    'linux-image-cloud-amd64',
    'openssh-client',
    'openssh-server',
    'procps',
  ],
  ...['python3', 'python3-pip', 'python3-venv', 'sudo', 'unzip', 'xz-utils', 'debian-archive-keyring'],
]
const IMAGES: Record<string, string[]> = {
  'sandbox-base': PACKAGES,
  'sandbox-code-interpreter': [...PACKAGES, 'python3-matplotlib', 'python3-numpy', 'python3-pandas'],
}

const FIRST_ANALYSIS = `import numpy as np, pandas as pd, matplotlib.pyplot as plt
plt.plot(np.arange(4))
pd.DataFrame({"a": [1, 2]}).describe()`

export const sandboxTemplates: readonly SandboxTemplate[] = [
  { name: 'base', image: 'sandbox-base', warm: ['python', 'node'] },
  {
    name: 'code-interpreter',
    image: 'sandbox-code-interpreter',
    warm: ['python', 'node'],
    first: FIRST_ANALYSIS,
  },
]

/** Images of sandboxes. Their Node.js is the one that the service itself runs on, and their npm the one beside it. */
export const sandboxRecipes: RecipeBook = {
  slugs: Object.keys(IMAGES),
  async read(slug) {
    const packages = IMAGES[slug]!
    const hash = createHash('sha256').update(JSON.stringify([SUITE, packages, process.version, process.arch]))
    for (const file of [BUILD_SCRIPT, INIT, NPM_MANIFEST]) hash.update(await readFile(file))
    return {
      slug,
      hash: hash.digest('hex').slice(0, 16),
      command: ({ main, security }, out) => [
        ...['sh', BUILD_SCRIPT, SUITE, main, security],
        ...[packages.join(','), INIT, process.execPath, dirname(NPM_MANIFEST), out],
      ],
    }
  },
}
