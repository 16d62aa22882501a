import { inTransaction } from '../../database/transaction.ts'
import { lockBalance } from '../../ledger/balance.ts'
import type { SandboxHostFacts } from '../../platform/host-facts.ts'
import type { PassReport } from '../../platform/pass-report.ts'
import { sandboxHostOf } from '../../platform/sandbox-host.ts'
import type { Services } from '../../platform/services.ts'
import { sandboxById, updateSandbox } from '../life/sandbox-store.ts'
import { askHosts } from '../placement/ask-hosts.ts'
import { placeSandbox } from '../placement/place-sandbox.ts'
import { bringArtifact } from './bring-snapshot.ts'
import {
  type CopyRow,
  copyOf,
  dropCopy,
  insertCopy,
  sandboxesToCopy,
  type ToCopy,
  updateCopy,
} from './copy-store.ts'

/**
 * Moves what is paused on a host that drains to another one, and gives every paused sandbox a copy on another host
 * where the operator wants that. Takes no input, and can be killed at any step. One at a time.
 */
export function createPausedMover(services: Services): { pass(): Promise<PassReport> } {
  const { db, config, log, sandboxes } = services
  return {
    async pass() {
      const report = { seen: 0, done: 0, failed: 0, isIdle: true }
      if (sandboxes.size < 2) return report
      const waiting = await sandboxesToCopy(db, [...sandboxes.keys()], config.sandboxCopies)
      if (waiting.length === 0) return report
      const hosts = await askHosts(services)
      for (const sandbox of waiting)
        try {
          if (await copyPaused(services, sandbox, hosts)) report.done++
        } catch (error) {
          report.failed++
          log.warn({ err: error, sandbox: sandbox.id }, 'A paused sandbox was not copied')
        }
      return { ...report, seen: waiting.length, isIdle: false }
    },
  }
}

/** @returns whether it has all of a copy now, and is there if it moves */
async function copyPaused(
  services: Services,
  sandbox: ToCopy,
  hosts: readonly SandboxHostFacts[],
): Promise<boolean> {
  const { db } = services
  const copy = await copyFor(services, sandbox, hosts)
  if (!copy) return false
  if (!copy.is_whole) {
    const { runtime, artifacts } = sandboxHostOf(services, sandbox)
    await runtime.takeSnapshot(sandbox.id, copy.snapshot_id)
    const artifact = await artifacts.describe(`snapshot:${copy.snapshot_id}`)
    await updateCopy(db, sandbox.id, { artifact, isWhole: false })
    await bringArtifact(services, artifact, { from: sandbox.host_id, to: copy.host_id })
    await updateCopy(db, sandbox.id, { artifact, isWhole: true })
  }
  if (!sandbox.moves) return true
  return moveToCopy(services, sandbox)
}

/** The copy that was begun, or a place for one. */
async function copyFor(
  services: Services,
  { id, host_id, disk_gb }: ToCopy,
  hosts: readonly SandboxHostFacts[],
): Promise<CopyRow | undefined> {
  const { db } = services
  const begun = await copyOf(db, id)
  if (begun && services.sandboxes.has(begun.host_id)) return begun
  if (begun) await dropCopy(db, id)
  const others = hosts.filter((host) => host.id !== host_id)
  await inTransaction(db, async (tx) => {
    const size = { vcpus: 0, memoryMb: 0, diskGb: disk_gb }
    const target = await placeSandbox(tx, services, others, { size })
    await insertCopy(tx, { sandbox_id: id, snapshot_id: services.newId('snapshot'), host_id: target })
  })
  return copyOf(db, id)
}

/**
 * Lets a paused sandbox be its copy from now on, unless it was resumed meanwhile: it goes on from it when it is resumed.
 * Its remains on the previous host are destroyed when that host is next observed.
 * @returns whether it is
 */
export async function moveToCopy(
  services: Services,
  { id, account_id }: { id: string; account_id: string },
): Promise<boolean> {
  return inTransaction(services.db, async (tx) => {
    await lockBalance(tx, account_id)
    const row = await sandboxById(tx, id)
    const copy = await copyOf(tx, id)
    if (!copy?.is_whole || row.state !== 'paused' || row.wanted !== 'paused' || row.gone_at) return false
    await updateSandbox(tx, id, { host_id: copy.host_id, ran_before_ms: row.ran_ms })
    return true
  })
}
