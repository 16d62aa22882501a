import { createSlots, type Slots } from './slots.ts'

/**
 * How many passwords are hashed at the same moment: each takes a processor and 128 MiB while it lasts. Strangers take none
 * of what customers have, and together they leave one of the four threads of Node's pool to everything else.
 */
export interface Hashing {
  strangers: Slots
  customers: Slots
}

export const createHashing = ({ waitMs }: { waitMs: number }): Hashing => ({
  strangers: createSlots({ most: 2, waitMs }),
  customers: createSlots({ most: 1, waitMs }),
})
