import { defineConfig } from 'vitest/config'

// Long ones, for `npm run test:full`.
const long = process.env.COINRACK_TEST_FULL ? [] : ['**/*.full.test.ts']
const exclude = ['**/node_modules/**', ...long]
/** Tests that boot machines. */
const machines = '**/*.machine{,.full}.test.ts'
/** Tests on the cluster of `deploy/incus-lab`, for `npm run test:cluster`. */
const cluster = '**/*.cluster.test.ts'
/** Those that look at all sandboxes of this host, so that no others may run beside them. */
const sandboxes = ['packages/compute/src/sandbox/*', 'test/sandbox*', 'test/*programs'].map(
  (place) => `${place}.machine{,.full}.test.ts`,
)

/** Those in which a namespace plays the world, of which a host has one at a time. */
const networks =
  'packages/compute/src/network/{guest-traffic,name-traffic,name-traffic6,own-address,own-ipv6,network.machine,own-address.machine}.test.ts'

/** A project whose files run one after the other, each in a process of its own. */
const oneByOne = (name: string, groupOrder: number, include: string[], excluded: string[] = []) => ({
  extends: true as const,
  test: {
    name,
    include,
    exclude: [...exclude, ...excluded],
    fileParallelism: false,
    sequence: { groupOrder },
  },
})

/** `npm test` runs some of the projects side by side; see `scripts/test.ts`. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/postgres.ts'],
    testTimeout: 30_000,
    hookTimeout: 300_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['packages/**/*.test.ts'],
          exclude: [...exclude, machines, networks, cluster],
          // Loading the service anew for each file would take longer than most files do.
          isolate: false,
          maxWorkers: '100%',
        },
      },
      oneByOne('whole', 1, ['test/**/*.test.ts'], [machines, cluster]),
      oneByOne('sandboxes', 2, sandboxes),
      oneByOne('machines', 3, [machines], [...sandboxes, networks]),
      oneByOne('networks', 4, [networks]),
      oneByOne('cluster', 5, [cluster]),
    ],
  },
})
