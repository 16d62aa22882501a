import { sandboxArtifactsSuite } from '../ports/suites/sandbox-artifacts.suite.ts'
import { makeSandboxSpec, makeSnapshotId } from '../testing.ts'
import { createFakeArtifacts } from './sandbox-artifacts.ts'
import { createFakeRuntime } from './sandbox-runtime.ts'

const clock = { now: () => new Date('2030-01-01T00:00:00Z') }

sandboxArtifactsSuite('fake', async () => {
  const runtime = createFakeRuntime({ clock })
  const [spec, id] = [makeSandboxSpec(), makeSnapshotId()]
  await runtime.ensure(spec)
  await runtime.takeSnapshot(spec.id, id)
  const giver = createFakeArtifacts(runtime)
  const image = (await giver.list()).find((each) => each.startsWith('image:'))!
  const taker = createFakeArtifacts(createFakeRuntime({ clock }), { hasImage: false })
  return { giver, image, snapshot: `snapshot:${id}`, taker }
})
