import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Agent, connectAgent } from '@coinrack/cli/agent.ts'
import { makeSshKey } from '@coinrack/cli/ssh.ts'
import { instanceName } from '@coinrack/compute/incus/instance.ts'
import { emptyLab, LAB, labClient, processesOf } from '@coinrack/compute/incus/testing-lab.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { type Client, waitForSsh } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { orderOnCluster, writeClusterFile } from './support/on-cluster.ts'
import { insideOf } from './support/one-vps.ts'
import { newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * An operator works on the hosts of a real cluster while two VPS run there: one that was ordered by REST and one that an agent
 * ordered by MCP. They are moved, their host is evacuated, and a host is given up whose power is off.
 */

vi.setConfig({ testTimeout: 15 * 60_000 })

const client = labClient()
let service: RunningService
let folder: string
let customer: Client & { token: string }
let agent: Agent
let byRest: string
let byAgent: string
let inside: (id: string) => (command: string) => Promise<string>

beforeAll(async () => {
  folder = await mkdtemp('/tmp/coinrack-cluster-')
  service = await startService({
    COINRACK_CLUSTER: await writeClusterFile(client, folder),
    COINRACK_HOSTS_LISTEN: `127.0.0.1:${await freePort()}`,
  })
  customer = await newCustomer(service, '100')
  agent = await connectAgent(`${service.origin}/mcp`)
  agent.token = customer.token
}, 40 * 60_000)

afterAll(async () => {
  for (const member of ['1', '2', '3']) await runCommand(LAB, ['start', member])
  await agent?.close()
  await service?.stop()
  await client.close()
  await emptyLab()
  if (folder) await rm(folder, { recursive: true, force: true })
}, 180_000)

/** The commands that were run, with one name for all hosts and one for all VPS. */
const commandsRun = new Set<string>()
const named = (words: string) =>
  words.replace(/\b(lab|fra1)-node\d|\blocal\b/g, 'HOST').replace(/vps_\S+/g, 'VPS')
const operator = async (...words: string[]) => {
  const said = await service.operator('host', ...words, '--json')
  commandsRun.add(named(`host ${words.join(' ')}`))
  return JSON.parse(said)
}
/** One host is asked after the other, and a machine may move meanwhile. */
const hostOf = async (id: string): Promise<string> => {
  for (let tries = 0; tries < 5; tries++)
    for (const { id: host, kind } of await operator('list')) {
      if (kind !== 'incus') continue
      const { machines_there } = await operator('show', host)
      if (machines_there.some((there: { id: string }) => there.id === id)) return host
    }
  throw new Error(`${id} is on no host`)
}
const locationOf = async (id: string) =>
  `lab-${(await client.get<{ location: string }>(`/1.0/instances/${instanceName(id)}`)).value.location}`
const until = (holds: () => Promise<boolean>, timeout = 5 * 60_000) =>
  vi.waitUntil(holds, { timeout, interval: 1_000 })
const others = (host: string) => ['lab-node1', 'lab-node2', 'lab-node3'].filter((other) => other !== host)

test('default: one VPS is ordered by REST and one by MCP, and both answer by SSH with the published host key', async () => {
  const key = await makeSshKey(folder)
  inside = (id) => insideOf(customer, id, folder, key)
  byRest = await orderOnCluster(customer, 'rest', key.publicKey)
  const order = await agent.call('orderVps', {
    product: 'micro-ip',
    os_id: 1,
    region: 'lab',
    hostname: 'agent',
    ssh_key: key.publicKey,
  })
  byAgent = order.service_id!
  for (const id of [byRest, byAgent]) await waitForSsh(customer, id, { reveal: false })
  expect([await inside(byRest)('hostname'), await inside(byAgent)('hostname')]).toEqual(['rest', 'agent'])
})

test('behavior: a VPS that runs is moved to another host, and an SSH session in it goes on', async () => {
  const from = await hostOf(byRest)
  const to = others(from)[0]!
  const boot = await inside(byRest)('cat /proc/sys/kernel/random/boot_id')
  const session = inside(byRest)('for second in $(seq 25); do echo $second; sleep 1; done | tail -1')
  await sleep(3_000)
  const begun = performance.now()
  await operator('move', byRest, to)
  await until(async () => (await hostOf(byRest)) === to)
  console.log(`moved in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  expect(await session).toBe('25')
  expect(await inside(byRest)('cat /proc/sys/kernel/random/boot_id')).toBe(boot)
  expect(await locationOf(byRest)).toBe(to)
  expect(await processesOf(byRest)).toHaveLength(1)
})

test('behavior: a host that is evacuated is empty in the end, and its VPS run elsewhere at their addresses', async () => {
  const host = await hostOf(byAgent)
  const before = (await customer.getVpsStatus({ service_id: byAgent, reveal: false })).ssh
  await operator('evacuate', host)
  await until(async () => (await operator('show', host)).machines === 0)
  await waitForSsh(customer, byAgent, { reveal: false })
  expect((await customer.getVpsStatus({ service_id: byAgent, reveal: false })).ssh).toEqual(before)
  expect(await inside(byAgent)('hostname')).toBe('agent')
  for (const id of [byRest, byAgent]) {
    expect(await locationOf(id)).not.toBe(host)
    expect(await processesOf(id)).toHaveLength(1)
  }
  await operator('open', host)
})

test('default: a fourth member joins and gets a machine; emptied again, it leaves and is forgotten', async () => {
  const restart = async (joined: number[]) => {
    await writeClusterFile(client, folder, joined)
    await service.end()
    await service.start()
  }
  await runCommand(LAB, ['join', '4'], { timeoutMs: 120_000 })
  await restart([4])
  const shown = async () => (await operator('list')).find(({ id }: { id: string }) => id === 'lab-node4')
  await until(async () => (await shown())?.seen_at)
  await operator('move', byRest, 'lab-node4')
  await until(async () => (await hostOf(byRest)) === 'lab-node4')
  expect(await inside(byRest)('hostname')).toBe('rest')
  await operator('evacuate', 'lab-node4')
  await until(async () => (await operator('show', 'lab-node4')).machines === 0)
  await runCommand(LAB, ['leave', '4'], { timeoutMs: 120_000 })
  await restart([])
  await operator('forget', 'lab-node4')
  expect(await shown()).toBeUndefined()
  expect(await inside(byRest)('hostname')).toBe('rest')
})

test('behavior: a host without power is given up by the word of the operator alone; when it comes back it starts nothing', async () => {
  const host = await hostOf(byAgent)
  const member = host.replace('lab-node', '')
  // The other VPS is elsewhere.
  if ((await hostOf(byRest)) === host) {
    await operator('move', byRest, others(host)[0]!)
    await until(async () => (await hostOf(byRest)) !== host)
  }
  await expect(operator('declare-dead', host, '--power-is-off')).rejects.toThrow('seconds ago')
  const { balance } = await customer.getBalance()
  await runCommand(LAB, ['kill', member])
  const declared = () =>
    operator('declare-dead', host, '--power-is-off').then(
      () => true,
      () => false,
    )
  await until(declared)
  const status = async () => (await customer.getVpsStatus({ service_id: byAgent, reveal: false })).status
  await until(async () => (await status()) === 'failed')
  expect((await customer.getBalance()).balance).toBeGreaterThan(balance)
  const told = (await customer.listEvents({ limit: 100 })).items.map(({ type }) => type)
  expect(told).toContain('vps.lost')
  expect(await inside(byRest)('hostname')).toBe('rest')

  await runCommand(LAB, ['start', member])
  await until(async () => (await operator('show', host)).orphans === 1)
  for (let look = 0; look < 20; look++) {
    expect(await processesOf(byAgent)).toEqual([])
    await sleep(1_000)
  }
  expect(await operator('show', host)).toMatchObject({ state: 'dead', machines: 0, trouble: null })
  await operator('open', host)
  expect(await operator('show', host)).toMatchObject({ state: 'open' })
  await operator('drain', 'local')
  await operator('show', 'local')
  expect((await operator('invite', 'rack-2')).token).toMatch(/^crj_/)
  await customer.cancelService({ service_id: byRest, mode: 'immediate', confirm: 'rest' })
  await until(async () => (await processesOf(byRest)).length === 0)
})

test.each(['growing.md', 'cluster.md'])(
  'default: each command of the guide %s was run here',
  async (name) => {
    const guide = await readFile(join(import.meta.dirname, '../docs/operator', name), 'utf8')
    const commands = [...guide.matchAll(/npm run operator -- ([^`\n]+)/g)].map(([, command]) =>
      named(command!),
    )
    expect(commands.length).toBeGreaterThan(2)
    expect(commands.filter((command) => !commandsRun.has(command))).toEqual([])
    const lab = await readFile(LAB, 'utf8')
    const programs = [...guide.matchAll(/^ *((?:incus|openssl) .*?)( node\d)?( \\\\)?$/gm)].map(
      ([, line]) => line!,
    )
    for (const program of programs) expect(lab, program).toContain(program.split(' ').slice(0, 3).join(' '))
  },
)
