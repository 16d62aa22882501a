import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  exampleEmail,
  exampleFriend,
  examplePassword,
  exampleSshKey,
  exampleWallet,
  exampleWebhook,
} from '@coinrack/contract/examples.ts'
import { idPrefixes } from '@coinrack/contract/ids.ts'
import { type OperationName, operationList, operations } from '@coinrack/contract/index.ts'
import {
  type Operation,
  type Resource,
  resourceInput,
  type Scope,
  toolName,
} from '@coinrack/contract/operation.ts'
import { makeToken } from '@coinrack/server/account/token.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { wireSchema } from '@coinrack/server/transport/wire-schema.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newSshKey } from './support/new-ssh-key.ts'

/*
 * Walks the contract: whatever operation there is, by REST and as a tool, it answers only whom it may.
 */

const YEAR_MS = 366 * 86_400_000
const ALL: Scope[] = ['read', 'order', 'manage', 'sandbox', 'billing', 'account']
const generous = Object.fromEntries(
  [
    'DEFAULT',
    'ORDERS',
    'TOPUPS',
    'PURCHASES',
    'PASSWORD_RESETS',
    'REINSTALLS',
    'CONSOLE',
    'SANDBOXES',
    'REGISTER',
    'LOGIN',
    'REGISTER_TOTAL',
    'LOGIN_TOTAL',
    'BAD_TOKENS',
  ].map((name) => [`COINRACK_RATE_${name}`, '1000000/min']),
)

let service: TestService
/** An account that has one resource of each kind, and one that has nothing. */
let owner: { token: string; accountId: string }
let stranger: { token: string; accountId: string }
/** The account that the owner lets operate its machine. */
let delegate: { token: string; accountId: string }
const owned = {} as Record<Resource, string>

/** How the owner gets one of each: a resource that is not here does not compile. */
const makeResource: Record<Resource, () => Promise<string>> = {
  invoice: async () => {
    const { body } = await service.ask('POST', '/balance/topup', { token: owner.token, body: { amount: 3 } })
    const { id, payment_options } = body.invoice
    const { chain_id, token, token_address, address } = payment_options[0]
    await service.services.db.query(
      `insert into deposit (id, chain_id, tx_hash, ordinal, log_index, block_number, block_hash, token, token_address, address,
         account_id, invoice_id, amount, status, final, seen_at, credited_at)
       values ('dep_0', $1, '0x0', 0, 0, 0, '0x0', $2, $3, $4, $5, $6, 3000000, 'credited', true, $7, $7)`,
      [chain_id, token, token_address, address.toLowerCase(), owner.accountId, id, service.clock.now()],
    )
    await service.services.db.query(`update invoice set status = 'paid', paid_at = $2 where id = $1`, [
      id,
      service.clock.now(),
    ])
    return id
  },
  order: async () => (await order()).id,
  service: async () => {
    const { service_id } = await order()
    await service.reconcile()
    return service_id
  },
  operation: async () =>
    (
      await service.ask('POST', `/services/${owned.service}/power`, {
        token: owner.token,
        body: { action: 'start' },
      })
    ).body.operation.id,
  token: async () =>
    (await service.ask('POST', '/tokens', { token: owner.token, body: { scopes: ['read'] } })).body.details
      .id,
  ssh_key: async () =>
    (
      await service.ask('POST', '/ssh-keys', {
        token: owner.token,
        body: { public_key: newSshKey() },
      })
    ).body.ssh_key.id,
  delegation: async () =>
    (
      await service.ask('POST', `/services/${owned.service}/delegations`, {
        token: owner.token,
        body: { email: 'friend@rackmail.net' },
      })
    ).body.delegation.id,
  ticket: async () =>
    (await service.ask('POST', '/tickets', { token: owner.token, body: { subject: 'a', body: 'b' } })).body
      .id,
  sandbox: async () => {
    const { id } = (
      await service.ask('POST', '/sandboxes', { token: owner.token, body: { timeout: 86_400 } })
    ).body
    // The task and the file that the examples are about.
    const { task_id, path } = { ...operations.getTask.example, ...operations.readFile.example }
    await service.channel.tasks.start(id, task_id, { run: { command: 'true' } })
    await service.ask('PUT', `/sandboxes/${id}/files`, {
      token: owner.token,
      body: { path, content: 'Hello' },
    })
    return id
  },
  snapshot: async () =>
    (await service.ask('POST', `/sandboxes/${owned.sandbox}/snapshots`, { token: owner.token, body: {} }))
      .body.snapshot.id,
  refund: async () => {
    const id = service.services.newId('refund')
    await service.services.db.query(
      `with held as (
         insert into hold (id, account_id, amount, purpose, created_at) values ($1, $2, 1, $1, $3) returning id
       )
       insert into refund (id, account_id, chain_id, token, token_address, address, amount, signature, hold_id, cancel_until, created_at)
       select $1, $2, 8453, 'USDC', '0x0', '0x0', 1, $1, id, $3, $3 from held`,
      [id, owner.accountId, service.clock.now()],
    )
    return id
  },
  approval: async () => {
    const { body } = await service.ask('POST', '/tokens', {
      token: owner.token,
      body: { scopes: ['sandbox'], budget: { approve_above: { per_call: 0 } } },
    })
    return (await service.ask('POST', '/sandboxes', { token: body.token, body: {} })).body.approval_id
  },
  template: async () => {
    const snapshot = await service.ask('POST', `/sandboxes/${owned.sandbox}/snapshots`, {
      token: owner.token,
      body: {},
    })
    const body = { name: 'kept', snapshot_id: snapshot.body.snapshot.id }
    return (await service.ask('POST', '/sandbox-templates', { token: owner.token, body })).body.template.id
  },
  webhook: async () =>
    (await service.ask('POST', '/webhooks', { token: owner.token, body: { url: 'https://rackmail.net/' } }))
      .body.webhook.id,
}
const order = async () =>
  (await service.ask('POST', '/orders', { token: owner.token, body: { product: 'nano', os_id: 1 } })).body

