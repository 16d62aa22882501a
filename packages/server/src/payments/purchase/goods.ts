import type { OperationName, Operations } from '@coinrack/contract/index.ts'
import type { Input, Output } from '@coinrack/contract/operation.ts'
import type { Queryable } from '../../database/transaction.ts'
import type { Handler } from '../../dispatch/handler.ts'
import type { Services } from '../../platform/services.ts'
import type { PurchaseRow } from './purchase-store.ts'

/** The order or sandbox that is paid for in one call. */
export type Begun = Pick<PurchaseRow, 'order_id' | 'sandbox_id'>

/** Something for sale, and how it is begun from the balance once the payment is there. */
export interface Goods<N extends OperationName> {
  /** The URL in the terms. */
  url: string
  description: string
  /**
   * The price in micro-USD. Writes nothing.
   * @throws OperationError when the purchase could not begin now
   */
  price(db: Queryable): Promise<bigint>
  handler: Handler<N>
  input: Input<Operations[N]>
  begunBy(answer: Output<Operations[N]>): Begun
  /** The current state of the order or sandbox. */
  show(db: Queryable, services: Services, begun: Begun): Promise<Output<Operations[N]>>
}
