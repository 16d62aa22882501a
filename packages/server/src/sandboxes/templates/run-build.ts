import { setTimeout as pass } from 'node:timers/promises'
import type { TaskEnd } from '@coinrack/compute/ports/sandbox-channel.ts'
import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { announce } from '../../database/changes.ts'
import { inTransaction, type Transaction } from '../../database/transaction.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { sandboxById, updateSandbox } from '../life/sandbox-store.ts'
import { shownState } from '../life/sandbox-view.ts'
import { stepSnapshot } from '../snapshots/reconcile-snapshots.ts'
import { insertSnapshot, type SnapshotRow, snapshotById } from '../snapshots/snapshot-store.ts'
import { prepareBuild } from './begin-build.ts'
import { type BuildLog, createBuildLog, LetGo } from './build-log.ts'
import {
  BuildFailed,
  type BuildResult,
  type BuildSite,
  howItEnded,
  runInBuild,
  writeAsRoot,
} from './build-site.ts'
import { type BuildRow, buildById, updateBuild } from './build-store.ts'
import type { ContextEntry } from './context-entry.ts'
import { unpackImage } from './image/unpack-image.ts'
import { dropOldLayers, putLayer } from './layer-store.ts'
import type { Step } from './plan-build.ts'
import { archiveOf, readContext } from './read-context.ts'
import { followTask } from './run-task-step.ts'
import { startProgram } from './start-program.ts'
import { dropSnapshot, sealTemplateEnv, templateById, updateTemplate } from './template-store.ts'

/** The path of the file in which the agent finds the user, folder and root of programs that are not told others. */
const DEFAULTS = '/etc/coinrack/defaults.json'
const MOST_TRIES = 3
/** After the first failure; after the next ones longer. */
const AGAIN_MS = 500
const SNAPSHOT_TRIES = 3
/** The end of the reason that a sandbox ended for, as a customer reads it. */
const ENDED: Record<string, string> = {
  timeout: 'it took longer than its timeout',
  balance: 'the balance is used up',
  owed: 'the account owes money',
  budget: 'the budget of its token is used up',
  crashed: 'it crashed',
  host_lost: 'its host was lost',
}

/**
 * Goes on with a build, from the step that it is at to its end, unless its sandbox does not run yet or cannot be reached. May
 * be cut short anywhere and then called again: what was begun in the sandbox goes on there meanwhile.
 * @param ending aborts when this process ends: the build is let go of
 */
export async function runBuild(services: Services, id: string, ending: AbortSignal): Promise<void> {
  const { db, log: serviceLog } = services
  const build = await buildById(db, id)
  if (build.status !== 'running') return
  const log = createBuildLog(services, build, ending)
  try {
    await goOn(services, build, log)
  } catch (error) {
    if (error instanceof LetGo) return
    if (
      error instanceof BuildFailed ||
      (error instanceof OperationError && error.code === 'dockerfile_invalid')
    )
      return failBuild(services, build, error.message, log)
    if (!(error instanceof SandboxError)) throw error
    if (error.code === 'host_unreachable') return
    serviceLog.warn({ err: error, build: id }, 'A step of a build could not be done')
    const now = await buildById(db, id)
    const state = shownState(await sandboxById(db, build.sandbox_id))
    // One that has ended meanwhile is told as what it is by the next pass.
    if (state === 'running' && now.tries + 1 >= MOST_TRIES)
      return failBuild(services, build, `The sandbox refused: ${error.message}`, log)
    await updateBuild(db, id, { tries: now.tries + 1 })
    await pass(AGAIN_MS * (now.tries + 1), undefined, { signal: ending }).catch(() => {})
  }
}

async function goOn(services: Services, build: BuildRow, log: BuildLog): Promise<void> {
  const { db } = services
  const template = await templateById(db, build.template_id)
  if (template.deleted_at) throw new BuildFailed('The template was deleted')
  const sandbox = await sandboxById(db, build.sandbox_id)
  const state = shownState(sandbox)
  if (state === 'starting') return
  if (state === 'failed')
    throw new BuildFailed(`The sandbox did not start: ${sandbox.failure ?? 'no reason is known'}`)
  if (state !== 'running')
    throw new BuildFailed(
      state === 'ended'
        ? `The sandbox of the build has ended: ${ENDED[sandbox.reason ?? ''] ?? 'it was ended'}`
        : `The sandbox of the build is ${state}`,
    )
  const channel = services.sandboxes.get(sandbox.host_id)?.channel
  if (!channel) return
  const site: BuildSite = { services, build, template, sandbox, channel, log }
  // One that was being taken when a process ended is taken before anything changes.
  await settleSnapshots(site)
  const result = template.source === 'image' ? await unpackImage(site) : await buildSteps(site)
  if (!result) return
  await finish(site, result)
}