beforeAll(async () => {
  service = await startTestService({ features: ['guestCommands'], env: generous })
  owner = await service.customer(100_000_000n)
  stranger = await service.customer()
  for (const resource of Object.keys(makeResource) as Resource[])
    owned[resource] = await makeResource[resource]()
  delegate = await service.customer()
  await service.services.db.query('update delegation set delegate_id = $2, accepted_at = $3 where id = $1', [
    owned.delegation,
    delegate.accountId,
    service.clock.now(),
  ])
})
afterAll(() => service.close())

interface Outcome {
  status: number
  code: string | undefined
}
type Ask = (
  name: OperationName,
  op: Operation,
  about: { token?: string; id?: string; input?: object },
) => Promise<Outcome>

/** Input that the path names stands in the path alone. */
const pathOf = (op: Operation, id: string, input: object) =>
  op.path.replaceAll(/{(\w+)}/g, (_all, name: string) =>
    encodeURIComponent(name === 'id' ? id : String((input as Record<string, unknown>)[name] ?? '')),
  )

const byRest: Ask = async (_name, op, { token, id, input = {} }) => {
  const path = pathOf(op, id ?? '', input)
  const query = op.method === 'GET' ? `?${new URLSearchParams(input as Record<string, string>)}` : ''
  const { status, body } = await service.ask(op.method, path + query, {
    ...(token === undefined ? {} : { token }),
    ...(op.method === 'GET' ? {} : { body: input }),
  })
  return { status, code: body.code }
}
const statusOf = { unauthorized: 401, not_found: 404 } as Record<string, number>
const asTool: Ask = async (name, op, { token, id, input = {} }) => {
  const given = op.resource ? { ...input, [resourceInput(op.resource)]: id } : input
  const { isError, body } = await service.tool(toolName(name), given as Record<string, unknown>, {
    ...(token === undefined ? {} : { token }),
  })
  return { status: isError ? (statusOf[body.code] ?? 0) : 200, code: isError ? body.code : undefined }
}
const ways: [string, Ask][] = [
  ['by REST', byRest],
  ['as a tool', asTool],
]

