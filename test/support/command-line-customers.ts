import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCaptured, type Surroundings } from '@coinrack/cli/testing.ts'
import { createClient } from '@coinrack/sdk/index.ts'
import { expect } from 'vitest'
import { startServiceForCommands } from './command-line.ts'

/** A service for the command line, and customers of it with homes of their own below `home`. */
export async function startCustomersOfCommands() {
  const world = await startServiceForCommands()
  const { url } = world
  const home = await mkdtemp(join(tmpdir(), 'coinrack-home-'))
  let homes = 0
  return {
    world,
    url,
    home,
    /** A new customer of the service, with a home and a token. */
    async customer(micros = 0n) {
      const { token, accountId } = await world.service.customer(micros)
      const own = join(home, String(homes++))
      await mkdir(own)
      const env = { HOME: own, COINRACK_URL: url, COINRACK_TOKEN: token }
      const run = (words: string[], surroundings: Surroundings = {}) =>
        runCaptured(words, { ...surroundings, env: { ...env, ...surroundings.env } })
      return { token, accountId, env, home: own, run, client: createClient({ url, token }) }
    },
    async stop() {
      await world.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** Fails with what was said. */
export async function ok(outcome: Promise<{ exitCode: number; stdout: string; stderr: string }>) {
  const { exitCode, stdout, stderr } = await outcome
  expect(exitCode, stderr).toBe(0)
  return { stdout, stderr }
}
