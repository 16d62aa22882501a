import type { Guest } from '../machine/machine.ts'

export interface PlacesOptions {
  /** Makes what machines run within, but for what depends on their size. */
  make(): Promise<Guest>
  remove(guest: Guest): Promise<void>
  log: { info(fields: object, message: string): void }
  /** 0: none are made. */
  most: number
}

/** After the one that was taken has begun, which needs the processors more. */
const LATER_MS = 300

/**
 * Folders and networks of machines to be: they are most of what a clone would wait for, and take next to nothing of the
 * host while nobody is in them.
 */
export function createPlaces({ make, remove, log, most }: PlacesOptions) {
  const ready: Guest[] = []
  let filling: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const fill = async () => {
    while (ready.length < most && !isClosed) ready.push(await make())
  }

  return {
    take: (): Guest | undefined => ready.shift(),

    /** Makes new ones in a moment. Nothing waits for it. */
    tend(): void {
      if (isClosed || filling || timer || ready.length >= most) return
      timer = setTimeout(() => {
        timer = undefined
        filling = fill()
          .catch((error) => log.info({ err: error }, 'no place could be made for a sandbox'))
          .finally(() => {
            filling = undefined
          })
      }, LATER_MS)
      timer.unref()
    },

    async close(): Promise<void> {
      isClosed = true
      clearTimeout(timer)
      await filling
      for (const guest of ready.splice(0)) await remove(guest)
    },
  }
}
