import { operationList } from '@coinrack/contract/index.ts'
import { type Resource, resourceInput, toolName } from '@coinrack/contract/operation.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'
import { billVps } from '../vps/billing/bill-vps.ts'

/*
 * Errors lead on: from each state in which a call is refused, the step that the error offers is taken as it stands, is
 * allowed, and after it the call is answered.
 */

const HOUR_MS = 3_600_000
let service: TestService
let customer: { token: string; accountId: string }

beforeAll(async () => {
  service = await startTestService({
    features: [
      'serialConsole',
      'guestCommands',
      'memorySnapshots',
      'rescue',
      'retainedDisks',
      'firewall',
      'ownAddresses',
    ],
    env: {
      COINRACK_RATE_REGISTER: '1000/min',
      COINRACK_RATE_CONSOLE: '2/min',
      COINRACK_RATE_REINSTALLS: '99/h',
    },
  })
})
afterAll(() => service.close())
beforeEach(async () => {
  customer = await service.customer(90_000_000n)
})

type Input = Record<string, unknown>
interface Step {
  tool: string
  arguments?: Input
}

const call = (tool: string, input: Input = {}) => service.tool(tool, input, { token: customer.token })

/** Takes a step while the world moves on, as what waits is answered then, and lets what it began come to its end. */
async function take({ tool, arguments: input = {} }: Step, more: Input = {}) {
  let isAnswered = false
  const answered = call(tool, { ...input, ...more }).finally(() => {
    isAnswered = true
  })
  for (let rest = 1; rest >= 0; rest -= isAnswered ? 1 : 0) {
    await service.reconcile()
    await service.reconcileSandboxes()
  }
  const answer = await answered
  expect(answer, `the step ${tool} is allowed`).toMatchObject({ isError: false })
  return answer.body
}

/** Calls until it is answered, and between the calls takes the step that the error offers. @returns the steps */
async function walk(tool: string, input: Input, more: Record<string, Input> = {}): Promise<string[]> {
  const steps: string[] = []
  for (;;) {
    const { isError, body } = await call(tool, input)
    if (!isError) return steps
    const [step] = body.next_steps as Step[]
    expect(step, `${tool}: ${body.message}`).toBeDefined()
    expect(steps.length, `${tool} goes in circles: ${steps}`).toBeLessThan(4)
    steps.push(step!.tool)
    await take(step!, more[step!.tool])
  }
}

/** A VPS, delivered unless it is said otherwise. */
async function order(input: Input = {}, { delivered = true } = {}): Promise<string> {
  const { body } = await call('order_vps', { product: 'nano', os_id: 1, hostname: 'web', ...input })
  if (delivered) await service.reconcile()
  return body.service_id
}

const inside = { command: 'true' }

