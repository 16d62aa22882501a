import type { Call } from '../../dispatch/handler.ts'
import { hostImages } from '../../hosts/host-images.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Ordering } from '../../platform/slice-ports.ts'
import { checkSshKey } from '../machine/check-ssh-key.ts'
import { checkUserData } from '../machine/user-data.ts'
import { checkImage, checkPlan, checkPrice } from './check-order.ts'
import { demandRoom } from './find-room.ts'

/** An id that no account has, for an SSH key without an owner. */
const NOBODY = ''

export const priceOfOrder: Ordering['priceOfOrder'] = async (services, db, input) => {
  const fail: Call<'orderVps'>['fail'] = (code, message, options) => {
    throw new OperationError(code, message, options)
  }
  const asked = { input, services, fail }
  const plan = checkPlan(asked)
  if (input.quote_id !== undefined)
    fail('quote_invalid', 'Quotes are for accounts; the terms of a 402 hold without one')
  checkImage(asked, plan, await hostImages(db))
  if (input.ssh_key !== undefined) await checkSshKey(db, services, NOBODY, input.ssh_key, fail)
  checkUserData(input.user_data, fail)
  const total =
    input.billing_cycle === 'hourly'
      ? plan.price_hourly * BigInt(input.hours)
      : plan.price * BigInt(input.months)
  checkPrice(asked, total)
  await demandRoom(db, services, { product: plan.slug, os_id: input.os_id, region: input.region ?? null })
  return total
}
