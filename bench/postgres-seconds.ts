import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const TICKS_PER_SECOND = 100

/** Processor time of the embedded PostgreSQL of a data folder, and of all that it has begun since. */
export async function postgresSeconds(folder: string): Promise<number> {
  const root = Number.parseInt(await readFile(join(folder, 'run/postgres/postgres.pid'), 'utf8'), 10)
  let ticks = 0
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : ''
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    if (Number(name) === root) ticks += fields[11]! + fields[12]! + fields[13]! + fields[14]!
    else if (fields[1] === root) ticks += fields[11]! + fields[12]!
  }
  return ticks / TICKS_PER_SECOND
}
