import { type Machine, readBoot, runningPid, writeBoot } from '../machine/machine.ts'
import { cutPower, resetMachine, stopMachine } from '../machine/machine-process.ts'
import type { PowerAction } from '../ports/vps-driver.ts'

type Act = (machine: Machine, boot?: number) => Promise<void>

/** Whether the boot of this number has begun. */
const isBegun = async (machine: Machine, number: number | undefined) =>
  number !== undefined && (await readBoot(machine)) === number

/**
 * The effects of each action on a machine. A boot that starts QEMU is given its number before it begins: a machine that
 * is off is started in any case, and one that runs with the number of a boot is not booted for it again.
 */
export function powerActions(options: {
  start(machine: Machine): Promise<void>
  stopTimeoutMs: number
}): Record<PowerAction, Act> {
  const { start, stopTimeoutMs } = options
  const boot: Act = async (machine, number) => {
    await writeBoot(machine, number)
    await start(machine)
  }
  return {
    start: boot,
    stop: (machine) => stopMachine(machine, stopTimeoutMs),
    force_stop: cutPower,
    async reboot(machine, number) {
      if (!(await isBegun(machine, number))) await stopMachine(machine, stopTimeoutMs)
      await boot(machine, number)
    },
    async reset(machine, number) {
      if (!(await runningPid(machine)) || (await isBegun(machine, number))) return boot(machine, number)
      await resetMachine(machine)
      await writeBoot(machine, number)
    },
  }
}
