import { cutPower, type Guest, resetGuest, runningPid, stopGuest, writeBoot } from '../machine/machine.ts'
import type { PowerAction } from '../ports/vps-driver.ts'

type Act = (guest: Guest, boot?: number) => Promise<void>

/** What each action does with a machine. A boot that starts QEMU has its number before it begins: what is off is started in any case. */
export function powerActions(options: {
  start(guest: Guest): Promise<void>
  stopTimeoutMs: number
}): Record<PowerAction, Act> {
  const { start, stopTimeoutMs } = options
  const boot: Act = async (guest, number) => {
    await writeBoot(guest, number)
    await start(guest)
  }
  return {
    start: boot,
    stop: (guest) => stopGuest(guest, stopTimeoutMs),
    force_stop: cutPower,
    async reboot(guest, number) {
      await stopGuest(guest, stopTimeoutMs)
      await boot(guest, number)
    },
    async reset(guest, number) {
      if (!(await runningPid(guest))) return boot(guest, number)
      await resetGuest(guest)
      await writeBoot(guest, number)
    },
  }
}
