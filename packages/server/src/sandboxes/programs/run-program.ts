import { operations } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput } from '@coinrack/contract/operation.ts'
import { announce } from '../../database/changes.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { Call, Handler } from '../../dispatch/handler.ts'
import { balanceNow } from '../../ledger/balance-view.ts'
import { demandSandboxes, sandboxHostOf } from '../../platform/sandbox-host.ts'
import { driveSandbox } from '../life/drive-sandbox.ts'
import { type SandboxRow, sandboxById, updateSandbox } from '../life/sandbox-store.ts'
import { sandboxView } from '../life/sandbox-view.ts'
import { awaitStart } from '../life/start-sandbox.ts'
import { type BegunProgram, beginProgram } from './begin-program.ts'
import type { AskOperation } from './relay.ts'
import { type Ran, runInSandbox } from './run-in-sandbox.ts'

/** Nothing answers later than 50 s: the last ones are for ending the program, its calls and its sandbox. */
const LONGEST_MS = 45_000
const SHORTEST_S = 1
/** How long the answer waits for the end of the sandbox. */
const END_MS = 3_000

export const runProgram: Handler<'runProgram'> = async (call) => {
  const { input, caller, services, gone } = call
  const began = performance.now()
  demandSandboxes(services)
  const code = await services.typeStripper.strip(input.code)
  const program = await beginProgram(call)
  const { id } = program.row
  let ran: Ran
  let over: Awaited<ReturnType<typeof endProgram>> | undefined
  try {
    await awaitStart(call, id)
    const left = (LONGEST_MS - (performance.now() - began)) / 1000
    const seconds = Math.max(SHORTEST_S, Math.min(input.timeout, left))
    const { channel } = sandboxHostOf(services, program.row)
    ran = await runInSandbox(services, channel, id, { code, seconds, gone }, askFor(call, program))
  } finally {
    over = await endProgram(call, program)
  }
  return {
    ...ran,
    budget: input.budget ?? 0n,
    spent: over.spent,
    run_cost: sandboxView(over.row, services.clock).cost,
    duration_ms: Math.round(performance.now() - began),
    sandbox_id: id,
    ...(await balanceNow(services.db, services, caller.accountId)),
  }
}

/**
 * How the program's calls are asked for: as any other call, by the token of the run. Its text stays in this process: a
 * sandbox never sees it, and what comes over the connection of one is asked for with the token of that one.
 */
function askFor(
  { dispatch, client }: Pick<Call<'runProgram'>, 'dispatch' | 'client'>,
  { token, row }: BegunProgram,
): AskOperation {
  let count = 0
  return async (name, { input, key }) => {
    const op: Operation = operations[name]
    count++
    return dispatch(name, {
      token: token.text,
      address: client,
      idempotencyKey: key,
      resourceId: op.resource && input[resourceInput(op.resource)],
      input: () => input,
      requestId: `${row.id}-${count}`,
      asTool: true,
    })
  }
}

/** Ends the token, and with it all that the program may do, and then the sandbox, whatever became of it. */
async function endProgram(
  { services, caller }: Pick<Call<'runProgram'>, 'services' | 'caller'>,
  { row: { id }, token }: BegunProgram,
): Promise<{ spent: bigint; row: SandboxRow }> {
  const spent = await inTransaction(services.db, (tx) =>
    services.programTokens.end(tx, services, { accountId: caller.accountId, tokenId: token.id }),
  )
  await inTransaction(services.db, async (tx) => {
    const { wanted } = await sandboxById(tx, id)
    if (wanted !== 'ended') await updateSandbox(tx, id, { wanted: 'ended', reason: 'asked' })
    await announce(tx, id)
  })
  return { spent, row: await driveSandbox(services, id, ({ gone_at }) => gone_at !== null, END_MS) }
}
