import assert from 'node:assert/strict'

/*
 * What is asked of E2B's packages, method by method. Each step begins with what the ones before it have left. Types are
 * those of the newest version; a method that an older one does not have is told as absent.
 */

export type E2b = typeof import('e2b')
export type CodeInterpreter = typeof import('@e2b/code-interpreter')
export type Step = [method: string, run: () => Promise<void>]

/** What the service behind the package can do. */
export interface Behind {
  /** Its sandboxes have users, terminals and processes of their own, and libraries for charts. */
  isReal: boolean
  /** Sandboxes have names of their own. */
  hasDomain: boolean
}

/** A method that this version does not have. */
export class Absent extends Error {}

/** A step that needs what is not behind the package. */
export class LeftOut extends Error {}

export const has = (object: object, ...names: string[]) => {
  for (const name of names) if (!(name in object)) throw new Absent(name)
}

/** The error with which something is refused. */
export async function rejects(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => undefined,
    (error: Error) => error,
  )
  assert.ok(error, 'It should be refused')
  return error
}

/** Leaves a step out, where it needs what only real sandboxes have. */
export function needsReal({ isReal }: Behind): void {
  if (!isReal) throw new LeftOut()
}
