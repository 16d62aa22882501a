import type { NextStep } from '@coinrack/contract/wire.ts'
import type { NoPlace } from '../../hosts/place-machine.ts'
import { OperationError } from '../../platform/errors.ts'

const RETRY_S = 60

const seePlans = [{ tool: 'list_plans', why: 'See which plans and images are available now' }]

/**
 * The answer when a machine cannot be placed now.
 * @param nextSteps what can be asked for in its place
 */
export const noRoom = (why: string, nextSteps: NextStep[] = seePlans) =>
  new OperationError('capacity', why, { retryAfter: RETRY_S, nextSteps })

const WHY: Record<NoPlace, string> = {
  no_room: 'There is no room for a machine of this plan',
  no_port: 'There is no free SSH port',
  no_address: 'There is no free address',
}

export const noPlace = (why: NoPlace) => noRoom(WHY[why])
