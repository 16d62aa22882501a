import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Machines of sandboxes, as the host knows them. */
const MACHINE = /sbm[0-9a-f]{26}/

const namesIn = (folder: string) => readdir(folder).catch((): string[] => [])

/** Whatever there is of machines of sandboxes on this host, waiting ones included; also their files, in a data folder. */
export async function sandboxTraces(dataFolder: string): Promise<string[]> {
  const found = await Promise.all([
    processes(),
    namesIn('/run/netns').then((names) => names.map((name) => `namespace ${name}`)),
    claims('users'),
    claims('links'),
    groups(),
    ...['sandboxes', 'sandbox-snapshots'].map(async (folder) =>
      (await namesIn(join(dataFolder, folder))).map((name) => `folder ${name}`),
    ),
  ])
  return found.flat().filter((trace) => MACHINE.test(trace) || trace.includes('snp_'))
}

async function processes(): Promise<string[]> {
  const pids = (await namesIn('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(
    pids.map(
      async (pid) => `process ${pid} ${await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')}`,
    ),
  )
  return lines.map((line) => line.split(',')[0]!)
}

async function claims(kind: string): Promise<string[]> {
  const folder = join('/run/coinrack', kind)
  const names = await namesIn(folder)
  return Promise.all(
    names.map(async (name) => `${kind} ${name} of ${await readlink(join(folder, name)).catch(() => '')}`),
  )
}

async function groups(): Promise<string[]> {
  const root = '/sys/fs/cgroup'
  const parents = ['.', ...(await namesIn(root))].map((name) => join(root, name, 'coinrack'))
  const names = await Promise.all(
    parents.map(async (parent) => (await namesIn(parent)).map((name) => join(parent, name))),
  )
  return names.flat().map((name) => `group ${name}`)
}

/** Machines of a data folder that run now, also those that wait for their first owner. */
export async function machinesOf(dataFolder: string): Promise<{ name: string; pid: number }[]> {
  const folder = join(dataFolder, 'sandboxes')
  const names = (await namesIn(folder)).filter((name) => MACHINE.test(name))
  const lines = await processes()
  return names.flatMap((name) => {
    const line = lines.find((each) => each.includes(name))
    return line ? [{ name, pid: Number(line.split(' ')[1]) }] : []
  })
}

/** The counts that the runtime wrote down of a sandbox's machine. */
export interface Counted {
  state: 'running' | 'paused' | 'ended'
  ranMs: number
  startedAt: number
  process?: { pid: number }
  sandbox?: { id: string }
}

/** The counts of the runtime, by sandbox: read from its files, beside the service. */
export async function countedBy(dataFolder: string): Promise<Map<string, Counted>> {
  const folder = join(dataFolder, 'sandboxes')
  const records = await Promise.all(
    (await namesIn(folder)).map(async (name) => {
      const text = await readFile(join(folder, name, 'machine.json'), 'utf8').catch(() => '{}')
      return JSON.parse(text) as Counted
    }),
  )
  return new Map(records.flatMap((record) => (record.sandbox ? [[record.sandbox.id, record] as const] : [])))
}
