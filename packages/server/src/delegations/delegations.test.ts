import { operationList } from '@coinrack/contract/index.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendQueuedMail } from '../platform/queue-mail.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { makeLink, mayStayOpen, takeLink } from '../vps/console/console-links.ts'
import { endExpiredDelegations } from './end-expired.ts'

const DAY_MS = 86_400_000

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_REGISTER: '1000/min', COINRACK_RATE_LOGIN: '1000/min' },
  })
})
afterAll(() => service.close())
beforeEach(() => {
  service.mails.length = 0
})

type Who = Awaited<ReturnType<TestService['customer']>>
const ask = (who: Who, method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
  service.ask(method, path, { token: who.token, ...(body && { body }) })
const events = async (who: Who) =>
  (await ask(who, 'GET', '/events')).body.map(({ type }: { type: string }) => type) as string[]

/** An owner with a machine, a friend, and the token of the mail. */
async function invited(about: object = {}) {
  const owner = await service.customer(20_000_000n)
  const friend = await service.customer()
  const { body: order } = await ask(owner, 'POST', '/orders', { product: 'nano', os_id: 1 })
  await service.reconcile()
  const id = order.service_id as string
  const invite = await ask(owner, 'POST', `/services/${id}/delegations`, {
    email: 'Friend@rackmail.net',
    ...about,
  })
  expect(invite.status).toBe(200)
  await sendQueuedMail(service.services)
  const token = /^[\w-]{32}$/m.exec(service.mails.at(-1)!.text)![0]
  return {
    owner,
    friend,
    id,
    hostname: order.service.hostname as string,
    token,
    delegation: invite.body.delegation,
  }
}
async function delegated(about: object = {}) {
  const all = await invited(about)
  const { body, status } = await ask(all.friend, 'POST', '/delegations/accept', { token: all.token })
  expect([status, body]).toEqual([200, { delegation_id: all.delegation.id, service_id: all.id }])
  return all
}

describe('from invitation to end', () => {
  test('default: invited by mail, accepted once, shown to both, revoked at once, both told', async () => {
    const { owner, friend, id, hostname, token, delegation } = await invited()
    expect(delegation).toMatchObject({ email: 'friend@rackmail.net', status: 'invited', expires_at: null })
    expect(service.mails.at(-1)).toMatchObject({ to: 'friend@rackmail.net' })
    expect((await ask(friend, 'GET', `/services/${id}`)).body.code).toBe('not_owner')

    const other = await service.customer()
    const accepts = await Promise.all(
      [friend, other].map((who) => ask(who, 'POST', '/delegations/accept', { token })),
    )
    expect(accepts.map(({ body }) => body.code ?? 'ok').toSorted()).toEqual(['invalid_invitation', 'ok'])
    const [winner] = accepts[0]!.status === 200 ? [friend] : [other]
    expect((await ask(winner!, 'GET', '/delegations/received')).body).toMatchObject([
      { id: delegation.id, service_id: id, hostname, status: 'active' },
    ])
    expect((await ask(owner, 'GET', '/delegations')).body).toMatchObject([
      { id: delegation.id, status: 'active' },
    ])
    expect((await ask(winner!, 'GET', `/services/${id}`)).status).toBe(200)
    expect(await events(winner!)).toEqual(['delegation.accepted'])
    expect((await events(owner)).at(-1)).toBe('delegation.accepted')

    service.mails.length = 0
    expect((await ask(owner, 'DELETE', `/delegations/${delegation.id}`)).status).toBe(200)
    expect((await ask(winner!, 'GET', `/services/${id}`)).body.code).toBe('not_owner')
    expect((await ask(winner!, 'GET', '/delegations/received')).body).toEqual([])
    expect(await events(winner!)).toEqual(['delegation.accepted', 'delegation.revoked'])
    await sendQueuedMail(service.services)
    expect(service.mails.map(({ subject }) => subject.replace(/^\S+@\S+/, 'they'))).toEqual(
      expect.arrayContaining([
        `they can no longer operate ${hostname}`,
        `You can no longer operate ${hostname}`,
      ]),
    )
  })

  test('behavior: it ends by itself at its time', async () => {
    const until = new Date(service.clock.now().getTime() + 3 * DAY_MS)
    const { owner, friend, id } = await delegated({ expires_at: until.toISOString() })
    service.clock.advance(3 * DAY_MS - 1)
    expect((await ask(friend, 'GET', `/services/${id}`)).status).toBe(200)
    service.clock.advance(1)
    expect((await ask(friend, 'GET', `/services/${id}`)).body.code).toBe('not_owner')
    expect((await ask(owner, 'GET', '/delegations')).body[0].status).toBe('expired')
  })

  test('default: when its time is over both are told, once; of what was revoked or never accepted, nobody', async () => {
    const expires_at = new Date(service.clock.now().getTime() + DAY_MS).toISOString()
    const { owner, friend, hostname } = await delegated({ expires_at })
    const revoked = await delegated({ expires_at })
    await ask(revoked.owner, 'DELETE', `/delegations/${revoked.delegation.id}`)
    const waiting = await invited({ expires_at })
    await sendQueuedMail(service.services)
    service.mails.length = 0
    service.clock.advance(DAY_MS - 1)
    await endExpiredDelegations(service.services)
    expect(await events(friend)).toEqual(['delegation.accepted'])
    service.clock.advance(1)
    await Promise.all(Array.from({ length: 4 }, () => endExpiredDelegations(service.services)))
    await endExpiredDelegations(service.services)
    expect(await events(friend)).toEqual(['delegation.accepted', 'delegation.expired'])
    expect((await events(owner)).at(-1)).toBe('delegation.expired')
    expect(await events(revoked.friend)).toEqual(['delegation.accepted', 'delegation.revoked'])
    expect(await events(waiting.owner)).not.toContain('delegation.expired')
    await sendQueuedMail(service.services)
    const mails = service.mails.filter(({ subject }) =>
      subject.endsWith(` can no longer operate ${hostname}`),
    )
    expect(mails.map(({ subject }) => subject.startsWith('You ')).sort()).toEqual([false, true])
    for (const { text } of mails) expect(text).toContain(`over at ${expires_at}`)
  })

  test('behavior: whom it was given to may give it back', async () => {
    const { friend, id, delegation } = await delegated()
    expect((await ask(friend, 'DELETE', `/delegations/${delegation.id}`)).status).toBe(200)
    expect((await ask(friend, 'GET', `/services/${id}`)).body.code).toBe('not_owner')
  })

  test("error: a token that is late, revoked, nobody's, or for the own service", async () => {
    const late = await invited()
    service.clock.advance(7 * DAY_MS)
    const revoked = await invited()
    await ask(revoked.owner, 'DELETE', `/delegations/${revoked.delegation.id}`)
    const own = await invited()
    for (const [who, token] of [
      [late.friend, late.token],
      [revoked.friend, revoked.token],
      [own.owner, own.token],
      [own.friend, 'nonsense'],
    ] as const) {
      expect((await ask(who, 'POST', '/delegations/accept', { token })).body.code).toBe('invalid_invitation')
    }
    expect((await ask(own.friend, 'POST', '/delegations/accept', { token: own.token })).status).toBe(200)
  })

  test('error: an expiry that is past, no address, an eleventh', async () => {
    const { owner, id } = await invited()
    const invite = (about: object) =>
      ask(owner, 'POST', `/services/${id}/delegations`, { email: 'a@b.net', ...about })
    expect((await invite({ expires_at: service.clock.now().toISOString() })).status).toBe(422)
    expect((await invite({ email: 'nobody' })).status).toBe(422)
    const all = await Promise.all(Array.from({ length: 11 }, () => invite({})))
    expect(all.filter(({ body }) => body.code === 'delegation_limit')).toHaveLength(2)
  })
})

describe('what a delegate may', () => {
  const allowed = [
    'getOperation',
    'getVpsMetrics',
    'getVpsStatus',
    'openConsole',
    'powerVps',
    'reinstallVps',
    'revokeDelegation',
    'setHostname',
    'setRdns',
  ]

  test('default: these operations, and no other', () => {
    expect(
      operationList
        .filter(([, op]) => op.delegable)
        .map(([name]) => name)
        .toSorted(),
    ).toEqual(allowed)
  })

  test('behavior: never the root password, nor what is paid; the owner gets both', async () => {
    const { owner, friend, id } = await delegated()
    for (let n = 0; n < 2; n++) {
      const { body } = await ask(friend, 'GET', `/services/${id}`)
      expect(body).toMatchObject({ id, ssh_ready: true, password_available: true })
      expect(body).not.toHaveProperty('root_password')
      expect(body).not.toHaveProperty('billing')
    }
    const { body } = await ask(owner, 'GET', `/services/${id}`)
    expect(body).toHaveProperty('root_password')
    expect(body).toHaveProperty('billing.price')
  })

  test('behavior: work that a delegate asks for is seen by both', async () => {
    const { owner, friend, id } = await delegated()
    const { body } = await ask(friend, 'POST', `/services/${id}/power`, { action: 'stop' })
    expect(body.service).not.toHaveProperty('billing')
    await service.reconcile()
    for (const who of [owner, friend]) {
      expect((await ask(who, 'GET', `/operations/${body.operation.id}`)).body.status).toBe('succeeded')
    }
    const stranger = await service.customer()
    expect((await ask(stranger, 'GET', `/operations/${body.operation.id}`)).body.code).toBe('not_owner')
  })

  test('behavior: a reinstall gives the new root password to the owner alone', async () => {
    const { owner, friend, id } = await delegated()
    await ask(owner, 'GET', `/services/${id}`)
    const { status } = await ask(friend, 'POST', `/services/${id}/reinstall`, { os_id: 1, confirm: 'DELETE' })
    expect(status).toBe(200)
    await service.reconcile()
    expect((await ask(friend, 'GET', `/services/${id}`)).body).not.toHaveProperty('root_password')
    expect((await ask(owner, 'GET', `/services/${id}`)).body).toHaveProperty('root_password')
  })

  test("behavior: a console of a delegate ends with the right, the owner's goes on", async () => {
    const { owner, friend, id, delegation } = await delegated()
    const { db } = service.services
    const open = async ({ token, accountId }: typeof owner) => {
      const tokenId = (await ask({ token, accountId }, 'GET', '/account')).body.token.id
      const { secret } = await makeLink(db, service.services, {
        vpsId: id,
        type: 'serial',
        accountId,
        tokenId,
      })
      return secret
    }
    const taken = (await takeLink(service.services, await open(friend)))!
    const owners = (await takeLink(service.services, await open(owner)))!
    const unused = await open(friend)
    expect(await mayStayOpen(service.services, taken)).toBe(true)
    await ask(owner, 'DELETE', `/delegations/${delegation.id}`)
    expect(await mayStayOpen(service.services, taken)).toBe(false)
    expect(await mayStayOpen(service.services, owners)).toBe(true)
    expect(await takeLink(service.services, unused)).toBeUndefined()
  })
})
