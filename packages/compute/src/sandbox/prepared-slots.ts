import type { Machine } from '../machine/machine.ts'

export interface PreparedSlotsOptions {
  /** Makes what machines run within, but for what depends on their size. */
  make(): Promise<Machine>
  remove(qemu: Machine): Promise<void>
  log: { info(fields: object, message: string): void }
  /** 0: none are made. */
  most: number
}

/** After the one that was taken has begun, which needs the processors more. */
const LATER_MS = 300

/**
 * Prepared folders and networks: they are most of what a clone would wait for, and take next to nothing of the host
 * while empty.
 */
export function createPreparedSlots({ make, remove, log, most }: PreparedSlotsOptions) {
  const ready: Machine[] = []
  let filling: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const fill = async () => {
    while (ready.length < most && !isClosed) ready.push(await make())
  }

  return {
    take: (): Machine | undefined => ready.shift(),

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
      for (const qemu of ready.splice(0)) await remove(qemu)
    },
  }
}
