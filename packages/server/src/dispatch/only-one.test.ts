import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput, toolName } from '@coinrack/contract/operation.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'

/*
 * As a tool, the VPS or the sandbox of an account need not be named while there is only one.
 */

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    features: ['guestCommands'],
    env: { COINRACK_RATE_DEFAULT: '10000/min', COINRACK_RATE_SANDBOXES: '1000/min' },
  })
})
afterAll(() => service.close())

type Input = Record<string, unknown>
const buyerWithMoney = async () => {
  const { token, accountId } = await service.customer(90_000_000n)
  return { token, accountId, call: (tool: string, input: Input = {}) => service.tool(tool, input, { token }) }
}
type Buyer = Awaited<ReturnType<typeof buyerWithMoney>>

async function order({ call }: Buyer, hostname: string): Promise<string> {
  const { body } = await call('order_vps', { product: 'nano', os_id: 1, hostname })
  await service.reconcile()
  return body.service_id
}

describe('one', () => {
  test('default: it is found, for reads, writes and work inside it', async () => {
    const buyer = await buyerWithMoney()
    const service_id = await order(buyer, 'web')
    const { id: sandbox_id } = (await buyer.call('create_sandbox')).body
    expect((await buyer.call('get_vps_status')).body).toMatchObject({ id: service_id, ssh_ready: true })
    expect((await buyer.call('run_on_vps', { command: 'echo 1' })).body).toMatchObject({ stdout: '1\n' })
    expect((await buyer.call('exec_command', { command: 'echo 2' })).body).toMatchObject({ stdout: '2\n' })
    expect((await buyer.call('get_sandbox')).body).toMatchObject({ id: sandbox_id })
    expect((await buyer.call('power_vps', { action: 'stop' })).body.service).toMatchObject({ id: service_id })
  })

  test('behavior: those that are over do not count', async () => {
    const buyer = await buyerWithMoney()
    const { id: first } = (await buyer.call('create_sandbox')).body
    await buyer.call('kill_sandbox', { sandbox_id: first })
    const { id: second } = (await buyer.call('create_sandbox')).body
    expect((await buyer.call('get_sandbox')).body).toMatchObject({ id: second })
  })

  test('behavior: one of another account counts for whom it is delegated to, where that may do it', async () => {
    const [owner, friend] = [await buyerWithMoney(), await buyerWithMoney()]
    const service_id = await order(owner, 'lent')
    const made = await owner.call('delegate_service', { service_id, email: 'friend@rackmail.net' })
    await service.services.db.query(
      'update delegation set delegate_id = $2, accepted_at = $3 where id = $1',
      [made.body.delegation.id, friend.accountId, service.clock.now()],
    )
    expect((await friend.call('get_vps_status')).body).toMatchObject({ id: service_id })
    expect((await friend.call('run_on_vps', { command: 'true' })).body).toMatchObject({ code: 'not_found' })
  })

  test('behavior: a write with a key is answered again, and hits nothing else, whatever there is by then', async () => {
    const buyer = await buyerWithMoney()
    const { id: first } = (await buyer.call('create_sandbox')).body
    const kill = () => buyer.call('kill_sandbox', { idempotency_key: 'once' })
    expect((await kill()).body).toMatchObject({ id: first })
    expect((await kill()).body).toMatchObject({ id: first })
    const { id: second } = (await buyer.call('create_sandbox')).body
    expect((await kill()).body).toMatchObject({ id: first })
    await buyer.call('create_sandbox')
    expect((await kill()).body).toMatchObject({ id: first })
    expect((await buyer.call('get_sandbox', { sandbox_id: second })).body).toMatchObject({ state: 'running' })
  })
})

describe('several', () => {
  test('error: they are listed, and each leads on', async () => {
    const buyer = await buyerWithMoney()
    const ids = [await order(buyer, 'web')]
    service.clock.advance(1)
    ids.push(await order(buyer, 'db'))
    const { body } = await buyer.call('run_on_vps', { command: 'true' })
    expect(body).toMatchObject({
      code: 'invalid_input',
      details: [{ path: 'service_id' }],
      candidates: [
        { service_id: ids[1], hostname: 'db', status: 'active' },
        { service_id: ids[0], hostname: 'web', status: 'active' },
      ],
      next_steps: [
        { tool: 'run_on_vps', arguments: { service_id: ids[1] } },
        { tool: 'run_on_vps', arguments: { service_id: ids[0] } },
      ],
    })
    const { tool, arguments: named } = body.next_steps[0]
    expect(await buyer.call(tool, { command: 'true', ...named })).toMatchObject({ isError: false })
  })
})

describe('none', () => {
  test('error: there is no VPS or sandbox, and the steps lead to one', async () => {
    const buyer = await buyerWithMoney()
    const { body } = await buyer.call('get_vps_status')
    expect(body).toMatchObject({ code: 'not_found', message: 'You have no VPS' })
    expect(body.next_steps.map(({ tool }: { tool: string }) => tool)).toEqual(['list_plans', 'order_vps'])
    const without = await buyer.call('run_code', { code: '6 * 7' })
    expect(without.body).toMatchObject({ code: 'not_found', next_steps: [{ tool: 'create_sandbox' }] })
    await buyer.call(without.body.next_steps[0].tool)
    expect((await buyer.call('run_code', { code: '6 * 7' })).isError).toBe(false)
  })

  test('error: the order of the checks is that of a call with an identifier', async () => {
    const owner = await buyerWithMoney()
    const child = await owner.call('create_token', { scopes: ['read'] })
    const asChild = (tool: string, input: Input = {}) =>
      service.tool(tool, input, { token: child.body.token })
    expect((await service.tool('run_on_vps', {})).body.code).toBe('unauthorized')
    expect((await asChild('run_on_vps')).body.code).toBe('not_found')
    await order(owner, 'one')
    expect((await asChild('run_on_vps')).body.code).toBe('scope_missing')
    await order(owner, 'two')
    expect((await asChild('run_on_vps')).body.code).toBe('scope_missing')
    expect((await owner.call('run_on_vps')).body).toMatchObject({ details: [{ path: 'service_id' }] })
  })
})

const named = operationList.filter(
  ([, { resource }]) => resource && !['service', 'sandbox'].includes(resource),
)

test.each(named)('error: %s without the identifier is 422 with its name', async (name, op: Operation) => {
  const { call } = await buyerWithMoney()
  const id = resourceInput(op.resource!)
  const { [id]: _id, ...input } = op.example
  const { body } = await call(toolName(name), input)
  expect(body).toMatchObject({ code: 'invalid_input' })
  expect(body.details.map(({ path }: { path: string }) => path)).toContain(id)
})
