import { isId } from '@coinrack/contract/ids.ts'
import { type SandboxTariff, sandboxTariffs, type TariffName } from '@coinrack/contract/sandbox-tariffs.ts'
import type { Queryable } from '../../database/transaction.ts'
import { OperationError } from '../../platform/errors.ts'
import type { SandboxHostFacts } from '../../platform/host-facts.ts'
import { noRoom } from '../placement/place-sandbox.ts'
import { snapshotById } from '../snapshots/snapshot-store.ts'

/**
 * The tariff of a new sandbox: as asked for, or what its snapshot was taken with, which it cannot leave.
 * @throws OperationError `unknown_template`; `capacity` while the template is being built
 */
export async function chooseTariff(
  db: Queryable,
  hosts: readonly Pick<SandboxHostFacts, 'templates'>[],
  accountId: string,
  { template, tariff }: { template: string; tariff?: TariffName | undefined },
): Promise<TariffName> {
  if (isId('snapshot', template)) {
    const snapshot = await snapshotById(db, template)
    if (snapshot?.account_id !== accountId || snapshot.status !== 'ready')
      throw new OperationError('unknown_template', `There is no ready snapshot ${template}`)
    if (tariff !== undefined && tariff !== snapshot.tariff)
      throw new OperationError('unknown_template', `Snapshot ${template} is of the tariff ${snapshot.tariff}`)
    return snapshot.tariff
  }
  const known = hosts.flatMap(({ templates }) => templates.filter(({ name }) => name === template))
  if (known.length === 0)
    throw new OperationError('unknown_template', `There is no template ${template.slice(0, 40)}`)
  if (known.every(({ state }) => state !== 'ready'))
    throw noRoom(`The template ${template} is still being built`)
  return tariff ?? 'micro'
}

export const sizeOf = (tariff: TariffName): SandboxTariff => sandboxTariffs[tariff]
