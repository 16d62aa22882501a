import { randomInt } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { createImageStore } from '../images/image-store.ts'
import { createIncusClient, type IncusClient } from './client.ts'
import { createIncusDriver } from './driver.ts'
import { createClusterImages } from './images.ts'
import { instanceName } from './instance.ts'

/*
 * The laboratory of `deploy/incus-lab`: a real cluster of three members on this machine.
 */

/** The program that starts and ends the members of the laboratory. */
export const LAB = join(import.meta.dirname, '../../../../deploy/incus-lab/lab.sh')

const folder = process.env.COINRACK_INCUS_LAB ?? '/tmp/coinrack-incus-lab'
const MEMBERS = ['node1', 'node2', 'node3']

export const labNetwork = {
  bridge: 'br0',
  prefixLength: 16,
  gateway: '10.77.0.254',
  resolver: '10.77.0.254',
  ipv6: { prefixLength: 64, gateway: '2001:db8:77::1' },
}

/** The files by which a client is let in, under the names that they have in the file of a cluster. */
export const labFiles = () => ({
  certificate: join(folder, 'client.crt'),
  key: join(folder, 'client.key'),
  cluster_certificate: join(folder, 'cluster.crt'),
})

export function labClient(): IncusClient {
  const files = labFiles()
  return createIncusClient({
    members: MEMBERS.map((name, index) => ({ name, url: `https://10.77.0.${index + 1}:8443` })),
    project: 'coinrack',
    certificate: readFileSync(files.certificate, 'utf8'),
    key: readFileSync(files.key, 'utf8'),
    clusterCertificate: readFileSync(files.cluster_certificate, 'utf8'),
  })
}

export function labDriver(client: IncusClient, member = 'node1', options: { guestAgent?: boolean } = {}) {
  const store = createImageStore({ cacheFolder: process.env.COINRACK_CACHE ?? '/var/cache/coinrack' })
  const images = createClusterImages(client, store)
  const driver = createIncusDriver({
    client,
    member,
    images,
    pool: 'cow',
    network: labNetwork,
    ...options,
    // Under emulation the kernel cannot calibrate the clock of the processor.
    extraConfig: { 'smbios11.tsc_early_khz': '2599998 tsc=reliable fsck.mode=skip' },
    clock: { now: () => new Date() },
    log: { info: (fields, message) => console.log(message, fields) },
  })
  return { driver, images }
}

/** An address that no other machine of the laboratory is likely to have. */
export const newAddress = (): string => `10.77.${randomInt(1, 255)}.${randomInt(1, 255)}`

/**
 * The process ids on this machine of an instance's QEMU, on whichever member it runs. One that has started another in its place and
 * waits for it, as QEMU does when it begins, does not count.
 */
export async function processesOf(id: string): Promise<number[]> {
  const name = `coinrack_${instanceName(id)}/`
  const parents = new Map<number, number>()
  for (const entry of await readdir('/proc')) {
    const line = /^\d+$/.test(entry) ? await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '') : ''
    if (!line.includes('qemu-system') || !line.includes(name)) continue
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '')
    // The name in parentheses may have blanks.
    const parent = /^.*\) \S (\d+)/.exec(stat)?.[1]
    if (parent !== undefined) parents.set(Number(entry), Number(parent))
  }
  const waiting = new Set(parents.values())
  // One that has ended since it was found, as QEMU does that goes to the background, was none.
  const isThere = (pid: number) => existsSync(`/proc/${pid}/exe`)
  return [...parents.keys()].filter((pid) => !waiting.has(pid) && isThere(pid))
}

/**
 * Those of them that have the machine's disk open: with two of these it would run twice. QEMU on its way to the background is
 * two processes for a moment, of which one never opens it.
 */
export async function writersOf(id: string): Promise<number[]> {
  const disk = `coinrack_${instanceName(id)}/root.img`
  const writes = async (pid: number) => {
    const folder = `/proc/${pid}/fd`
    const names = await readdir(folder).catch((): string[] => [])
    const files = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')))
    return files.some((file) => file.endsWith(disk))
  }
  const pids = await processesOf(id)
  const those = await Promise.all(pids.map(writes))
  return pids.filter((_, index) => those[index])
}

/** Removes all machines and retained disks, which would run on and keep their addresses. */
export async function emptyLab(): Promise<void> {
  const incus = (...words: string[]) =>
    runCommand(LAB, ['exec', '1', 'incus', ...words], { timeoutMs: 120_000 })
  const { stdout } = await incus('list', '--project', 'coinrack', '--format', 'csv', '--columns', 'n')
  const names = stdout.split('\n').filter((name) => name !== '')
  if (names.length > 0) await incus('delete', '--force', '--project', 'coinrack', ...names)
}

/** Ends an instance's QEMU, and waits until the cluster knows: for a second it says one thing and then the other. */
export async function crashInstance(client: IncusClient, id: string): Promise<void> {
  for (const pid of await processesOf(id)) process.kill(pid, 'SIGKILL')
  const path = `/1.0/instances/${instanceName(id)}`
  for (let looks = 0; looks < 15; looks++) {
    if ((await client.get<{ status: string }>(path)).value.status !== 'Stopped') looks = 0
    await sleep(100)
  }
}
