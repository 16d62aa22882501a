import { chownSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { connect, Socket } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { guestFiles, sandboxSockets } from './command-line.ts'

/*
 * QEMU makes its sockets in a folder that is its user's while it starts. A QEMU that a guest has taken over could put a
 * link to another machine's socket in place of its own, and the service would show one customer the console of another.
 * So the folder is taken away from it as soon as all sockets are there, and before anything connects to one.
 */

/** Sockets that exist together: the name of one says which it is. */
const NAMES = [
  [guestFiles.monitor, guestFiles.console, guestFiles.screen, guestFiles.agent],
  [sandboxSockets.monitor, sandboxSockets.agent],
].map((paths) => paths.map((path) => basename(path)))

/** Connects to a socket of a machine's QEMU. One that is not there, or no socket, is an error of the connection. */
export function connectToGuest(path: string): Socket {
  try {
    sealFolder(dirname(path), NAMES.find((names) => names.includes(basename(path))) ?? [])
    if (!lstatSync(path).isSocket()) throw new Error(`${path} is no socket`)
  } catch (error) {
    return new Socket().destroy(error as Error)
  }
  return connect(path)
}

/** Makes the folder of sockets ours, after which no other user can change its content. */
function sealFolder(folder: string, names: string[]): void {
  const caller = process.geteuid!()
  if (lstatSync(folder).uid === caller) return
  const isSocket = (name: string) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.isSocket()
  if (!names.every(isSocket)) throw new Error(`Not all sockets of ${folder} are there yet`)
  chownSync(folder, caller, process.getegid!())
  for (const name of readdirSync(folder)) {
    const { nlink } = lstatSync(join(folder, name))
    if (!isSocket(name) || nlink !== 1) rmSync(join(folder, name), { recursive: true })
  }
}
