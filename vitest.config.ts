import { defineConfig } from 'vitest/config'

/** Tests by what they need: nothing, a database, a chain node, real machines, a browser. */
export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
})
