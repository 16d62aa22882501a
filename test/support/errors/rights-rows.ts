import { decideOn } from '@coinrack/server/approvals/testing.ts'
import type { Row } from './walk.ts'
import type { Buyer, ErrorWorld } from './world.ts'

/** Tokens that may less than their owner: those with limits, and those of applications and programs. */
export function rightsRows({ service, buyer }: ErrorWorld) {
  /** Orders by a token above whose limit each of them is. */
  async function shopper(who: Buyer) {
    const { token } = await who.child({ budget: { approve_above: { per_call: '2.00' } } })
    const order = (hostname: string) => who.call('order_vps', { product: 'nano', os_id: 1, hostname }, token)
    return { token, order }
  }
  async function tokenOf(who: Buyer, kind: 'grant' | 'program') {
    const { token, details } = await who.child({})
    await service.services.db.query(
      `update token set kind = $2, parent_id = case when $2 = 'grant' then null else parent_id end,
         lineage = case when $2 = 'grant' then array[id] else lineage end where id = $1`,
      [details.id, kind],
    )
    return token
  }

  return {
    approval_needed: async () => {
      const who = await buyer()
      const { token, order } = await shopper(who)
      return {
        call: () => order('web'),
        take: async (tool, input) => {
          // The person decides while the agent waits.
          const waiting = who.call(tool, input, token)
          await decideOn(service, input.approval_id as string, 'approved')
          return waiting
        },
      }
    },
    approval_limit: async () => {
      const who = await buyer()
      const { token, order } = await shopper(who)
      for (let index = 0; index < 10; index++) await order(`web${index}`)
      let approval = { id: '', subject: '' }
      return {
        call: () => order('more'),
        take: async (tool, input) => {
          const answer = await who.call(tool, input, token)
          approval = answer.body.items[0]
          return answer
        },
        meanwhile: () => decideOn(service, approval.id, 'approved'),
        further: () => order(/web\d/.exec(approval.subject)![0]),
      }
    },
    closed_to_token: async () => {
      const who = await buyer()
      const program = await tokenOf(who, 'program')
      return {
        call: () => who.call('create_token', {}, program),
        // Outside of the program, as the step says.
        take: (tool, input) => who.call(tool, input),
        further: () => who.call('create_token', {}),
      }
    },
    wrong_audience: async () => {
      const who = await buyer()
      const grant = await tokenOf(who, 'grant')
      return {
        call: () => service.ask('GET', '/balance', { token: grant }),
        further: () => who.ask('GET', '/balance'),
      }
    },
  } satisfies Record<string, Row>
}
