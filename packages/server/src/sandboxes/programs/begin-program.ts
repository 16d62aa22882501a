import type { SandboxSize } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { Call } from '../../dispatch/handler.ts'
import { closed } from '../life/choose-network.ts'
import { chooseTariff, sizeOf } from '../life/choose-size.ts'
import { sealEnv } from '../life/sandbox-spec.ts'
import type { SandboxRow } from '../life/sandbox-store.ts'
import { startSandbox } from '../life/start-sandbox.ts'
import { askHosts } from '../placement/ask-hosts.ts'
import { hostsFor } from '../placement/hosts-for.ts'
import { placeSandbox } from '../placement/place-sandbox.ts'

/** A sandbox of this kind is always ready. */
const TEMPLATE = 'base'
const TARIFF = 'micro'
/** How much longer than its program sandbox and token may be there: for the start, and for the end. */
const AROUND_S = 20

/** A program whose sandbox is wanted, with the token that its calls are made with. */
export interface BegunProgram {
  row: SandboxRow
  token: { id: string; text: string }
}

/**
 * Wants a sandbox for a program, which reaches nothing, and makes the token of its run, in one transaction: the caller's
 * token pays for the sandbox, and the program's for what it calls. Both end by themselves soon after the program has to,
 * whatever becomes of this process.
 * @throws OperationError as createSandbox; `budget_exceeded` also for a budget above that of the caller's token
 */
export async function beginProgram(
  call: Pick<Call<'runProgram'>, 'input' | 'caller' | 'services' | 'asked'>,
): Promise<BegunProgram> {
  const { input, caller, services } = call
  const { clock, newId } = services
  const all = await askHosts(services)
  const { price_per_hour, ...size } = sizeOf(TARIFF)
  const lifeS = input.timeout + AROUND_S
  return inTransaction(services.db, async (tx) => {
    await chooseTariff(tx, all, caller.accountId, { template: TEMPLATE })
    const { hosts } = await hostsFor(tx, all, { template: TEMPLATE, network: closed })
    const token = await services.programTokens.begin(tx, services, caller, {
      budget: input.budget ?? 0n,
      expiresAt: new Date(clock.now().getTime() + lifeS * 1000),
    })
    const id = newId('sandbox')
    const place = (wanted: SandboxSize) => placeSandbox(tx, services, hosts, { size: wanted })
    const row = await startSandbox(tx, services, call, place, {
      id,
      account_id: caller.accountId,
      program_token_id: token.id,
      tariff: TARIFF,
      template: TEMPLATE,
      mode: 'ephemeral',
      ...size,
      env: sealEnv(services, id, {}),
      metadata: { started_by: 'run_program' },
      network: closed,
      parent_id: null,
      timeout_s: lifeS,
      idle_s: 0,
      price_hourly: price_per_hour,
    })
    return { row, token }
  })
}
