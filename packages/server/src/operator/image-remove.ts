import type { AddedImage } from '@coinrack/compute/images/added/added-image.ts'
import { removeImage } from '@coinrack/compute/images/added/remove-image.ts'
import { inTransaction } from '../database/transaction.ts'
import { forgetImage, hostRows, lockHost } from '../hosts/host-store.ts'
import type { Command, Operator } from './command.ts'
import { asRefusal } from './image-add.ts'
import { shownImage } from './image-list.ts'

interface Uses {
  machines: number
  orders: number
}

/** Orders that wait for their payment begin a machine later. */
const USES = `
select
  (select count(*)::int from vps_machine where image = $1 and status not in ('failed', 'deleted')) as machines,
  (select count(*)::int from vps_order
    where os_id = $2 and status = 'awaiting_payment' and expires_at > $3) as orders`

export const imageRemove: Command = {
  name: 'image remove',
  arguments: '<id>',
  summary: 'Takes an added image back; refused while machines, unpaid orders or plans of the catalog need it',
  takes: 1,
  async run(operator, [slug]) {
    const image = await removeImage(slug!, {
      ...(await operator.images()),
      usedBy: (image) => usersOf(operator, image),
    }).catch(asRefusal)
    return { json: shownImage(image), text: `${image.name} (os_id ${image.osId}) is removed` }
  },
}

async function usersOf(operator: Operator, { slug, osId }: AddedImage): Promise<string[]> {
  const { plans } = await operator.catalog()
  const named = plans
    .filter(({ images }) => images?.includes(slug))
    .map((plan) => `plan ${plan.slug} names it`)
  const db = await operator.db()
  // Requests that read the images before they changed may still write down what they want of them: first those that
  // start orders, then those that change machines. One after the other, as some of them take both locks.
  await forgetImage(db, slug)
  for (const { id } of await hostRows(db)) await inTransaction(db, (tx) => lockHost(tx, id))
  const { machines, orders } = await inTransaction(db, async (tx) => {
    await tx.query('lock table vps in exclusive mode')
    const { rows } = await tx.query<Uses>(USES, [slug, osId, operator.clock.now()])
    return rows[0]!
  })
  return [
    ...named,
    ...(machines > 0 ? [`machines made from it: ${machines}`] : []),
    ...(orders > 0 ? [`orders that wait for payment: ${orders}`] : []),
  ]
}
