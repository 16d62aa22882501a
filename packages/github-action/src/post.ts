import { Sandbox } from '@coinrack/sdk/index.ts'
import { SANDBOX, serviceOf } from './run-job.ts'
import { keptState, reportError } from './runner.ts'

/*
 * What the runner starts when the job is over, in whichever way: it ends the sandbox of the step.
 */

try {
  const id = keptState(process, SANDBOX)
  if (id !== '') await Sandbox.connect(serviceOf(process), id).kill()
} catch (error) {
  reportError(process, `The sandbox could not be ended, and ends by its timeout: ${(error as Error).message}`)
  process.exitCode = 1
}
