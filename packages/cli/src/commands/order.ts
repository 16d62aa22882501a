import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Client, formatUsd } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import type { Call } from '../call.ts'
import { all } from '../collect.ts'
import { exitCodes, RefusedError } from '../exit-codes.ts'
import { isRefusal } from '../find.ts'
import { number } from '../number-option.ts'
import { payByTransfer } from '../pay-by-transfer.ts'
import { asOneOrder } from '../pending-order.ts'
import { waitUntilReady } from '../wait-until-ready.ts'
import { readKey } from './keys.ts'
import { systemName } from './plans.ts'

type Plan = Awaited<ReturnType<Client['listPlans']>>['items'][number]
type OrderInput = Parameters<Client['orderVps']>[0]

interface Options {
  os?: string
  name?: string
  sshKey?: string
  hourly?: boolean
  months?: number
  region?: string
  maxPrice?: string
  renew: boolean
  userData?: string
  dryRun?: boolean
  pay?: boolean
  wait: boolean
  timeout?: number
}

export const order: AddCommands = (program, act) => {
  program
    .command('order')
    .description('order a VPS, paid from the balance, and wait until SSH answers')
    .argument('<plan>', 'one of "coinrack plans"')
    .option('--os <system>', 'such as debian-12; by default the first of the plan')
    .option('--name <host name>', 'its host name, by which the other commands know it')
    .option('--ssh-key <file or id>', 'the public key that may log in; by default that of ~/.ssh')
    .option('--hourly', 'pay by the hour')
    .option('--months <count>', 'pay so many months in advance', number)
    .option('--region <name>')
    .option('--max-price <usd>', 'refuse when it costs more')
    .option('--no-renew', 'let it end with what is paid')
    .option('--user-data <file>', 'for cloud-init')
    .option('--dry-run', 'only say what it would cost')
    .option('--pay', 'when the balance does not cover it, show how to pay for it and wait')
    .option('--timeout <seconds>', 'how long to wait for SSH', number)
    .option('--no-wait', 'do not wait for SSH')
    .action(act((call, plan: string, options: Options) => orderVps(call, plan, options)))
}

async function orderVps(call: Call, slug: string, options: Options) {
  const service = await call.service()
  const client = await call.client()
  const plan = (await all(client.listPlans.all())).find((one) => one.slug === slug)
  if (!plan) throw new RefusedError(`There is no plan ${slug}: coinrack plans`, exitCodes.unknown)
  const input = await inputOf(call, plan, options)
  if (options.dryRun) {
    const quote = await client.orderVps({ ...input, dry_run: true })
    call.show(
      quote,
      () =>
        `${slug} would cost ${formatUsd(quote.total)} USD; the balance is ${formatUsd(quote.balance)} USD`,
    )
    return
  }
  const serviceId = await place(call, client, { url: service.url, input, pay: options.pay === true })
  if (!options.wait) {
    const vps = await client.getVpsStatus({ service_id: serviceId, reveal: false })
    call.show(vps, () => `${vps.hostname} is being made: coinrack wait ${vps.hostname}`)
    return
  }
  return waitUntilReady(call, client, serviceId, options.timeout)
}

/** Places the order once, however often this is called for it. @returns the id of the VPS */
async function place(
  call: Call,
  client: Client,
  { url, input, pay }: { url: string; input: OrderInput; pay: boolean },
): Promise<string> {
  try {
    const placed = await asOneOrder(call.terminal, { url, input }, (idempotencyKey) =>
      client.orderVps(input, { idempotencyKey }),
    )
    call.say(`Ordered ${placed.product} as ${placed.hostname} for ${formatUsd(placed.total)} USD`)
    return placed.service_id!
  } catch (error) {
    if (!isRefusal(error, 'insufficient_balance')) throw error
    const { invoice, order_id } = error.body as { invoice?: { id: string }; order_id?: string }
    if (!invoice || !order_id) throw error
    if (!pay) {
      call.say(`Pay for it with: coinrack pay ${invoice.id}`)
      throw error
    }
    const quiet = { ...call, show: () => {} }
    const unpaid = await client.getInvoice({ invoice_id: invoice.id })
    await payByTransfer(quiet, client, unpaid, { wait: true, qr: true })
    const { service_id } = await client.getOrder({ order_id })
    if (!service_id) throw error
    return service_id
  }
}

async function inputOf(call: Call, plan: Plan, options: Options): Promise<OrderInput> {
  const key = await sshKey(call, options.sshKey)
  return {
    product: plan.slug,
    os_id: systemOf(plan, options.os),
    ...(key !== undefined && { ssh_key: key }),
    ...(options.name !== undefined && { hostname: options.name }),
    ...(options.hourly && { billing_cycle: 'hourly' as const }),
    ...(options.months !== undefined && { months: options.months }),
    ...(options.region !== undefined && { region: options.region }),
    ...(options.maxPrice !== undefined && { max_price: options.maxPrice }),
    ...(!options.renew && { auto_renew: false }),
    ...(options.userData !== undefined && { user_data: await readKey(options.userData) }),
  }
}

function systemOf({ slug, os_images }: Plan, wanted: string | undefined): number {
  const offered = os_images.filter(({ available }) => available)
  const found = offered.find(
    (image) =>
      wanted === undefined ||
      String(image.os_id) === wanted ||
      [systemName(image), image.name.toLowerCase()].includes(wanted.toLowerCase()),
  )
  if (found) return found.os_id
  const names = offered.map(systemName).join(', ')
  throw new RefusedError(
    wanted === undefined
      ? `Plan ${slug} has no system that can be ordered now`
      : `Plan ${slug} has no ${wanted}, but ${names}`,
    wanted === undefined ? exitCodes.unavailable : exitCodes.usage,
  )
}

/** In the order in which OpenSSH tries them. */
const KEYS = ['id_ed25519.pub', 'id_ecdsa.pub', 'id_rsa.pub']

async function sshKey(call: Call, given: string | undefined): Promise<string | undefined> {
  if (given?.startsWith('key_')) return given
  if (given !== undefined) return readKey(given)
  for (const name of KEYS) {
    const path = join(call.terminal.env.HOME || homedir(), '.ssh', name)
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    if (isThere) return readKey(path)
  }
  call.say('There is no key in ~/.ssh, so the root password will let you in. It is shown once')
  return undefined
}
