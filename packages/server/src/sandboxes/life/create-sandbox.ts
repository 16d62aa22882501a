import type { SandboxSize } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { askHosts } from '../placement/ask-hosts.ts'
import { hostsFor } from '../placement/hosts-for.ts'
import { placeSandbox } from '../placement/place-sandbox.ts'
import { ownTemplate } from '../templates/own-template.ts'
import { chooseNetwork } from './choose-network.ts'
import { chooseTariff, sizeOf } from './choose-size.ts'
import { sealEnv } from './sandbox-spec.ts'
import { awaitStart, paidAnswer, startSandbox } from './start-sandbox.ts'

export const createSandbox: Handler<'createSandbox'> = preparedHandler(
  ({ services }) => askHosts(services),
  async (call, all) => {
    const { input, caller, db, services } = call
    const own = await ownTemplate(db, services, caller.accountId, input)
    const template = own?.snapshot_id ?? input.template
    const tariff = await chooseTariff(db, all, caller.accountId, { ...input, template })
    const network = chooseNetwork(all, input.network)
    const { price_per_hour, ...size } = sizeOf(tariff)
    const { hosts, holders } = await hostsFor(db, all, { template, network })
    const id = services.newId('sandbox')
    const place = (size: SandboxSize) =>
      placeSandbox(db, services, hosts, { size, ...(holders && { holders }) })
    const row = await startSandbox(db, services, call, place, {
      id,
      account_id: caller.accountId,
      tariff,
      template,
      ...(own && { template_name: own.name }),
      mode: input.mode,
      ...size,
      env: sealEnv(services, id, own ? own.env : input.env),
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
