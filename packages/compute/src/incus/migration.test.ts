import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeVpsId } from '../testing.ts'
import { createIncusClient, type IncusClient } from './client.ts'
import { instanceName } from './instance.ts'
import { createIncusMigration } from './migration.ts'
import { type RecordedCluster, startRecordedCluster } from './testing-server.ts'

let cluster: RecordedCluster
let client: IncusClient
let id: string
beforeEach(async () => {
  cluster = await startRecordedCluster()
  const { members, certificate, key } = cluster
  const trust = { certificate, key, clusterCertificate: certificate }
  client = createIncusClient({ members, project: 'coinrack', ...trust, timeoutMs: 300 })
  id = makeVpsId()
  add(instanceName(id), 'Running')
  add(`${instanceName(id)}-snap-1`, 'Stopped')
})
afterEach(async () => {
  await client.close()
  await cluster.close()
})

const add = (name: string, status: string) =>
  cluster.instances.set(name, {
    ...{ name, status, location: 'node1', config: {}, devices: {} },
    last_used_at: new Date(0).toISOString(),
  })
const move = (to = 'node2') => createIncusMigration(client).move(id, to)
const places = () => [...cluster.instances.values()].map(({ location, status }) => `${location} ${status}`)
const moves = () => cluster.calls.filter((call) => call.includes('POST'))

test('default: the machine moves live, and its retained disks with it; once', async () => {
  await move()
  await move()
  expect(places()).toEqual(['node2 Running', 'node2 Stopped'])
  expect(moves()).toHaveLength(2)
})

test.each(['lost', 'hang'] as const)(
  'behavior: whichever answer is %s, in the end it has moved once',
  async (fault) => {
    for (let number = 1; number <= 8; number++) {
      let calls = 0
      cluster.meddle = () => (++calls === number ? fault : undefined)
      for (const machine of cluster.instances.values()) machine.location = 'node1'
      const begun = moves().length
      for (let time = 0; time < 3; time++) await move().catch(() => {})
      expect(places(), `${fault} ${number}`).toEqual(['node2 Running', 'node2 Stopped'])
      expect(moves().length - begun, `${fault} ${number}`).toBeLessThanOrEqual(fault === 'hang' ? 3 : 2)
    }
  },
)

test('error: a machine that there is none of, and a member that is away', async () => {
  await expect(createIncusMigration(client).move(makeVpsId(), 'node2')).rejects.toMatchObject({
    code: 'machine_unknown',
  })
  await expect(createIncusMigration(client).move('../x', 'node2')).rejects.toMatchObject({
    code: 'machine_unknown',
  })
  cluster.setAway('node2', true)
  await expect(move()).rejects.toThrow('offline')
  expect(places()).toEqual(['node1 Running', 'node1 Stopped'])
})

test('behavior: off a member that is away it moves only where disks are shared, and is stopped then', async () => {
  cluster.setAway('node1', true)
  await expect(move()).rejects.toMatchObject({ code: 'unsupported' })
  cluster.hasSharedDisks = true
  await move()
  expect(places()).toEqual(['node2 Stopped', 'node2 Stopped'])
})