/** A caller's own values, in place of those that stand in examples: the service refuses those. */
const ownValues = new Map<unknown, string>([
  [exampleEmail, 'agent@rackmail.net'],
  [exampleFriend, 'friend@rackmail.net'],
  [exampleWebhook, 'https://hooks.rackmail.net/'],
  [examplePassword, 'a long password of a test'],
  [exampleWallet, '0x52908400098527886E0F7030069857D2E4169EE7'],
  [exampleSshKey, newSshKey()],
])

/** The example of the contract, without the identifier, and with a caller's own values. */
function exampleOf(op: Operation): object {
  const {
    [op.resource ? resourceInput(op.resource) : '']: _id,
    wait: _wait,
    timeout: _timeout,
    ...rest
  } = op.example
  // A watcher answers with the first change, and nothing changes here.
  const given = op === operations.watchFolder ? { ...rest, timeout: 1 } : rest
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, ownValues.get(value) ?? value]),
  )
}
/** The example once for each text in the schema of an input, with a NUL in that text. */
function textsOf(op: Operation): { path: string[]; input: object }[] {
  const { properties } = wireSchema(op.input) as { properties: Record<string, Schema> }
  return Object.entries(properties).flatMap(([name, schema]) =>
    badValues(schema).map(({ path, value }) => ({
      path: [name, ...path],
      input: { ...exampleOf(op), [name]: value },
    })),
  )
}

interface Schema {
  type?: string
  enum?: unknown[]
  format?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  allOf?: Schema[]
}

/** Values of a schema, each with a NUL in another of its texts. */
function badValues(schema: Schema): { path: string[]; value: unknown }[] {
  const { properties = {}, items, additionalProperties: others, anyOf = [], allOf = [] } = schema
  const inside = (name: string, part: Schema, wrap: (value: unknown) => unknown) =>
    badValues(part).map(({ path, value }) => ({ path: [name, ...path], value: wrap(value) }))
  return [
    ...(schema.type === 'string' ? [{ path: [], value: 'a\u0000b' }] : []),
    ...Object.entries(properties).flatMap(([name, part]) =>
      inside(name, part, (value) => ({ [name]: value })),
    ),
    ...(items ? inside('[]', items, (value) => [value]) : []),
    ...(typeof others === 'object'
      ? [...inside('{}', others, (value) => ({ a: value })), { path: ['key'], value: { 'a\u0000b': 'x' } }]
      : []),
    ...[...anyOf, ...allOf].flatMap(badValues),
  ]
}
const resourceOf = (op: Operation) => (op.resource ? { id: owned[op.resource] } : {})

async function newToken(
  change: string,
  values: unknown[] = [],
): Promise<{ token: string; accountId: string }> {
  const customer = await service.customer()
  await service.services.db.query(change.replace('ACCOUNT', `'${customer.accountId}'`), values)
  return customer
}

const guarded = operationList.filter(([, op]) => op.access !== 'public')
const open = operationList.filter(([, op]) => op.access === 'public')

