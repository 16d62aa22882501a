import type { Ordering } from '../seams.ts'
import { roomFor } from './capacity.ts'
import { payFromBalance } from './pay-order.ts'
import { chargesOfThoseDue, hasPaid, summary } from './summary.ts'

/** What the other slices ask of orders. */
export const ordering: Ordering = { payFromBalance, summary, chargesOfThoseDue, hasPaid, roomFor }