async function buildSteps(site: BuildSite): Promise<BuildResult> {
  const { services, template, build, log } = site
  const { db } = services
  const context = await readContext(db, template.id)
  const { plan } = await prepareBuild(services, db, template, context)
  for (let index = build.done; index < plan.steps.length; index++) {
    log.demandGoOn()
    const step = plan.steps[index]!
    const now = await buildById(db, build.id)
    if (now.read_stdout === 0n && now.read_stderr === 0n && now.tries === 0)
      await log.say(`${index + 1}/${plan.steps.length}: ${step.title}`)
    await takeStep({ ...site, build: now }, step, index, context)
    await keepLayer(site, step, index)
  }
  return { ...plan, root: null }
}

async function takeStep(
  site: BuildSite,
  step: Step,
  index: number,
  context: readonly ContextEntry[],
): Promise<void> {
  const { build, channel, sandbox, log } = site
  switch (step.kind) {
    case 'note':
      return log.say(step.text)
    case 'folder':
      await channel.files.makeFolder(sandbox.id, step.path, { user: 'root' }).catch((error) => {
        if (error instanceof SandboxError && error.code === 'file_refused')
          throw new BuildFailed(`Line ${step.line}, WORKDIR: ${error.message}`)
        throw error
      })
      return
    case 'run': {
      const { run, user, cwd, env } = step
      const program = 'program' in run ? run.program : ['/bin/sh', '-c', run.script]
      const end = await runInBuild(site, `${build.id}-${index}`, { run: { program }, user, cwd, env })
      if (end.exitCode !== 0) throw new BuildFailed(`Line ${step.line}, RUN: ${howItEnded(end)}`)
      return
    }
    case 'copy': {
      const found = await channel.files
        .stat(sandbox.id, step.copy.target, { user: 'root' })
        .catch((error) => {
          if (error instanceof SandboxError && error.code === 'file_unknown') return undefined
          throw error
        })
      const archive = archiveOf(
        site.services.db,
        site.template.id,
        context,
        step.copy,
        found?.type === 'folder',
      )
      const end = await copyIn(site, `${build.id}-${index}`, archive)
      if (end.exitCode !== 0) throw new BuildFailed(`Line ${step.line}, COPY: ${howItEnded(end)}`)
    }
  }
}

/** Unpacks an archive at the root of the sandbox. It is sent anew when it was cut short: then by a task of another name. */
async function copyIn(site: BuildSite, taskId: string, archive: AsyncIterable<Uint8Array>): Promise<TaskEnd> {
  const { channel, sandbox, log, build } = site
  const { tasks } = channel
  await tasks.remove(sandbox.id, taskId)
  const program = [
    'tar',
    '--extract',
    '--file=-',
    '--same-owner',
    '--preserve-permissions',
    '--keep-directory-symlink',
  ]
  await tasks.start(sandbox.id, taskId, {
    run: { program },
    user: 'root',
    cwd: '/',
    stdin: true,
    overflow: 'wait',
  })
  try {
    for await (const piece of archive) {
      log.demandGoOn()
      await tasks.write(sandbox.id, taskId, piece)
    }
    await tasks.write(sandbox.id, taskId, new Uint8Array(), { end: true })
  } catch (error) {
    // What it says explains more than that it takes no input.
    if (!(error instanceof SandboxError && error.code === 'task_ended')) throw error
  }
  return followTask(
    { channel, sandboxId: sandbox.id, taskId },
    { run: { program }, user: 'root', cwd: '/' },
    { ...build, read_stdout: 0n, read_stderr: 0n },
    log,
  )
}

/** Writes down that a step is done, and keeps the state after it, unless there is little to keep. */
async function keepLayer(site: BuildSite, step: Step, index: number): Promise<void> {
  const { services, build } = site
  const next = { done: index + 1, read_stdout: 0n, read_stderr: 0n, tries: 0 }
  const isKept = step.kind === 'run' || step.kind === 'copy'
  const layer = await inTransaction(services.db, async (tx) => {
    if (!(await updateBuild(tx, build.id, next))) throw new BuildFailed('The build has ended')
    if (!isKept) return undefined
    await lockBalance(tx, build.account_id)
    const row = await insertSnapshotOf(tx, site, 'layer')
    const [account_id, used_at] = [build.account_id, services.clock.now()]
    await putLayer(tx, { account_id, digest: step.digest, snapshot_id: row.id, used_at })
    return row
  })
  await announce(services.db, build.template_id)
  await site.channel.tasks.remove(site.sandbox.id, `${build.id}-${index}`)
  if (!layer) return
  await takeSnapshot(site, layer)
  await dropOldLayers(services.db, services.clock.now())
}

