import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import defaultCatalog from '../config/default-catalog.json' with { type: 'json' }
import { readCatalog } from '../config/read-catalog.ts'
import { inTransaction } from '../database/transaction.ts'
import { post } from '../ledger/post.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import type { Operator } from './command.ts'
import { runOperator } from './run-operator.ts'
import { testOperator } from './testing.ts'

let service: TestService
let operator: Operator
let folder: string

beforeAll(async () => {
  service = await startTestService()
  operator = testOperator(service.services, { catalog: (path) => readCatalog(path) })
  folder = await mkdtemp(join(tmpdir(), 'coinrack-operator-'))
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...words: string[]) => runOperator(operator, words)

/** The JSON that a command printed; the command has to have succeeded. */
async function json(...words: string[]) {
  const { exitCode, stdout, stderr } = await run(...words, '--json')
  expect(stderr).toBe('')
  expect(exitCode).toBe(0)
  return JSON.parse(stdout)
}

const refused = (stderr: string | RegExp) => ({
  exitCode: 1,
  stdout: '',
  stderr: expect.stringMatching(stderr),
})

async function customer(balance?: bigint) {
  const { token, accountId } = await service.customer(balance)
  const ask = (path: string) => service.ask('GET', path, { token })
  const { email } = (await ask('/account')).body
  return { token, accountId, email: email as string, ask }
}

describe('usage', () => {
  test('default: without a command, all of them', async () => {
    const { exitCode, stdout } = await run()
    expect(exitCode).toBe(0)
    for (const name of ['account list', 'credit', 'plan check', 'review approve']) {
      expect(stdout).toContain(`\n  ${name}`)
    }
  })

  test('behavior: --help of one command', async () => {
    expect(await run('credit', '--help')).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^Usage: npm run operator -- credit <email\|id> <amount> --reason <text>/,
      ),
      stderr: '',
    })
  })

  test.each([
    [['money', 'print'], 'There is no command "money print"'],
    [['account'], 'There is no command "account"'],
    [['account', 'show'], 'account show takes one argument, not 0'],
    [['review', 'approve', 'rev_1', 'rev_2'], 'review approve takes one argument, not 2'],
    [['plan', 'list', '--colour'], "Unknown option '--colour'"],
  ])('error: %j is called wrongly', async (words, message) => {
    const { exitCode, stdout, stderr } = await run(...words)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain('Usage: npm run operator --')
  })
})

describe('credit', () => {
  test('default: the balance grows, and the customer reads why', async () => {
    const { email, accountId, ask } = await customer()
    expect(await json('credit', email, '12.50', '--reason', 'An outage')).toEqual({
      id: expect.stringMatching(/^txn_/),
      account_id: accountId,
      amount: '12.50',
      balance: '12.50',
    })
    expect((await ask('/balance')).body.balance).toBe('12.50')
    expect((await ask('/balance/transactions')).body[0]).toMatchObject({
      kind: 'adjustment',
      description: 'An outage',
      amount: '12.50',
    })
  })

  test('behavior: a negative amount is taken, down to zero', async () => {
    const { accountId, ask } = await customer(5_000_000n)
    expect((await json('credit', accountId, '-2', '--reason', 'A mistake')).balance).toBe('3.00')
    expect(await run('credit', accountId, '-3.000001', '--reason', 'Too much')).toEqual(
      refused('has 3.00 USD: no balance goes below zero'),
    )
    expect((await json('credit', accountId, '-3.00', '--reason', 'The rest')).balance).toBe('0.00')
    expect((await ask('/balance')).body.balance).toBe('0.00')
  })

  test('behavior: what the customer owes is paid first', async () => {
    const { accountId, ask } = await customer()
    await inTransaction(service.services.db, (tx) =>
      post(tx, {
        id: service.services.newId('transaction'),
        kind: 'deposit_reversal',
        accountId,
        description: 'A chain took a payment back',
        postings: [{ from: 'customer.owed', to: 'treasury.1.USDC', amount: 4_000_000n }],
        at: service.clock.now(),
      }),
    )
    await json('credit', accountId, '3', '--reason', 'Part of it')
    expect((await ask('/balance')).body).toMatchObject({ balance: '0.00', owed: '1.00' })
    await json('credit', accountId, '3', '--reason', 'The rest')
    expect((await ask('/balance')).body).toMatchObject({ balance: '2.00', owed: '0.00' })
  })

  test('behavior: the books balance', async () => {
    const { rows } = await service.services.db.query(
      'select transaction_id from ledger_entry group by 1 having sum(amount) <> 0',
    )
    expect(rows).toEqual([])
  })

  test.each(['0', '-0', '1e3', '3,00', '1.0000001', 'all', '--1'])(
    'error: %s is no amount',
    async (amount) => {
      const { accountId, ask } = await customer()
      const outcome = await run('credit', accountId, amount, '--reason', 'x')
      expect(outcome.exitCode).toBeGreaterThan(0)
      expect((await ask('/balance/transactions')).body).toEqual([])
    },
  )

  test('error: without a reason', async () => {
    const { accountId } = await customer()
    expect(await run('credit', accountId, '3')).toEqual(refused('Say why with --reason'))
  })

  test('error: an account that is not there', async () => {
    expect(await run('credit', 'nobody@rackmail.net', '3', '--reason', 'x')).toEqual(
      refused('There is no account nobody@rackmail.net'),
    )
  })
})

