import type { Operations } from '@coinrack/contract/index.ts'
import type { z } from 'zod'
import { type Agent, connectAgent } from './agent.ts'
import { fetchDemoMoney, payOnDemoChain } from './pay-on-demo-chain.ts'
import type { Progress } from './progress.ts'
import { makeSshKey, runInGuest, sshArguments } from './ssh.ts'

type Plan = z.input<Operations['listPlans']['output']>

export interface DemoOptions {
  /** Origin of the service, such as `http://127.0.0.1:8080`. */
  origin: string
  /** Email address of the new account. */
  email: string
  /** Where the SSH key and the known hosts are written. */
  folder: string
  progress: Progress
  sleep: (milliseconds: number) => Promise<void>
}

const POLL_S = 50
const NETWORK = 'base'
const TOKEN = 'USDC'
const SMALLEST_TOPUP = 3
const LOOK_AGAIN_MS = 3_000

/**
 * The whole life of a customer that is an agent: from nothing but the address of the tool endpoint to a command
 * that ran inside its own machine. Every step is real: the money is on a local chain, the machine is a machine.
 * @returns how to log in again
 */
export async function playDemo(options: DemoOptions): Promise<{ sshArguments: string[]; output: string }> {
  const { origin, progress, folder } = options
  const money = await fetchDemoMoney(origin)
  const agent = await connectAgent(`${origin}/mcp`)
  progress.done('connect', `${agent.tools} tools, MCP ${agent.protocolVersion}`)
  try {
    await register(agent, options)
    const { plan, image } = await choosePlan(agent, options)
    await topUp(agent, money, Math.max(SMALLEST_TOPUP, Math.ceil(Number(plan.price))), progress)

    const key = await makeSshKey(folder)
    const order = await agent.call('orderVps', {
      product: plan.slug,
      os_id: image.os_id,
      ssh_key: key.publicKey,
    })
    progress.done('order_vps', `${plan.slug} with ${image.name} for ${order.total} USD: ${order.service_id}`)

    const { ssh } = await waitForSsh(agent, order.service_id!, progress)
    const args = await sshArguments(folder, key, ssh)
    const output = await runInGuest(args, 'uname -a; hostname')
    progress.done('ssh', 'ran "uname -a; hostname" in the machine, whose host key is the printed one')
    const { balance } = await agent.call('getBalance', {})
    progress.done('get_balance', `${balance} USD left`)
    return { sshArguments: args, output }
  } finally {
    await agent.close()
  }
}

async function register(agent: Agent, { email, progress }: DemoOptions): Promise<void> {
  const guide = await agent.call('getStarted', {})
  progress.done('get_started', `${guide.flow.length} steps, first ${guide.you_are_here.next.tool}`)
  const session = await agent.call('registerAccount', { email })
  agent.token = session.token
  progress.done('register_account', `${email}: ${session.account.id}`)
}

/** The first plan that can be ordered. A new service makes its images first, which takes minutes. */
async function choosePlan(agent: Agent, { progress, sleep }: DemoOptions) {
  for (;;) {
    const { items } = await agent.call('listPlans', {})
    const found = items.map(withImage).find((choice) => choice !== undefined)
    if (found) {
      progress.done(
        'list_plans',
        `${items.length} plans; ${found.plan.slug} at ${found.plan.price} USD a month`,
      )
      return found
    }
    progress.note('no plan can be ordered yet: the images are being made, or there is no room')
    await sleep(LOOK_AGAIN_MS)
  }
}

function withImage(plan: Plan) {
  const image = plan.os_images.find(({ available }) => available)
  return plan.available && image ? { plan, image } : undefined
}

async function topUp(
  agent: Agent,
  money: Awaited<ReturnType<typeof fetchDemoMoney>>,
  amount: number,
  progress: Progress,
): Promise<void> {
  const { invoice, checkout_url } = await agent.call('topupBalance', { amount })
  progress.done('topup_balance', `${amount} USD; people could pay at ${checkout_url}`)
  const option = invoice.payment_options.find(({ network, token }) => network === NETWORK && token === TOKEN)
  if (!option) throw new Error(`The invoice cannot be paid with ${TOKEN} on ${NETWORK}`)
  const hash = await payOnDemoChain(money, option)
  progress.done('transfer', `${option.amount} ${TOKEN} on ${NETWORK} (chain ${option.chain_id}): ${hash}`)

  for (;;) {
    const { status } = await agent.call('getInvoice', {
      invoice_id: invoice.id,
      wait: 'paid',
      timeout: POLL_S,
    })
    if (status === 'paid') break
    if (status === 'expired' || status === 'cancelled') throw new Error(`The invoice is ${status}`)
    progress.note(`the invoice is ${status}`)
  }
  progress.done('get_invoice', 'paid: the chain confirmed the transfer')
}

async function waitForSsh(agent: Agent, serviceId: string, progress: Progress) {
  progress.note('the machine is provisioning')
  for (;;) {
    const vps = await agent.call('getVpsStatus', {
      service_id: serviceId,
      wait: 'ssh_ready',
      timeout: POLL_S,
    })
    if (vps.ssh_ready) {
      progress.done('get_vps_status', `${vps.status}, SSH answers at ${vps.ssh.host} port ${vps.ssh.port}`)
      return vps
    }
    if (vps.status === 'failed' || vps.status === 'deleted') {
      throw new Error(`The machine is ${vps.status}: ${vps.failure_reason}`)
    }
    progress.note(`the machine is ${vps.status}`)
  }
}