describe('a VPS', () => {
  test.each([
    ['open_console', {}],
    ['run_on_vps', inside],
    ['write_vps_file', { path: '/root/a', content: 'a' }],
    ['create_snapshot', { include_memory: true }],
    ['power_vps', { action: 'reboot' }],
  ])('error: %s of one that is stopped leads to its start', async (tool, input) => {
    const service_id = await order()
    await take({ tool: 'power_vps', arguments: { service_id, action: 'stop' } })
    expect(await walk(tool, { service_id, ...input })).toEqual(['power_vps'])
  })

  test.each([
    ['open_console', {}],
    ['run_on_vps', inside],
    ['set_hostname', { hostname: 'other' }],
    ['create_snapshot', {}],
    ['power_vps', { action: 'stop' }],
    ['change_plan', { target_plan: 'micro', confirm: true }],
    ['rescue_vps', { enabled: true }],
  ])('error: %s of one that is being made leads to waiting for it', async (tool, input) => {
    const service_id = await order({}, { delivered: false })
    expect(await walk(tool, { service_id, ...input })).toEqual(['get_vps_status'])
  })

  test.each([
    ['set_hostname', { hostname: 'other' }],
    ['reset_password', {}],
    ['create_snapshot', {}],
  ])('error: %s of one in its rescue system leads out of it', async (tool, input) => {
    const service_id = await order()
    await take({ tool: 'rescue_vps', arguments: { service_id, enabled: true } })
    expect(await walk(tool, { service_id, ...input })).toEqual(['rescue_vps'])
  })

  test.each([
    ['power_vps', { action: 'start' }],
    ['run_on_vps', inside],
    ['open_console', {}],
  ])('error: %s of one that is suspended leads to its renewal', async (tool, input) => {
    const service_id = await order({ billing_cycle: 'hourly', auto_renew: false })
    service.clock.advance(2 * HOUR_MS)
    await billVps(service.services)
    expect((await call('get_vps_status', { service_id })).body.status).toBe('suspended')
    const steps = await walk(tool, { service_id, ...input })
    expect(steps[0]).toBe('renew_service')
  })

  test('error: one that is deleted leads to its disk, and to the plans', async () => {
    const service_id = await order()
    await take({ tool: 'cancel_service', arguments: { service_id, mode: 'immediate', confirm: true } })
    const { body } = await call('power_vps', { service_id, action: 'start' })
    expect(body.next_steps.map(({ tool }: Step) => tool)).toEqual(['list_snapshots', 'list_plans'])
    const { items } = await take(body.next_steps[0])
    expect(items).toMatchObject([{ reason: 'cancel' }])
    await take({ tool: 'restore_snapshot', arguments: { service_id, snapshot_id: items[0].id } })
    expect(await walk('power_vps', { service_id, action: 'start' })).toEqual([])
  })

  test('error: one that could not be made leads to the plans', async () => {
    const service_id = await order({ hostname: 'no-space' })
    for (let minutes = 0; minutes < 30; minutes++) {
      service.clock.advance(60_000)
      await service.reconcile()
    }
    const { body } = await call('power_vps', { service_id, action: 'start' })
    expect(body).toMatchObject({ code: 'service_busy', message: 'The VPS is failed' })
    const { items } = await take(body.next_steps[0])
    expect(
      (await call('order_vps', { product: items[0].slug, os_id: items[0].os_images[0].os_id })).isError,
    ).toBe(false)
  })

  test('error: a guest that does not answer leads to its console, and a path that is not there to the folder', async () => {
    const service_id = await order()
    service.guests.silence(service_id, true)
    const silent = await call('run_on_vps', { service_id, ...inside })
    expect(silent.body).toMatchObject({ code: 'guest_unreachable', next_steps: [{ tool: 'open_console' }] })
    await take(silent.body.next_steps[0])
    service.guests.silence(service_id, false)
    const missing = await call('read_vps_file', { service_id, path: "/root/it's not" })
    expect(missing.body).toMatchObject({ code: 'file_not_found', next_steps: [{ tool: 'run_on_vps' }] })
    await take(missing.body.next_steps[0])
  })

  test('error: a snapshot while another is in work leads to waiting for that', async () => {
    const service_id = await order()
    await call('create_snapshot', { service_id })
    expect(await walk('create_snapshot', { service_id })).toEqual(['list_snapshots'])
  })

  test('default: what is confirmed takes the same values everywhere, and refuses the same', async () => {
    const calls: [string, Input][] = [
      ['reset_password', {}],
      ['reinstall_vps', { os_id: 1 }],
      ['change_plan', { target_plan: 'micro' }],
      ['cancel_service', { mode: 'immediate' }],
    ]
    for (const confirm of [true, 'web', 'DELETE']) {
      const service_id = await order()
      for (const [tool, input] of calls) {
        for (const wrong of [false, 'another', 'delete']) {
          const { body } = await call(tool, { ...input, service_id, confirm: wrong })
          expect(body, tool).toMatchObject({ code: 'confirmation_required' })
          expect(body.message).toContain('web')
          await take(body.next_steps[0])
        }
        await take({ tool, arguments: { ...input, service_id, confirm } })
      }
    }
  })
})

