import type { SandboxSize } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { Call } from '../../dispatch/handler.ts'
import { balanceNow } from '../../ledger/balance-view.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { beginDays } from '../meter/day-store.ts'
import { noRoom } from '../placement/place-sandbox.ts'
import { noNetworks } from './choose-network.ts'
import { driveSandbox } from './drive-sandbox.ts'
import { holdFirstMinute } from './hold-first-minute.ts'
import { insertSandbox, type NewSandbox, type SandboxRow } from './sandbox-store.ts'
import { sandboxView } from './sandbox-view.ts'
import { NO_NETWORK } from './step-sandbox.ts'

type Chosen = Omit<
  NewSandbox,
  'host_id' | 'counted_for' | 'held' | 'approved' | 'created_at' | 'seen_at' | 'expires_at'
>

/**
 * Wants a new sandbox: holds its first minute, and takes its share of the host, in the transaction that writes it down.
 * @param place holds the share of a host, and gives the host's id
 * @throws OperationError `insufficient_balance`, `account_owes`, `budget_exceeded`, `approval_needed`, `capacity`
 */
export async function startSandbox(
  tx: Transaction,
  services: Services,
  { caller, asked }: Pick<Call<'createSandbox'>, 'caller' | 'asked'>,
  place: (size: SandboxSize) => Promise<string>,
  chosen: Chosen,
): Promise<SandboxRow> {
  const { vcpus, memory_mb: memoryMb, disk_gb: diskGb } = chosen
  const { held, counted, approved } = await holdFirstMinute(tx, services, {
    id: chosen.id,
    accountId: chosen.account_id,
    tokenId: caller.tokenId,
    asked,
    tariff: chosen.tariff,
    priceHourly: chosen.price_hourly,
    timeoutS: chosen.timeout_s,
    approved: 0n,
    isNew: true,
  })
  const hostId = await place({ vcpus, memoryMb, diskGb })
  const now = services.clock.now()
  const row = await insertSandbox(tx, {
    ...chosen,
    host_id: hostId,
    counted_for: counted,
    held,
    approved,
    created_at: now,
    seen_at: now,
    expires_at: new Date(now.getTime() + chosen.timeout_s * 1000),
  })
  await beginDays(tx, [{ sandboxId: row.id, lineId: services.newId('transaction') }], now)
  return row
}

/**
 * Waits until a new sandbox runs.
 * @throws OperationError `capacity` when none can be made now, `network_unavailable` when never; nothing was charged
 */
export async function awaitStart(
  { services, caller }: Pick<Call<'createSandbox'>, 'services' | 'caller'>,
  id: string,
) {
  const row = await driveSandbox(services, id, ({ state }) => state !== 'starting')
  if (row.failure === NO_NETWORK) throw noNetworks()
  if (row.state === 'failed') throw noRoom(row.failure ?? 'The sandbox did not start')
  return paidAnswer(services.db, services, caller.accountId, row)
}

/** A sandbox beside the balance that it is paid from. */
export const paidAnswer = async (db: Queryable, services: Services, accountId: string, row: SandboxRow) => ({
  ...sandboxView(row, services.clock),
  ...(await balanceNow(db, services, accountId)),
})

/** The failure of a sandbox, in the words that its owner is told. */
export const unreachable = ({ id, failure }: SandboxRow) =>
  new OperationError('sandbox_unreachable', `Sandbox ${id}: ${failure ?? 'it does not answer'}`)