describe.each(ways)('%s', (way, ask) => {
  describe.each(guarded)('%s', (name, op) => {
    const about = (token?: string) => ({
      input: exampleOf(op),
      ...resourceOf(op),
      ...(token === undefined ? {} : { token }),
    })

    test('error: no token', async () => {
      const { status, code } = await ask(name, op, about())
      if (op.openAsTool && way === 'as a tool') expect(status).toBe(200)
      else expect(code).toBe('unauthorized')
    })

    test.each([
      ['malformed', () => 'not-a-token'],
      ['empty', () => ''],
      ['well-formed but unknown', () => makeToken(service.services.random)],
    ])('error: a token that is %s', async (_what, make) => {
      expect(await ask(name, op, about(make()))).toEqual({ status: 401, code: 'unauthorized' })
    })

    test('error: a revoked token', async () => {
      const { token } = await newToken('update token set revoked_at = now() where account_id = ACCOUNT')
      expect(await ask(name, op, about(token))).toEqual({ status: 401, code: 'unauthorized' })
    })

    test('error: an expired token', async () => {
      const { token } = await newToken('update token set expires_at = $1 where account_id = ACCOUNT', [
        service.clock.now(),
      ])
      expect(await ask(name, op, about(token))).toEqual({ status: 401, code: 'unauthorized' })
    })

    // Any token may be refreshed and end itself, whatever it may do else.
    if (op.access !== 'any')
      test('error: a token without the scope, of the owner', async () => {
        const { rows } = await service.services.db.query(
          'select scopes from token where account_id = $1 and parent_id is null',
          [owner.accountId],
        )
        expect(rows[0]!.scopes).toEqual(ALL)
        const scopes = ALL.filter((scope) => scope !== op.access)
        const change = (to: Scope[]) =>
          service.services.db.query(
            'update token set scopes = $2 where account_id = $1 and parent_id is null',
            [owner.accountId, to],
          )
        await change(scopes)
        const outcome = await ask(name, op, about(owner.token))
        await change(ALL)
        expect(outcome.code).toBe('scope_missing')
      })

    test('error: a suspended account', async () => {
      const suspend = (at: Date | null) =>
        service.services.db.query('update account set suspended_at = $2 where id = $1', [owner.accountId, at])
      await suspend(service.clock.now())
      const outcome = await ask(name, op, about(owner.token))
      await suspend(null)
      expect(outcome.code).toBe('account_suspended')
    })
  })

  const aboutResources = guarded.filter(([, op]) => op.resource)
  describe.each(aboutResources)('%s, of a resource', (name, op) => {
    const prefix = idPrefixes[op.resource!]
    test.each([
      ['unknown', `${prefix}_${'0'.repeat(26)}`],
      ['of the wrong form', 'x'],
      ['of the wrong kind', `acc_${'0'.repeat(26)}`],
      ['with a quote', `${prefix}_' or 1=1 --`],
      ['of a million characters', 'x'.repeat(way === 'by REST' ? 250 : 1_000_000 - 200)],
    ])('error: an id that is %s', async (_what, id) => {
      const about = { token: owner.token, id, input: exampleOf(op) }
      expect(await ask(name, op, about)).toEqual({ status: 404, code: 'not_found' })
    })

    test('error: of another account', async () => {
      const about = { token: stranger.token, id: owned[op.resource!], input: exampleOf(op) }
      expect((await ask(name, op, about)).code).toBe('not_owner')
    })

    test(`${op.delegable ? 'default' : 'error'}: by a delegate`, async () => {
      const about = { token: delegate.token, id: owned[op.resource!], input: { no_such_field: '?' } }
      // Past the owner's door the input is looked at.
      expect((await ask(name, op, about)).code).toBe(op.delegable ? 'invalid_input' : 'not_owner')
    })

    test('error: of another account, before the input is looked at', async () => {
      const about = { token: stranger.token, id: owned[op.resource!], input: { no_such_field: '?' } }
      expect((await ask(name, op, about)).code).toBe('not_owner')
    })

    test('error: an unknown id, before the input is looked at', async () => {
      const about = {
        token: stranger.token,
        id: `${prefix}_${'0'.repeat(26)}`,
        input: { no_such_field: '?' },
      }
      expect((await ask(name, op, about)).code).toBe('not_found')
    })
  })

  test.each(guarded)('error: %s with a field that nobody knows', async (name, op) => {
    const about = { token: owner.token, ...resourceOf(op), input: { ...exampleOf(op), no_such_field: '?' } }
    expect((await ask(name, op, about)).code).toBe('invalid_input')
  })

  test.each(operationList)('error: %s with the character NUL in any text', async (name, op) => {
    const id = op.resource && resourceInput(op.resource)
    for (const { path, input } of textsOf(op).filter(({ path }) => path[0] !== id)) {
      const { code } = await ask(name, op, { token: owner.token, ...resourceOf(op), input })
      const text = [...path, code].join(' ')
      if (op.anyText?.includes(path[0]!)) expect(text).not.toMatch(/ internal$/)
      else expect(text).toMatch(/ (invalid_input|not_found)$/)
    }
  })

  test.each(open)('default: %s needs no token', async (name, op) => {
    const { code } = await ask(name, op, { input: exampleOf(op) })
    // Whatever else it may find wrong with the example, it is not the caller.
    expect([
      ...[undefined, 'email_taken', 'invalid_credentials', 'invalid_code', 'invalid_wallet_login'],
      // The fake chain takes no signatures.
      ...(op.x402 ? ['payment_method_unavailable'] : []),
    ]).toContain(code)
  })

  test.each(open.filter(([, op]) => !op.x402))(
    'behavior: %s takes no notice of a bad token',
    async (name, op) => {
      expect((await ask(name, op, { input: exampleOf(op), token: 'nonsense' })).code).not.toBe('unauthorized')
    },
  )

  test.each(open.filter(([, op]) => op.x402))(
    'error: %s with a bad token is no purchase',
    async (name, op) => {
      expect((await ask(name, op, { input: exampleOf(op), token: 'nonsense' })).code).toBe('unauthorized')
    },
  )

  test.each(guarded.filter(([, op]) => op.effect === 'read'))(
    'default: %s answers its owner',
    async (name, op) => {
      const about = { token: owner.token, ...resourceOf(op), input: exampleOf(op) }
      expect(await ask(name, op, about)).toEqual({ status: 200, code: undefined })
    },
  )
})