const insertSnapshotOf = (
  tx: Transaction,
  { services, template, sandbox, build }: BuildSite,
  purpose: SnapshotRow['purpose'],
) =>
  insertSnapshot(tx, {
    id: services.newId('snapshot'),
    account_id: build.account_id,
    sandbox_id: sandbox.id,
    name: template.name,
    tariff: sandbox.tariff,
    created_at: services.clock.now(),
    host_id: sandbox.host_id,
    purpose,
  })

/** @returns the snapshot once it was taken, or could not be */
async function takeSnapshot({ services, log }: BuildSite, row: SnapshotRow): Promise<SnapshotRow> {
  let now = row
  for (let tries = 0; now.status === 'creating' && tries < SNAPSHOT_TRIES; tries++) {
    log.demandGoOn()
    await stepSnapshot(services, now)
    now = (await snapshotById(services.db, row.id)) ?? { ...now, status: 'failed' }
  }
  return now
}

/** Takes the snapshots of the sandbox that were begun. */
async function settleSnapshots(site: BuildSite): Promise<void> {
  const { rows } = await site.services.db.query<{ id: string }>(
    `select id from sandbox_snapshot where sandbox_id = $1 and status = 'creating'`,
    [site.sandbox.id],
  )
  for (const { id } of rows) {
    const row = await snapshotById(site.services.db, id)
    if (row) await takeSnapshot(site, row)
  }
}

/** Lets the program of the template run, takes what it is then, and publishes that. */
async function finish(site: BuildSite, result: BuildResult): Promise<void> {
  const { services, build, channel, sandbox, log } = site
  const { db } = services
  let snapshotId = (await buildById(db, build.id)).snapshot_id
  if (snapshotId === null) {
    const { user, workdir: cwd, root } = result
    const defaults = Object.fromEntries(
      Object.entries({ user, cwd, root }).filter(([, value]) => value !== null),
    )
    for (const { taskId } of await channel.tasks.list(sandbox.id))
      if (taskId.startsWith(build.id)) await channel.tasks.remove(sandbox.id, taskId)
    await writeAsRoot(channel, sandbox.id, DEFAULTS, JSON.stringify(defaults))
    if (result.start) await startProgram(site, result.start)
    log.demandGoOn()
    const row = await inTransaction(db, async (tx) => {
      const inserted = await insertSnapshotOf(tx, site, 'template')
      if (!(await updateBuild(tx, build.id, { snapshot_id: inserted.id })))
        throw new BuildFailed('The build has ended')
      return inserted
    })
    snapshotId = row.id
    await takeSnapshot(site, row)
  }
  const taken = await snapshotById(db, snapshotId)
  if (taken?.status !== 'ready') throw new BuildFailed('What was built could not be saved')
  await publish(site, result, taken.id)
  // Its sandboxes begin faster then; they begin without it too.
  await services.sandboxes
    .get(sandbox.host_id)
    ?.runtime.keepWarm(taken.id)
    .catch((error) => services.log.warn({ err: error, snapshot: taken.id }, 'A template is not kept warm'))
}

async function publish(
  { services, build, template, log }: BuildSite,
  { env, user, workdir }: BuildResult,
  snapshotId: string,
): Promise<void> {
  const now = services.clock.now()
  await inTransaction(services.db, async (tx) => {
    if (!(await updateBuild(tx, build.id, { status: 'succeeded', ended_at: now }))) return
    await updateTemplate(tx, template.id, {
      snapshot_id: snapshotId,
      env: Object.keys(env).length > 0 ? sealTemplateEnv(services, template.id, env) : null,
      default_user: user,
      workdir,
      built_at: now,
    })
    if (template.snapshot_id !== null) await dropSnapshot(tx, template.snapshot_id)
    await endSandbox(tx, build)
    await announce(tx, template.id)
  })
  await log.say('The template is ready')
}

/** The build ends without a template; what it has made before stays. */
async function failBuild(services: Services, build: BuildRow, error: string, log: BuildLog): Promise<void> {
  await log.say(`The build failed. ${error}`)
  await inTransaction(services.db, async (tx) => {
    const { snapshot_id } = await buildById(tx, build.id)
    if (!(await updateBuild(tx, build.id, { status: 'failed', error, ended_at: services.clock.now() })))
      return
    if (snapshot_id !== null) await dropSnapshot(tx, snapshot_id)
    await endSandbox(tx, build)
    await announce(tx, build.template_id)
  })
  await announce(services.db, build.id)
}

async function endSandbox(tx: Transaction, { sandbox_id }: BuildRow): Promise<void> {
  const { wanted } = await sandboxById(tx, sandbox_id)
  if (wanted !== 'ended') await updateSandbox(tx, sandbox_id, { wanted: 'ended', reason: 'asked' })
  await announce(tx, sandbox_id)
}
