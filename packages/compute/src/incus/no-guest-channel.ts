import { type GuestChannel, GuestError } from '../ports/guest-channel.ts'

const refuseInside = async (): Promise<never> => {
  throw new GuestError('unsupported', 'Nothing can be done inside machines of this cluster')
}

/** The guest channel of machines in which nothing can be done. */
export const noGuestChannel: GuestChannel = {
  exec: refuseInside,
  readFile: refuseInside,
  writeFile: refuseInside,
  setHostname: refuseInside,
  setRootPasswordHash: refuseInside,
  usage: refuseInside,
  alive: async () => false,
}