test('behavior: HEAD reads what changes nothing, and does nothing else', async () => {
  const readable = new Map(operationList.flatMap(([, op]) => (op.effect === 'read' ? [[op.path, op]] : [])))
  for (const [, op] of operationList) {
    const path = pathOf(op, op.resource ? owned[op.resource] : '', op.example)
    const read = readable.get(op.path)
    const query = new URLSearchParams(read && (exampleOf(read) as Record<string, string>))
    const { status } = await service.ask('HEAD', `${path}?${query}`, { token: owner.token })
    expect([op.path, status]).toEqual([op.path, read ? 200 : 405])
  }
  await service.reconcile()
  const { body } = await service.ask('GET', `/services/${owned.service}`, { token: owner.token })
  expect(body).toHaveProperty('root_password')
})

test('behavior: tokens live a year, to the second', async () => {
  const { token } = await service.customer()
  service.clock.advance(YEAR_MS - 86_400_000 - 1)
  expect((await service.ask('GET', '/account', { token })).status).toBe(200)
  service.clock.advance(1)
  expect((await service.ask('GET', '/account', { token })).status).toBe(401)
  service.clock.advance(86_400_000 - YEAR_MS)
})

describe('every operation is shown', () => {
  const document = JSON.parse(readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8'))

  test.each(operationList)('%s in openapi.json', (name, op) => {
    for (const path of [op.path, ...(op.aliases ?? [])]) {
      const described = document.paths[path][op.method.toLowerCase()]
      expect(described.operationId.replace('Alias', '')).toBe(name)
      expect(described.security).toEqual(op.access === 'public' ? [] : [{ token: [] }])
      expect(Object.keys(described.responses)).toEqual(
        expect.arrayContaining(
          op.access === 'public' ? ['200', '422', '429'] : ['200', '401', '403', '422', '429'],
        ),
      )
    }
  })

  test('and nothing else', () => {
    const described = Object.values(document.paths as Record<string, object>).flatMap(Object.keys)
    const declared = operationList.flatMap(([, op]) => [op.path, ...(op.aliases ?? [])])
    expect(described).toHaveLength(declared.length)
  })

  test('behavior: every alias answers as its operation does', async () => {
    for (const [, op] of operationList) {
      for (const alias of op.aliases ?? []) {
        const { status, body } = await service.ask(op.method, alias, { body: {} })
        expect([status, body.code]).toEqual([422, 'invalid_input'])
      }
    }
  })
})
