import type { SandboxChannel, TaskEnd, TaskRequest } from '@coinrack/compute/ports/sandbox-channel.ts'
import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { Services } from '../../platform/services.ts'
import type { SandboxRow } from '../life/sandbox-store.ts'
import type { BuildLog } from './build-log.ts'
import type { BuildRow } from './build-store.ts'
import type { BuildPlan } from './plan-build.ts'
import { followTask } from './run-task-step.ts'
import type { TemplateRow } from './template-store.ts'

/** A build cannot succeed; the message is for its customer. */
export class BuildFailed extends Error {}

/** What a build works with. */
export interface BuildSite {
  services: Services
  build: BuildRow
  template: TemplateRow
  sandbox: SandboxRow
  channel: SandboxChannel
  log: BuildLog
}

/** What sandboxes of the template begin with. */
export type BuildResult = Pick<BuildPlan, 'env' | 'user' | 'workdir' | 'start'> & {
  /** The folder that is the root of all programs; null: that of the sandbox. */
  root: string | null
}

/** Runs a task to its end, with what it says in the log. */
export async function runInBuild(site: BuildSite, taskId: string, request: TaskRequest): Promise<TaskEnd> {
  const { channel, sandbox, build, log } = site
  try {
    return await followTask({ channel, sandboxId: sandbox.id, taskId }, request, build, log)
  } catch (error) {
    // No such user, folder or program.
    if (error instanceof SandboxError && error.code === 'spec_invalid') throw new BuildFailed(error.message)
    throw error
  }
}

export const howItEnded = ({ exitCode, signal, timedOut }: TaskEnd): string =>
  timedOut
    ? 'it took too long'
    : exitCode === undefined
      ? `it was ended by ${signal}`
      : `it ended with ${exitCode}`

export const writeAsRoot = async (channel: SandboxChannel, id: string, path: string, text: string) => {
  await channel.files.write(
    id,
    path,
    (async function* () {
      yield Buffer.from(text)
    })(),
    { user: 'root' },
  )
}
