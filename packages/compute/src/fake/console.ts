import { Duplex } from 'node:stream'
import type { VpsConsole } from '../ports/console.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { demandFeature, type FakeDriver } from './driver.ts'

export interface FakeConsole extends VpsConsole {
  /** The streams that are open, as `serial vps_...`. */
  open(): string[]
}

/** Consoles of machines that are not there: a serial line that asks for a login and echoes, a screen that greets. */
export function createFakeConsole(driver: Pick<FakeDriver, 'machines' | 'features'>): FakeConsole {
  const streams = new Map<Duplex, string>()
  return {
    open: () => [...streams.values()],
    async connect(id, type) {
      const machine = driver.machines.get(id)
      if (!machine) throw new DriverError('machine_unknown', `There is no machine ${id}`)
      if (!machine.startedAt) throw new DriverError('guest_failed', `The machine ${id} does not run`)
      demandFeature(driver.features, type === 'serial' ? 'serialConsole' : 'screen')
      const name = `${type} ${id}`
      if (type === 'serial') for (const [stream, of] of streams) if (of === name) stream.destroy()
      const stream = new Duplex({
        read() {},
        write(bytes: Buffer, _encoding, done) {
          if (type === 'serial') this.push(bytes.toString() === '\r' ? '\r\nweb login: ' : bytes)
          done()
        },
      })
      streams.set(stream, name)
      stream.once('close', () => streams.delete(stream))
      if (type === 'vnc') stream.push('RFB 003.008\n')
      return stream
    },
  }
}