describe('accounts', () => {
  test('default: the list finds by a part of the address', async () => {
    const { email, accountId } = await customer(7_000_000n)
    const found = await json('account', 'list', '--search', email.toUpperCase())
    expect(found).toEqual([
      {
        id: accountId,
        email,
        balance: '7.00',
        held: '0.00',
        live_vps: 0,
        suspended: false,
        created_at: service.clock.now().toISOString(),
      },
    ])
    expect((await run('account', 'list', '--search', '%')).stdout).toBe('None.')
  })

  test('behavior: one account, with its VPS and its transactions', async () => {
    const { token, email, accountId } = await customer(20_000_000n)
    const order = await service.ask('POST', '/orders', {
      token,
      body: { product: 'nano', os_id: 1, hostname: 'web' },
    })
    const shown = await json('account', 'show', email)
    expect(shown).toMatchObject({ id: accountId, balance: '17.00', held: '3.00', owed: '0.00' })
    expect(shown.services).toMatchObject([{ id: order.body.service_id, hostname: 'web', product: 'nano' }])
    expect(shown.transactions.map(({ kind }: { kind: string }) => kind)).toEqual(['hold', 'adjustment'])
    const { stdout } = await run('account', 'show', accountId)
    expect(stdout).toContain('Balance 17.00 USD, held 3.00, owed 0.00')
    expect(stdout).toContain(order.body.service_id)
  })

  test('behavior: a suspended account is refused until it is no longer suspended', async () => {
    const { email, ask } = await customer()
    const first = await json('account', 'suspend', email)
    service.clock.advance(60_000)
    expect(await json('account', 'suspend', email)).toEqual(first)
    const answer = await ask('/balance')
    expect(answer.status).toBe(403)
    expect(answer.body.code).toBe('account_suspended')
    expect((await json('account', 'unsuspend', email)).suspended_at).toBeNull()
    expect((await ask('/balance')).status).toBe(200)
  })
})

