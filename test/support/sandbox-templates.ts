import { setTimeout as sleep } from 'node:timers/promises'
import { sandboxTemplates } from '@coinrack/compute/sandbox/image/recipes.ts'
import type { RunningService } from './running-service.ts'

const LOOK_MS = 400

/** The service boots them one after the other when it begins, beside whatever else it does, and says so of each. */
export async function untilTemplatesAreThere(service: RunningService): Promise<void> {
  const isSaid = ({ name }: { name: string }) => service.output().includes(`Sandboxes of ${name} can be made`)
  while (!sandboxTemplates.every(isSaid)) await sleep(LOOK_MS)
}
