import { defineConfig } from 'vitest/config'

// Long ones, for `npm run test:full`.
const long = process.env.COINRACK_TEST_FULL ? [] : ['**/*.full.test.ts']
const exclude = ['**/node_modules/**', ...long]
/** Tests that boot machines, which need the processors for themselves. */
const machines = '**/*.machine.test.ts'

/** First the parts, many at a time; then the whole and real machines, one file after the other. */
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
          exclude: [...exclude, machines],
          // Loading the service anew for each file would take longer than most files do.
          isolate: false,
          maxWorkers: '100%',
        },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['test/**/*.test.ts', machines],
          exclude,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
