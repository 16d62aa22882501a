import { createWebSocketStream } from 'ws'
import type { VpsConsole } from '../ports/console.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { type IncusClient, IncusError, isNotFound } from './client.ts'
import { type Instance, instanceName, isMachineId } from './instance.ts'

/** The serial lines of machines of a cluster. Their screens speak SPICE, which the port does not carry. */
export function createIncusConsole(client: IncusClient): VpsConsole {
  return {
    async connect(id, type) {
      const path = `/1.0/instances/${instanceName(id)}`
      const unknown = () => new DriverError('machine_unknown', `There is no machine ${id}`)
      if (!isMachineId(id)) throw unknown()
      const { value } = await client.get<Instance>(path).catch((error) => {
        throw isNotFound(error) ? unknown() : error
      })
      if (type === 'vnc') throw new DriverError('unsupported', 'Machines of this cluster have no screen')
      if (value.status !== 'Running') throw new DriverError('guest_failed', `The machine ${id} does not run`)
      try {
        // With force, the reader that has the line loses it.
        const { sockets } = await client.open(`${path}/console`, {
          body: { type: 'console', width: 80, height: 24, force: true },
        })
        const { 0: line, control } = sockets
        const stream = createWebSocketStream(line!)
        // Also for a reader that has stopped reading.
        line!.once('close', () => stream.destroy())
        stream.once('close', () => control?.close())
        control?.on('error', () => {})
        return stream
      } catch (error) {
        if (!(error instanceof IncusError)) throw error
        throw new DriverError('guest_failed', error.message, { cause: error })
      }
    },
  }
}