describe('reviews', () => {
  async function review(body: string) {
    const { accountId } = await customer()
    const id = service.services.newId('review')
    await service.services.db.query(
      `insert into review (id, account_id, author, rating, body, created_at) values ($1, $2, 'Ada', 5, $3, $4)`,
      [id, accountId, body, service.clock.now()],
    )
    return id
  }
  const shown = async () =>
    ((await service.ask('GET', '/reviews')).body.reviews as { id: string }[]).map(({ id }) => id)
  const listed = async (...words: string[]) =>
    ((await json('review', 'list', ...words)) as { id: string }[]).map(({ id }) => id)

  test('default: a review is shown once it is approved, and no more once it is rejected', async () => {
    const id = await review('In the machine within seconds')
    expect(await listed()).toContain(id)
    expect(await shown()).not.toContain(id)
    expect(await json('review', 'approve', id)).toEqual({ id, status: 'approved' })
    expect(await shown()).toContain(id)
    expect(await listed()).not.toContain(id)
    expect(await listed('--status', 'approved')).toContain(id)
    await json('review', 'reject', id)
    expect(await shown()).not.toContain(id)
    expect(await listed('--status', 'rejected')).toContain(id)
  })

  test('behavior: what a customer wrote cannot steer the terminal', async () => {
    await review('Good\u001b[2J\nrev_fake  approved')
    const { stdout } = await run('review', 'list')
    expect(stdout).not.toContain('\u001b')
    expect(stdout.split('\n').filter((line) => line.startsWith('rev_fake'))).toEqual([])
  })

  test('error: an unknown review, an unknown status', async () => {
    expect(await run('review', 'approve', 'rev_none')).toEqual(refused('There is no review rev_none'))
    expect(await run('review', 'list', '--status', 'good')).toEqual(refused('--status is one of'))
  })
})

describe('plans', () => {
  const catalogFile = async (name: string, text: string) => {
    const path = join(folder, name)
    await writeFile(path, text)
    return path
  }

  test('default: the plans that are sold', async () => {
    const { region, plans } = await json('plan', 'list')
    expect(region).toBe(defaultCatalog.region)
    expect(plans).toEqual(defaultCatalog.plans)
  })

  test('behavior: a catalog file that holds is shown', async () => {
    const path = await catalogFile('good.json', JSON.stringify(defaultCatalog))
    const { exitCode, stdout } = await run('plan', 'check', path)
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`${path} holds.`)
  })

  test('error: a catalog file says what is wrong with it', async () => {
    const [plan] = defaultCatalog.plans
    const wrong = {
      region: 'local',
      plans: [
        { ...plan, price: '-1' },
        { ...plan, vcpus: 0 },
      ],
    }
    const path = await catalogFile('wrong.json', JSON.stringify(wrong))
    const outcome = await run('plan', 'check', path)
    expect(outcome).toEqual(refused('plans.0.price: '))
    expect(outcome.stderr).toContain('plans.1.vcpus: ')
    expect(await run('plan', 'check', await catalogFile('none.json', '{'))).toEqual(refused('is not JSON'))
    expect(await run('plan', 'check', join(folder, 'missing.json'))).toEqual(refused('no such file'))
  })
})

describe('chain rescan', () => {
  test('default: from a block that was looked through', async () => {
    const { db } = service.services
    await db.query(
      `insert into chain_cursor (chain_id, genesis_hash, scanned_number, scanned_hash, head_number, safe_number,
         finalized_number, witnessed_number) values (137, '0x0', 500, '0x1', 500, 490, 480, 430)`,
    )
    expect(await json('chain', 'rescan', 'polygon', '20')).toEqual({ network: 'polygon', from: 20, to: 500 })
    expect(await json('chain', 'rescan', 'polygon', '30')).toMatchObject({ from: 30 })
    const { rows } = await db.query('select rescan_from::integer from chain_cursor where chain_id = 137')
    expect(rows).toEqual([{ rescan_from: 20 }])
  })

  test.each([
    [['solana', '5'], 'is not one of the networks'],
    [['polygon', 'five'], 'is not a block number'],
    [['polygon', '0'], 'is not a block number'],
    [['polygon', '501'], 'still to come'],
    [['ethereum', '5'], 'No chain ethereum was ever looked at'],
  ])('error: %j', async (words, why) => {
    expect(await run('chain', 'rescan', ...words)).toEqual(refused(why))
  })
})