describe('a sandbox', () => {
  const create = async (input: Input = {}) =>
    (await take({ tool: 'create_sandbox', arguments: { timeout: 3600, idle_timeout: 0, ...input } }))
      .id as string

  test('default: the answer that makes one is the sandbox', async () => {
    expect(await take({ tool: 'create_sandbox' })).toMatchObject({
      id: expect.stringMatching(/^sbx/),
      state: 'running',
      balance: expect.any(String),
    })
  })

  test.each([
    ['run_code', { code: '6 * 7' }],
    ['exec_command', { command: 'true' }],
    ['write_file', { path: 'a', content: 'a' }],
    ['list_tasks', {}],
    ['get_sandbox_metrics', {}],
  ])('error: %s of one that is paused leads to its going on', async (tool, input) => {
    const sandbox_id = await create()
    await take({ tool: 'pause_sandbox', arguments: { sandbox_id } })
    expect(await walk(tool, { sandbox_id, ...input })).toEqual(['resume_sandbox'])
  })

  test('error: one that is over leads to another', async () => {
    const sandbox_id = await create()
    await take({ tool: 'kill_sandbox', arguments: { sandbox_id } })
    for (const [tool, input] of [
      ['run_code', { code: '1' }],
      ['resume_sandbox', {}],
      ['fork_sandbox', {}],
      ['set_sandbox_timeout', { timeout: 60 }],
    ] as const) {
      const { body } = await call(tool, { sandbox_id, ...input })
      expect(body, tool).toMatchObject({
        code: 'sandbox_not_running',
        next_steps: [{ tool: 'create_sandbox' }],
      })
      const { id } = await take(body.next_steps[0])
      expect((await call('run_code', { sandbox_id: id, code: '1' })).isError).toBe(false)
    }
  })

  test('error: a file that is not there is 404 and leads to the files, whose relative paths can be read', async () => {
    const sandbox_id = await create()
    await take({ tool: 'write_file', arguments: { sandbox_id, path: 'notes.txt', content: 'here' } })
    const missing = await service.ask('GET', `/sandboxes/${sandbox_id}/files?path=note.txt`, customer)
    expect(missing).toMatchObject({ status: 404, body: { code: 'file_not_found' } })
    expect(missing.body.fix).toContain('relative paths start at /home/user')
    for (const tool of ['read_file', 'list_files']) {
      const { body } = await call(tool, { sandbox_id, path: 'note.txt' })
      expect(body).toMatchObject({ code: 'file_not_found', next_steps: [{ tool: 'list_files' }] })
      const { items } = await take(body.next_steps[0])
      expect(items).toMatchObject([{ path: '/home/user/notes.txt' }])
    }
    expect(await take({ tool: 'read_file', arguments: { sandbox_id, path: 'notes.txt' } })).toMatchObject({
      content: 'here',
    })
  })

  test('error: a task that is not there leads to those that are', async () => {
    const sandbox_id = await create()
    const { body } = await call('get_task', { sandbox_id, task_id: 'none' })
    expect(body).toMatchObject({ code: 'not_found', next_steps: [{ tool: 'list_tasks' }] })
    await take(body.next_steps[0])
  })

  test('error: without money it speaks of a top-up, of no invoice, and the top-up lets it run', async () => {
    customer = await service.customer()
    const { accountId } = customer
    const { body } = await call('create_sandbox')
    expect(body).toMatchObject({ code: 'insufficient_balance', next_steps: [{ tool: 'topup_balance' }] })
    expect(JSON.stringify(body)).not.toMatch(/invoice|checkout/)
    await take(body.next_steps[0], { amount: 5 })
    await service.credit(accountId, 5_000_000n)
    await take({ tool: 'create_sandbox' })
  })
})

describe('an answer', () => {
  const first = (body: { next_steps: Step[] }) => body.next_steps[0]!

  test('default: of a VPS leads on from its state, from the quote to a command in it', async () => {
    const quote = await take({
      tool: 'order_vps',
      arguments: { product: 'nano', os_id: 1, dry_run: true },
    })
    const ordered = await take(first(quote))
    const ready = await take(first(ordered))
    expect(first(ready)).toMatchObject({ tool: 'run_on_vps' })
    await take(first(ready))
    const service_id = ready.id
    const stopping = await take({ tool: 'power_vps', arguments: { service_id, action: 'stop' } })
    expect(await take(first(stopping))).toMatchObject({ kind: 'stop', status: 'succeeded' })
    const stopped = await take({ tool: 'get_vps_status', arguments: { service_id } })
    expect(first(stopped)).toMatchObject({ tool: 'power_vps', arguments: { action: 'start' } })
    expect(await take(first(await take(first(stopped))))).toMatchObject({ kind: 'start' })
  })

  test.each([
    ['set_firewall', { rules: [] }, 'get_firewall', {}],
    ['open_port', { port: 443 }, 'list_ports', {}],
    ['renew_service', {}, 'set_auto_renew', {}],
    ['get_upgrade_options', {}, 'change_plan', { confirm: true }],
  ])('default: of %s names the VPS in its next step', async (tool, input, next, more) => {
    const service_id = await order()
    const body = await take({ tool, arguments: { service_id, ...input } })
    expect(first(body).tool).toBe(next)
    await take(first(body), more)
  })

  test('default: of work in the background leads to what it wrote', async () => {
    const { id: sandbox_id } = await take({ tool: 'create_sandbox' })
    const command = { sandbox_id, command: 'echo 1', background: true }
    const begun = await take({ tool: 'exec_command', arguments: command })
    expect(await take(first(begun))).toMatchObject({ stdout: '1\n' })
  })

  test('default: of a login leads to a top-up with the new token', async () => {
    const { body } = await service.tool(
      'register_account',
      { email: 'steps@rackmail.net' },
      { address: '10.9.9.9' },
    )
    for (const { tool, arguments: input } of body.next_steps)
      expect(await service.tool(tool, input)).toMatchObject({ isError: false })
  })
})

