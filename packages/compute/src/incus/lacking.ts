import type { VpsConsole } from '../ports/console.ts'
import { type GuestChannel, GuestError } from '../ports/guest-channel.ts'
import type { RetainedDisks } from '../ports/retained-disks.ts'
import { DriverError } from '../ports/vps-driver.ts'

/*
 * The ports that machines of a cluster do not have, as its features say.
 */

const refuse = async (what: string): Promise<never> => {
  throw new DriverError('unsupported', `Machines of this cluster have no ${what}`)
}

export const noConsole: VpsConsole = {
  connect: (_, type) => refuse(type === 'vnc' ? 'screen' : 'serial console'),
}

export const noRetainedDisks: RetainedDisks = {
  setAside: () => refuse('retained disks'),
  putBack: () => refuse('retained disks'),
  isSound: async () => false,
  remove: async () => {},
  list: async () => [],
}

const refuseInside = async (): Promise<never> => {
  throw new GuestError('unsupported', 'Nothing can be done inside machines of this cluster')
}

export const noGuestChannel: GuestChannel = {
  exec: refuseInside,
  readFile: refuseInside,
  writeFile: refuseInside,
  setHostname: refuseInside,
  setRootPasswordHash: refuseInside,
  usage: refuseInside,
  alive: async () => false,
}
