import { open } from 'node:fs/promises'

const OFFSET = 0x00ff_ffff_ffff_fe00n

/**
 * Overwrites the beginning of a snapshot's memory in a qcow2 file, where its tables say that it is.
 * https://www.qemu.org/docs/master/interop/qcow2.html
 */
export async function damageMemory(disk: string, tag: string): Promise<void> {
  const file = await open(disk, 'r+')
  const read = async (offset: bigint | number, length: number) =>
    (await file.read(Buffer.alloc(length), 0, length, Number(offset))).buffer
  const header = await read(0, 72)
  const clusterBytes = 2 ** header.readUInt32BE(20)
  const perTable = clusterBytes * (clusterBytes / 8)
  // Memory lies behind the end of the disk.
  const index = Math.ceil(Number(header.readBigUInt64BE(24)) / perTable)
  let at = Number(header.readBigUInt64BE(64))
  for (let left = header.readUInt32BE(60); left > 0; left--) {
    const entry = await read(at, 40)
    const [idSize, nameSize] = [entry.readUInt16BE(12), entry.readUInt16BE(14)]
    const named = at + 40 + entry.readUInt32BE(36) + idSize
    if ((await read(named, nameSize)).toString() === tag) {
      const table = (await read(entry.readBigUInt64BE(0) + BigInt(index * 8), 8)).readBigUInt64BE(0) & OFFSET
      const cluster = (await read(table, 8)).readBigUInt64BE(0) & OFFSET
      await file.write(Buffer.alloc(4096, 0xaa), 0, 4096, Number(cluster))
      await file.close()
      return
    }
    at = Math.ceil((named + nameSize) / 8) * 8
  }
  throw new Error(`${disk} has no snapshot ${tag}`)
}