describe('what is not there', () => {
  const lists: Record<Resource, string> = {
    invoice: 'list_invoices',
    order: 'list_orders',
    service: 'list_vps',
    operation: 'list_vps',
    token: 'list_tokens',
    ssh_key: 'list_ssh_keys',
    webhook: 'list_webhooks',
    ticket: 'list_tickets',
    delegation: 'list_delegations',
    sandbox: 'list_sandboxes',
    snapshot: 'list_sandbox_snapshots',
    refund: 'list_refunds',
    approval: 'list_approvals',
    template: 'list_sandbox_templates',
  }

  test('error: every tool leads to the list of what it is about', async () => {
    for (const [name, op] of operationList) {
      if (!op.resource) continue
      const { body } = await call(toolName(name), { ...op.example, [resourceInput(op.resource)]: 'none' })
      expect(body, name).toMatchObject({ code: 'not_found', next_steps: [{ tool: lists[op.resource] }] })
    }
    for (const tool of new Set(Object.values(lists)))
      expect(await take({ tool })).toMatchObject({ items: expect.any(Array) })
  })

  test('error: so does what belongs to another account', async () => {
    const service_id = await order()
    customer = await service.customer()
    const { body } = await call('get_vps_status', { service_id })
    expect(body).toMatchObject({ code: 'not_owner', next_steps: [{ tool: 'list_vps' }] })
    await take(body.next_steps[0])
  })

  test('error: a snapshot of a VPS leads to its snapshots', async () => {
    const service_id = await order()
    const { body } = await call('delete_snapshot', { service_id, snapshot_id: 'none' })
    expect(body).toMatchObject({ code: 'not_found', next_steps: [{ tool: 'list_snapshots' }] })
    await take(body.next_steps[0])
  })
})

describe('money', () => {
  beforeEach(async () => {
    customer = await service.customer()
  })

  test('error: an order leads to its invoice, and that to waiting for the payment', async () => {
    const { body } = await call('order_vps', { product: 'nano', os_id: 1 })
    expect(body).toMatchObject({ code: 'insufficient_balance', next_steps: [{ tool: 'pay_invoice' }, {}] })
    expect(body.fix).toContain('invoice')
    const begun = await take(body.next_steps[0])
    expect(begun).toMatchObject({ status: 'initiated', next_steps: [{ tool: 'get_invoice' }] })
    await take(begun.next_steps[0], { timeout: 0 })
  })

  test('error: without an invoice the order speaks of none', async () => {
    const { body } = await call('order_vps', { product: 'nano', os_id: 1, create_invoice: false })
    expect(body.fix).not.toMatch(/invoice|checkout/)
    await take(body.next_steps[0], { amount: 5 })
  })

  test('error: a second top-up leads to the first, and to its cancellation', async () => {
    await take({ tool: 'topup_balance', arguments: { amount: 5 } })
    const { body } = await call('topup_balance', { amount: 6 })
    expect(body.next_steps).toMatchObject([{ tool: 'get_invoice' }, { tool: 'cancel_invoice' }])
    for (const step of body.next_steps) await take(step)
    expect(await walk('topup_balance', { amount: 6 })).toEqual([])
    const closed = await call('pay_invoice', { invoice_id: body.invoice.id })
    expect(closed.body).toMatchObject({ code: 'invoice_closed', next_steps: [{ tool: 'get_invoice' }] })
    await take(closed.body.next_steps[0])
  })
})

describe('where one stands', () => {
  test('default: while a VPS is being made the next call is to wait for it', async () => {
    const service_id = await order({}, { delivered: false })
    const next = async () => (await call('get_started')).body.you_are_here.next
    expect(await next()).toMatchObject({
      tool: 'get_vps_status',
      arguments: { service_id, wait: 'ssh_ready', timeout: 50 },
    })
    expect(await take(await next())).toMatchObject({ ssh_ready: true })
    expect(await next()).toMatchObject({ tool: 'list_vps' })
    await take(await next())
  })

  test('error: too many calls: the body says for how many seconds to wait, as the header does', async () => {
    const service_id = await order()
    for (const _ of [1, 2]) await take({ tool: 'open_console', arguments: { service_id } })
    const { body } = await call('open_console', { service_id })
    expect(body).toMatchObject({ code: 'rate_limited', retry_after: 30 })
    expect(body.fix).toContain('retry_after')
    const byRest = await service.ask('POST', `/services/${service_id}/console`, { ...customer, body: {} })
    expect(byRest).toMatchObject({ status: 429, headers: { 'retry-after': '30' }, body: { retry_after: 30 } })
    service.clock.advance(body.retry_after * 1000)
    await take({ tool: 'open_console', arguments: { service_id } })
  })

  test('error: no room: the body says when to come back', async () => {
    const { body } = await call('order_vps', { product: 'large', os_id: 1 })
    await service.hostSays({ capacity: { vcpus: 1, memoryMb: 1, diskGb: 1 } })
    const refused = await call('order_vps', { product: 'nano', os_id: 1 })
    await service.hostSays()
    expect(body.code).not.toBe('capacity')
    expect(refused.body).toMatchObject({
      code: 'capacity',
      retry_after: 60,
      next_steps: [{ tool: 'list_plans' }],
    })
    await take(refused.body.next_steps[0])
  })
})
