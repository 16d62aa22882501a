import { sandboxFlow, vpsFlow } from '@coinrack/contract/flows.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { rateSettings } from '../config/config-rates.ts'
import type { Handler } from '../dispatch/handler.ts'
import { balanceView } from '../ledger/balance-view.ts'
import { noticesWithoutMail } from './notice-store.ts'

/** So long notices are shown. */
const NOTICES_MS = 14 * 86_400_000

export const getStarted: Handler<'getStarted'> = async ({ caller, db, services }) => {
  const { config, ordering, sandboxing } = services
  const balance = caller ? await balanceView(db, services, caller.accountId) : null
  const { live, making } = caller
    ? await ordering.summary(db, services, caller.accountId)
    : { live: 0, making: undefined }
  const since = new Date(services.clock.now().getTime() - NOTICES_MS)
  const sandboxes = caller ? (await sandboxing.summary(db, caller.accountId)).live : 0
  return {
    service: `Virtual servers and code sandboxes, prepaid in stablecoins, without identity check, at ${config.publicUrl}`,
    flow: numbered(vpsFlow),
    sandbox_flow: numbered(config.sandboxes ? sandboxFlow : []),
    authentication:
      'A token comes from register_account, login or verify_login_code. It is good for a year. The Authorization header wins over access_token.',
    tools:
      'Your list may show the most used tools alone. find_operations finds every other operation, and call_operation calls it. access_token of any tool is the token, where no Authorization header can be sent. idempotency_key of a write is any text of yours: repeated with the same one, the write has the effect of one.',
    errors:
      'Every error has message, code, fix and next_steps. 402 means that nothing was charged and how much is missing. 429 and 503 say in retry_after (by REST also as the header Retry-After) after how many seconds to come back. Send the same idempotency_key (by REST the header Idempotency-Key) when you repeat a write.',
    limits: Object.fromEntries(
      Object.entries(config.rates).map(([name, rate]) => [
        name,
        `${rate.limit} in ${rate.windowSeconds} s: ${rateSettings[name as keyof typeof rateSettings].doc}`,
      ]),
    ),
    payment:
      'USDC, USDT or PYUSD on Base, Ethereum or Polygon; at least 3 USD. What arrives is what is credited, also when it is late, partial or too much. With a wallet of your own and no coins for gas: topup_balance with method x402, signed and credited in one call. Without an account: buy_vps and buy_sandbox sell for one signed payment; verify_wallet_login leads back to what the wallet has.',
    you_are_here: {
      authenticated: caller !== undefined,
      balance,
      live_vps: live,
      live_sandboxes: sandboxes,
      next: nextCall(balance?.balance, live, making),
      notices: caller ? await noticesWithoutMail(db, caller.accountId, since) : [],
    },
  }
}

const numbered = (flow: readonly NextStep[]) => flow.map((step, index) => ({ step: index + 1, ...step }))

/** @param making a VPS that is being made */
function nextCall(balance: bigint | undefined, live: number, making: string | undefined): NextStep {
  if (balance === undefined) return vpsFlow[0]!
  if (making !== undefined)
    return { ...vpsFlow[5]!, arguments: { ...vpsFlow[5]!.arguments, service_id: making } }
  if (live > 0) return { tool: 'list_vps', why: `You have ${live} VPS` }
  return balance > 0n
    ? { ...vpsFlow[4]!, why: `You have ${formatUsd(balance)} USD: order a plan` }
    : { ...vpsFlow[2]!, why: 'The balance is zero: top it up' }
}
