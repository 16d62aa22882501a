import { defineConfig } from 'vitest/config'

/** Tests by what they need: nothing, a database, a chain node, real machines, a browser. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/postgres.ts'],
    include: ['packages/**/*.test.ts', 'test/**/*.test.ts'],
    // Long ones, for `npm run test:full`.
    exclude: ['**/node_modules/**', ...(process.env.COINRACK_TEST_FULL ? [] : ['**/*.full.test.ts'])],
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
})
