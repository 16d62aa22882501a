import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const REQUESTS = 20_000
const CONNECTIONS = 16
const IDLE_SECONDS = 10
const TICKS_PER_SECOND = 100

/** A request that a process answers again and again. */
export interface Target {
  pid: number
  url: string
  headers: Record<string, string>
  /** The body of a POST; without it the request is a GET. */
  body?: string
}

/** Ticks per second of an idle process: watchers and reconcilers. */
export async function measureIdle({ pid }: Pick<Target, 'pid'>): Promise<number> {
  const before = await cpuTicks(pid)
  await sleep(IDLE_SECONDS * 1000)
  return ((await cpuTicks(pid)) - before) / IDLE_SECONDS
}

/**
 * Microseconds of processor time per request, over kept-alive connections: what the answering process uses, less what it
 * uses in the same time when idle.
 * @param idle from `measureIdle`
 */
export async function measure(target: Target, idle: number, requests = REQUESTS): Promise<number> {
  const begun = performance.now()
  const before = await cpuTicks(target.pid)
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  let left = requests
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (left-- > 0) await ask(target, agent)
    }),
  )
  agent.destroy()
  const background = (idle * (performance.now() - begun)) / 1000
  return ((await cpuTicks(target.pid)) - before - background) * (1_000_000 / TICKS_PER_SECOND / requests)
}

/** The answer, which has to be 200. */
export function ask({ url, headers, body }: Target, agent?: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** User and system time of a process, in clock ticks; see proc(5). None when it has ended. */
export async function cpuTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  if (stat === '') return 0
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** Asks twice a second, for fifteen minutes at most. */
export async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_800; tries++) {
    if (await check().catch(() => false)) return
    await sleep(500)
  }
  throw new Error(`Waited in vain: ${what}`)
}

export const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
