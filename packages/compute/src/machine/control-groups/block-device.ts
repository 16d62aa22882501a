import { readFile, stat } from 'node:fs/promises'

/**
 * The disk that a folder is on, as `major:minor`. Limits hold for whole disks, so that of a partition is its disk's.
 * Undefined for a file system without a disk of its own: memory, network, several disks at once.
 */
export async function blockDeviceOf(folder: string): Promise<string | undefined> {
  const { dev } = await stat(folder)
  const [major, minor] = deviceNumbers(dev)
  const entry = `/sys/dev/block/${major}:${minor}`
  const read = (file: string) => readFile(`${entry}/${file}`, 'utf8').catch(() => undefined)
  const isPartition = (await read('partition')) !== undefined
  return (await read(isPartition ? '../dev' : 'dev'))?.trim()
}

/** As the C library takes a device number apart, makedev(3). */
export function deviceNumbers(device: number): [major: number, minor: number] {
  const number = BigInt(device)
  const major = ((number >> 8n) & 0xfffn) | ((number >> 32n) & 0xfffff000n)
  const minor = (number & 0xffn) | ((number >> 12n) & 0xffffff00n)
  return [Number(major), Number(minor)]
}
