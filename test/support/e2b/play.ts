import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../sources.ts'
import type { Behind } from './steps/step.ts'

/** What became of a step. */
export interface Played {
  method: string
  outcome: 'works' | 'absent' | 'left out' | 'fails'
  detail?: string
  ms: number
}

/** The packages as customers install them, by the names that they have here: the newest, and older minor versions. */
export const packages = {
  e2b: ['e2b', 'e2b-2.50', 'e2b-2.30', 'e2b-2.14'],
  codeInterpreter: [
    '@e2b/code-interpreter',
    'code-interpreter-2.7',
    'code-interpreter-2.6',
    'code-interpreter-2.5',
  ],
} as const

/**
 * Plays the steps of a package in a process that has the E2B_* variables, and no other that concerns the service.
 * @param env those, and what the process needs to find the service
 */
export async function playSteps(
  name: string,
  behind: Behind,
  env: Record<string, string>,
  only = '',
): Promise<Played[]> {
  const script = join(root, 'test/support/e2b/run-steps.ts')
  const child = spawn(process.execPath, [script, name, JSON.stringify(behind), only], {
    env: { PATH: process.env.PATH!, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  child.stderr.on('data', (chunk) => said.push(String(chunk)))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const played: Played[] = []
  for await (const line of createInterface(child.stdout)) {
    const step: Played = JSON.parse(line)
    console.log(`${name} ${versionOf(name)}: ${step.method}: ${step.outcome}, ${step.ms} ms`)
    played.push(step)
  }
  if ((await ended) !== 0) throw new Error(`${name}: ${said.join('').slice(-2_000)}`)
  return played
}

/** The version of a package, by the name that it has here. */
export const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version

/** The steps that failed, with what was said. */
export const failuresOf = (played: Played[]) =>
  played
    .filter(({ outcome }) => outcome === 'fails')
    .map(({ method, detail = '' }) => `${method}: ${detail.split('\n').slice(0, 8).join('\n')}`)
