import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connectToGuest } from '../machine/guest-socket.ts'
import type { Machine } from '../machine/machine.ts'
import type { VpsConsole } from '../ports/console.ts'
import { DriverError } from '../ports/vps-driver.ts'

/**
 * The consoles of QEMU's guests: Unix sockets in the machine's folder, which only the service reaches. QEMU serves one client of a serial line at a time; later ones would wait unseen, so the one before is
 * hung up on.
 */
export function createQemuConsole({ known }: { known(id: string): Promise<Machine> }): VpsConsole {
  const serialLines = new Map<string, Socket>()
  return {
    async connect(id, type) {
      const machine = await known(id)
      const socket = connectToGuest(type === 'serial' ? machine.console : machine.screen)
      if (type === 'serial') {
        serialLines.get(id)?.destroy()
        serialLines.set(id, socket)
        socket.once('close', () => {
          if (serialLines.get(id) === socket) serialLines.delete(id)
        })
      }
      try {
        await once(socket, 'connect')
      } catch (error) {
        throw new DriverError('guest_failed', `The machine ${id} does not run`, { cause: error })
      }
      return socket
    },
  }
}
