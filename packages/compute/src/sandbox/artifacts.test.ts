import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { SandboxArtifacts } from '../ports/sandbox-artifacts.ts'
import { sandboxArtifactsSuite } from '../ports/suites/sandbox-artifacts.suite.ts'
import { reachOverTcp } from '../remote-sandboxes/testing.ts'
import { makeSnapshotId } from '../testing.ts'
import { createArtifacts } from './artifacts.ts'

const IMAGE = 'sandbox-base-0123456789abcdef'
const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

async function newHost() {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-artifacts-'))
  folders.push(folder)
  const [dataFolder, cacheFolder] = [join(folder, 'data'), join(folder, 'cache')]
  return { dataFolder, cacheFolder, artifacts: await createArtifacts({ dataFolder, cacheFolder }) }
}

/** A disk file as far as its header goes. */
function diskOver(backing: string): Buffer {
  const disk = Buffer.alloc(4096)
  disk.write('QFI\xfb', 'latin1')
  disk.writeUInt32BE(3, 4)
  disk.writeBigUInt64BE(512n, 8)
  disk.writeUInt32BE(Buffer.byteLength(backing), 16)
  disk.write(backing, 512)
  return disk
}

async function hostWithSnapshot(backing = `../../base-images/${IMAGE}.qcow2`) {
  const host = await newHost()
  const image = join(host.cacheFolder, 'images', IMAGE)
  await mkdir(image, { recursive: true })
  for (const name of ['vmlinuz', 'initrd.img', 'disk.qcow2'])
    await writeFile(join(image, name), `${name} `.repeat(100_000))
  const id = makeSnapshotId()
  const snapshot = join(host.dataFolder, 'sandbox-snapshots', id)
  await mkdir(snapshot, { recursive: true })
  const [state, disk] = [Buffer.alloc(300_000, 'state'), diskOver(backing)]
  await writeFile(join(snapshot, 'state'), state)
  await writeFile(join(snapshot, 'disk.qcow2'), disk)
  const sum = (data: Buffer) => createHash('sha256').update(data).digest('hex')
  const record = {
    size: { vcpus: 1, memoryMb: 512, diskGb: 1 },
    state: { bytes: state.length, sha256: sum(state) },
    diskSha256: sum(disk),
  }
  await writeFile(join(snapshot, 'snapshot.json'), JSON.stringify(record))
  return { ...host, image: `image:${IMAGE}`, snapshot: `snapshot:${id}` }
}

sandboxArtifactsSuite('folders', async () => {
  const { artifacts, image, snapshot } = await hostWithSnapshot()
  return { giver: artifacts, image, snapshot, taker: (await newHost()).artifacts }
})

sandboxArtifactsSuite('folders of remote hosts', async () => {
  const { artifacts, image, snapshot } = await hostWithSnapshot()
  const reach = (own: SandboxArtifacts) =>
    reachOverTcp({ runtime: {} as never, channel: {} as never, artifacts: own })
  const [giver, taker] = [await reach(artifacts), await reach((await newHost()).artifacts)]
  const close = async () => {
    giver.close()
    taker.close()
  }
  return { giver: giver.artifacts, image, snapshot, taker: taker.artifacts, close }
})

test.each([
  '/etc/shadow',
  '../../../etc/shadow',
  `../../base-images/${IMAGE}.qcow2/../../x`,
  'json:{"driver":"nbd"}',
  '',
])('error: a disk that builds on %j belongs to no snapshot', async (backing) => {
  const { artifacts, snapshot } = await hostWithSnapshot(backing)
  await expect(artifacts.describe(snapshot)).rejects.toMatchObject({ code: 'artifact_damaged' })
})

test('behavior: what was begun before a restart is removed', async () => {
  const { dataFolder, cacheFolder, artifacts } = await newHost()
  const file = { name: 'vmlinuz', bytes: 1, sha256: createHash('sha256').update('x').digest('hex') }
  const whole = { id: `image:${IMAGE}`, files: [file], needs: [] }
  const source = async function* () {
    yield Buffer.from('x')
  }
  await artifacts.write(whole.id, file, source())
  const again = await createArtifacts({ dataFolder, cacheFolder })
  await expect(again.complete(whole)).rejects.toMatchObject({ code: 'artifact_damaged' })
})
