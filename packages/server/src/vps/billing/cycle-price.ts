import type { VpsRow } from '../machine/vps-store.ts'

/** The price of one period, in micro-USD: as agreed when it was ordered or its plan was changed. */
export const cyclePrice = (row: Pick<VpsRow, 'cycle' | 'price' | 'price_hourly'>): bigint =>
  row.cycle === 'hourly' ? row.price_hourly : row.price
