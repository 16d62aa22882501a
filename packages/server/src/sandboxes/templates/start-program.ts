import { setTimeout as pass } from 'node:timers/promises'
import type { TaskOutput, TaskRequest } from '@coinrack/compute/ports/sandbox-channel.ts'
import { textOf } from '../../platform/text-bytes.ts'
import { BuildFailed, type BuildSite, howItEnded } from './build-site.ts'
import type { BuildPlan } from './plan-build.ts'

/** The task of the program, in every sandbox of the template: `get_task` reads what it says. */
export const PROGRAM_TASK = 'cmd'
/** How long a program has to run when nothing says that it is ready. */
const RUNS_MS = 2_000
/** How long it may take to be ready. */
const READY_MS = 120_000
const AGAIN_MS = 250
const CHECK_MS = 30_000
const SHOWN_CHARACTERS = 2_000

/** Starts the program of a template, and waits until it is ready. @throws BuildFailed */
export async function startProgram(
  { channel: { tasks }, sandbox: { id }, template, log }: BuildSite,
  { run, user, cwd, env }: NonNullable<BuildPlan['start']>,
): Promise<void> {
  const commandOf = (program: typeof run): TaskRequest['run'] =>
    'program' in program ? program : { program: ['/bin/sh', '-c', program.script] }
  await log.say(`CMD ${'program' in run ? JSON.stringify(run.program) : run.script}`)
  // One of the template that it is built on, or of a process that was killed here.
  await tasks.remove(id, PROGRAM_TASK)
  await tasks.start(id, PROGRAM_TASK, { run: commandOf(run), user, cwd, env })
  const fromStart = { stdout: 0, stderr: 0 }
  if (template.ready === null) {
    demandRuns(await tasks.read(id, PROGRAM_TASK, fromStart, { waitMs: RUNS_MS, untilEnd: true }))
    return
  }
  const latest = performance.now() + READY_MS
  for (let count = 0; ; count++) {
    log.demandGoOn()
    const check = { run: commandOf({ script: template.ready }), user, cwd, env, timeoutMs: CHECK_MS }
    const taskId = `ready-${count}`
    const { end } = await tasks.run(id, taskId, check, { waitMs: CHECK_MS, untilEnd: true })
    await tasks.remove(id, taskId)
    if (end?.exitCode === 0) return
    demandRuns(await tasks.read(id, PROGRAM_TASK, fromStart))
    if (performance.now() > latest)
      throw new BuildFailed(`CMD was not ready within ${READY_MS / 1000} seconds: "ready" did not succeed`)
    await pass(AGAIN_MS)
  }
}

/** One that has ended well may have done all it had to. */
function demandRuns({ end, stdout, stderr }: TaskOutput): void {
  if (!end || end.exitCode === 0) return
  const said = `${textOf(stdout)}${textOf(stderr)}`.trim().slice(-SHOWN_CHARACTERS)
  throw new BuildFailed(`CMD: ${howItEnded(end)}${said === '' ? '' : `: ${said}`}`)
}
