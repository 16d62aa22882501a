import { CoinrackError } from '@coinrack/sdk/index.ts'
import { runJob } from './run-job.ts'
import { reportError } from './runner.ts'

/*
 * What the runner starts for a step. The sandbox ends in post.ts, which the runner starts also when the job is cancelled.
 */

try {
  const exitCode = await runJob(process, process.env.GITHUB_WORKSPACE ?? process.cwd())
  if (exitCode !== 0) reportError(process, `The commands in the sandbox ended with ${exitCode}`)
  process.exitCode = exitCode
} catch (error) {
  const fix = error instanceof CoinrackError ? ` ${error.fix}` : ''
  reportError(process, `${(error as Error).message}${fix}`)
  process.exitCode = 1
}
