import { interpreterSteps } from './steps/interpreter.ts'
import { sandboxSteps } from './steps/sandboxes.ts'
import { Absent, type Behind, LeftOut, type Step } from './steps/step.ts'
import { templateSteps } from './steps/templates.ts'

/*
 * Plays the steps of a package of E2B in a process of its own, which knows nothing but the E2B_* variables: one JSON in a
 * line for each. Arguments: the name that the package has here, what is behind it, as JSON, and with what the names of its
 * steps begin, where not all are wanted.
 */

const STEP_MS = 120_000

const [name, behindText, only = ''] = process.argv.slice(2)
const behind = JSON.parse(behindText!) as Behind
const loaded = await import(name!)
const steps: Step[] = name!.includes('code-interpreter')
  ? interpreterSteps(loaded, behind)
  : [...sandboxSteps(loaded, behind), ...templateSteps(loaded, behind)]

for (const [method, run] of steps.filter(([method]) => method.startsWith(only))) {
  const begun = performance.now()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It takes longer than ${STEP_MS} ms`)), STEP_MS)
  })
  const [outcome, detail] = await Promise.race([run(), late])
    .then(
      () => ['works', undefined],
      (error: Error) =>
        error instanceof Absent
          ? ['absent', undefined]
          : error instanceof LeftOut
            ? ['left out', undefined]
            : ['fails', error.stack ?? String(error)],
    )
    .finally(() => clearTimeout(timer))
  const ms = Math.round(performance.now() - begun)
  console.log(JSON.stringify({ method, outcome, detail, ms }))
}
process.exit()
