import { hostModes } from '@coinrack/compute/fake/modes.ts'
import { expect, test } from 'vitest'
import { expectBooksToBalance } from '../ledger/testing.ts'
import { startTestService } from '../process/testing.ts'

/* The whole suite runs in each mode by `npm run test:hosts`; here is one life in each. */

test.each(hostModes)(
  'default: a VPS lives from its order to its cancellation on hosts that are %s, and is paid for once',
  async (mode) => {
    const service = await startTestService({ mode })
    try {
      const { token, accountId } = await service.customer(20_000_000n)
      const ask = async (method: 'GET' | 'POST', path: string, body?: object) => {
        const reply = await service.ask(method, path, { token, ...(body && { body }) })
        expect(reply).toMatchObject({ status: 200 })
        await service.reconcile()
        return reply.body
      }
      const order = { product: 'nano', os_id: 1, hostname: 'web', billing_cycle: 'monthly' }
      const { service_id: id } = await ask('POST', '/orders', order)
      const path = `/services/${id}`
      const status = () => ask('GET', `${path}?reveal=false`)
      const balance = async () => Number((await ask('GET', '/balance')).balance)
      expect(await status()).toMatchObject({ status: 'active', ssh_ready: true })
      expect(await balance()).toBe(17)

      await ask('POST', `${path}/power`, { action: 'reboot' })
      expect(service.driver.machines.get(id)).toMatchObject({ starts: 2, boot: 1 })
      const { snapshot } = await ask('POST', `${path}/snapshots`)
      expect(await ask('GET', `${path}/snapshots`)).toMatchObject([{ id: snapshot.id, status: 'ready' }])
      await ask('POST', `${path}/snapshots/${snapshot.id}/restore`)
      await ask('POST', `${path}/power`, { action: 'stop' })
      expect(await status()).toMatchObject({ status: 'stopped' })
      await ask('POST', `${path}/change-plan`, { target_plan: 'micro', confirm: true })
      await ask('POST', `${path}/power`, { action: 'start' })
      expect(await status()).toMatchObject({ status: 'active', ssh_ready: true, product: 'micro' })
      await ask('POST', `${path}/reinstall`, { os_id: 2, confirm: true })
      expect(await status()).toMatchObject({ status: 'active', ssh_ready: true, os: { os_id: 2 } })
      expect([...service.driver.machines.keys()]).toEqual([id])

      const spent = 20 - (await balance())
      const { credited } = await ask('POST', `${path}/cancel`, { mode: 'immediate', confirm: true })
      expect(await balance()).toBeCloseTo(20 - spent + Number(credited))
      expect(await status()).toMatchObject({ status: 'deleted' })
      expect([...service.driver.machines.keys()]).toEqual([])
      const { rows } = await service.services.db.query(
        `select kind, count(*)::int from ledger_transaction where account_id = $1 group by kind order by kind`,
        [accountId],
      )
      expect(rows).toEqual([
        { kind: 'adjustment', count: 1 },
        { kind: 'charge', count: 2 },
        { kind: 'hold', count: 1 },
        { kind: 'refund', count: 1 },
      ])
      await expectBooksToBalance(service.services.db)
    } finally {
      await service.close()
    }
  },
)
