import { type Machine, runningPid, writeBoot } from '../machine/machine.ts'
import { cutPower, resetMachine, stopMachine } from '../machine/machine-process.ts'
import type { PowerAction } from '../ports/vps-driver.ts'

type Act = (machine: Machine, boot?: number) => Promise<void>

/**
 * The effects of each action on a machine. A boot that starts QEMU is given its number before it begins: a machine that
 * is off is started in any case.
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
      await stopMachine(machine, stopTimeoutMs)
      await boot(machine, number)
    },
    async reset(machine, number) {
      if (!(await runningPid(machine))) return boot(machine, number)
      await resetMachine(machine)
      await writeBoot(machine, number)
    },
  }
}
