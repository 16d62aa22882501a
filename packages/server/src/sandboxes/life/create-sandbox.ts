import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { askHost } from './ask-host.ts'
import { chooseNetwork } from './choose-network.ts'
import { chooseTariff, sizeOf } from './choose-size.ts'
import { sealEnv } from './sandbox-spec.ts'
import { awaitStart, paidAnswer, startSandbox } from './start-sandbox.ts'

export const createSandbox: Handler<'createSandbox'> = preparedHandler(
  ({ services }) => askHost(services),
  async (call, host) => {
    const { input, caller, db, services } = call
    const tariff = await chooseTariff(db, host, caller.accountId, input)
    const network = chooseNetwork(host, input.network)
    const { price_per_hour, ...size } = sizeOf(tariff)
    const id = services.newId('sandbox')
    const row = await startSandbox(db, services, caller.tokenId, host.capacity, {
      id,
      account_id: caller.accountId,
      tariff,
      template: input.template,
      mode: input.mode,
      ...size,
      env: sealEnv(services, id, input.env),
      metadata: input.metadata,
      network,
      parent_id: null,
      timeout_s: input.timeout,
      idle_s: input.idle_timeout,
      price_hourly: price_per_hour,
    })
    call.afterCommit(() => awaitStart(call, id))
    return paidAnswer(db, services, caller.accountId, row)
  },
)
