import type { Hex } from 'viem'
import type { Chain, Payee } from '../../chain/chain-port.ts'
import { OperationError } from '../../platform/errors.ts'

const RETRY_S = 30

/**
 * The facts about a recipient on which two endpoints of a chain, or its only one, agree.
 * @throws OperationError `unavailable` while they do not agree
 */
export async function findPayee({ port, settings }: Chain, token: Hex, address: Hex): Promise<Payee> {
  const treasury = settings.treasury.toLowerCase() as Hex
  const answers = (await port.askAll((node) => node.payee(token, treasury, address))).flatMap((given) =>
    given ? [given.answer] : [],
  )
  const enough = Math.min(2, port.endpoints().length)
  const agreed = answers.find((one) => answers.filter((other) => isSame(one, other)).length >= enough)
  if (agreed) return agreed
  throw new OperationError('unavailable', `${settings.network} cannot be asked about the address now`, {
    retryAfter: RETRY_S,
  })
}

const isSame = (one: Payee, other: Payee) =>
  one.hasCode === other.hasCode && one.isRefused === other.isRefused
