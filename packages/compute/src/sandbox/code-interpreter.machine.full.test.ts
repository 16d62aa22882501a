import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMachineNetworks } from '../network/machine-networks.ts'
import { startWorld, worldEgress } from '../network/testing-world.ts'
import type { CodeLanguage, TaskRequest } from '../ports/sandbox-channel.ts'
import { openNetwork } from '../ports/sandbox-network.ts'
import type { SandboxSpec } from '../ports/sandbox-runtime.ts'
import { runTask } from '../ports/suites/sandbox-channel.suite.ts'
import { makeSandboxSpec } from '../testing.ts'
import { makeSandboxes } from './testing.ts'
import { expectPackagesToWork, servePackages } from './testing-packages.ts'

const LONG_MS = 20 * 60_000
/** As the smallest sandbox that is sold. */
const size = { vcpus: 0.25, memoryMb: 512, diskGb: 1, template: 'code-interpreter' }
const isRoot = process.getuid?.() === 0
const PNG = /^iVBORw0KGgo/

/** The values that no two sandboxes may share, one in each line. */
const draws: Record<CodeLanguage, string> = {
  python: `import os, random, ssl, tempfile, uuid, numpy
print(os.urandom(8).hex()); print(uuid.uuid4()); print(uuid.uuid1()); print(random.random()); print(random.getrandbits(64))
print(numpy.random.random()); print(numpy.random.randint(2**62)); print(ssl.RAND_bytes(8).hex())
print(next(tempfile._get_candidate_names()))`,
  node: `const c = require('node:crypto')
console.log([c.randomUUID(), crypto.randomUUID(), c.randomBytes(8).toString('hex'), Math.random(), Math.random()].join('\\n'))`,
  bash: `echo $RANDOM$RANDOM$RANDOM$RANDOM; echo $SRANDOM$SRANDOM; cat /proc/sys/kernel/random/uuid`,
}

describe('the code interpreter', { timeout: 3 * 60_000 }, () => {
  let sandboxes: Awaited<ReturnType<typeof makeSandboxes>>
  const specs: SandboxSpec[] = []
  let id: string
  let endWorld: (() => Promise<void>) | undefined
  const networks = createMachineNetworks(worldEgress, { info: () => {} })

  const begin = async (change: Partial<SandboxSpec> = {}) => {
    const spec = makeSandboxSpec({ ...size, ...change })
    await sandboxes.runtime.ensure(spec)
    specs.push(spec)
    return spec.id
  }
  const runIn = (
    sandbox: string,
    language: CodeLanguage,
    code: string,
    context?: string,
    more: Partial<TaskRequest> = {},
  ) => runTask(sandboxes.channel, sandbox, { run: { code, language, ...(context && { context }) }, ...more })
  const python = (code: string, context = 'python', more: Partial<TaskRequest> = {}) =>
    runIn(id, 'python', code, context, more)
  const node = (code: string, context = 'node', more: Partial<TaskRequest> = {}) =>
    runIn(id, 'node', code, context, more)
  const resultOf = ({ end }: Awaited<ReturnType<typeof python>>) =>
    end.results.find(({ isMain }) => isMain)?.data['text/plain']

  beforeAll(async () => {
    if (isRoot) endWorld = await startWorld()
    sandboxes = await makeSandboxes(isRoot ? { networks } : {}, 'code-interpreter')
    const begun = performance.now()
    await sandboxes.keepTemplate('code-interpreter', size)
    console.log(`template built in ${Math.round((performance.now() - begun) / 1000)} s`)
    id = await begin({ env: { FROM: 'spec' } })
    expect(sandboxes.said.join('\n')).not.toContain('cold boot')
  }, LONG_MS)
  afterAll(async () => {
    for (const spec of specs) await sandboxes?.runtime.destroy(spec.id)
    await sandboxes?.close()
    await endWorld?.()
  })

  test('default: pandas is there at once, where a new interpreter has to load it', async () => {
    const timed = async (work: () => Promise<{ stdout: string }>) => {
      const begun = performance.now()
      expect((await work()).stdout).toMatch(/^\d+\.\d+/)
      return Math.round(performance.now() - begun)
    }
    const code = 'import pandas; print(pandas.__version__)'
    const first = await timed(() => python(code))
    const later = await timed(() => runIn(id, 'python', code))
    const cold = await timed(() =>
      runTask(sandboxes.channel, id, { run: { program: ['python3', '-c', code] } }),
    )
    const { memoryUsedBytes, memoryTotalBytes } = await sandboxes.channel.metrics(id)
    const [used, total] = [memoryUsedBytes, memoryTotalBytes].map((bytes) => Math.round(bytes / 1024 ** 2))
    console.log(
      `import pandas: ${first} ms in the context, ${later} ms without, ${cold} ms in a new interpreter`,
    )
    console.log(`memory used ${used} of ${total} MiB`)
    expect(Math.max(first, later) * 3).toBeLessThan(cold)
  })

  test('default: a context keeps state, and its last expression is its result', async () => {
    await python('import math\nx = 41')
    const done = await python('print("out")\nx + 1')
    expect(done).toMatchObject({ stdout: 'out\n', stderr: '', end: { exitCode: 0 } })
    expect(done.end.results).toEqual([{ data: { 'text/plain': '42' }, isMain: true }])
    expect(resultOf(await python('import asyncio\nawait asyncio.sleep(0.01, "slept")'))).toBe("'slept'")
  })

  test('default: a frame of data as a table, as text and as HTML', async () => {
    const { end } = await python('import pandas as pd\nframe = pd.DataFrame({"a": [1, 2]})\nframe')
    expect(end.results).toHaveLength(1)
    expect(end.results[0]!.data['text/plain']).toContain('a\n0  1')
    expect(end.results[0]!.data['text/html']).toContain('<table')
  })

  test('default: what was drawn is an image, without being saved', async () => {
    const { end, stderr } = await python('import matplotlib.pyplot as plt\n_ = plt.plot([1, 3, 2])')
    expect(stderr).toBe('')
    const image = end.results.find(({ data }) => data['image/png'])!
    expect(image.data['image/png']).toMatch(PNG)
    expect(Buffer.from(image.data['image/png']!, 'base64').length).toBeGreaterThan(2_000)
    expect((await python('1')).end.results).toHaveLength(1)
    const failed = await python('_ = plt.plot([1])\n1 / 0')
    expect(failed.end).toMatchObject({ exitCode: 1, error: { name: 'ZeroDivisionError' } })
    expect(failed.end.results[0]!.data['image/png']).toMatch(PNG)
  })

  test('behavior: an exception says what and where, and the context goes on', async () => {
    const failed = await python('def f():\n  raise ValueError("no")\nf()')
    expect(failed.end).toMatchObject({
      exitCode: 1,
      error: { name: 'ValueError', value: 'no', traceback: expect.stringMatching(/line 2, in f\n\s+raise/) },
    })
    expect(failed.stderr).toBe(failed.end.error!.traceback)
    expect(resultOf(await python('x'))).toBe('41')
  })

  test('default: Node.js keeps state, awaits at the top, and may be run again', async () => {
    const piece = 'const { a, b: [c] } = await Promise.resolve({ a: 1, b: [41] })\na + c'
    expect(resultOf(await node(piece))).toBe('42')
    expect(resultOf(await node(piece))).toBe('42')
    expect(resultOf(await node('class Box { value = a }\nnew Box().value'))).toBe('1')
    expect(resultOf(await node("import { basename } from 'node:path'\nbasename('/tmp/x')"))).toBe("'x'")
    const failed = await node('function f() {\n  throw new TypeError("no")\n}\nf()')
    expect(failed.end).toMatchObject({
      exitCode: 1,
      error: { name: 'TypeError', value: 'no', traceback: expect.stringContaining('at f (<code') },
    })
    expect(resultOf(await node('await Promise.reject(new Error("late"))'))).toBeUndefined()
    expect(resultOf(await node('c'))).toBe('41')
  })

  test('default: Bash keeps state', async () => {
    await runIn(id, 'bash', 'z=41; cd /tmp; f() { echo "f $1"; }', 'bash')
    const done = await runIn(id, 'bash', 'f $((z + 1)); pwd; false', 'bash')
    expect(done).toMatchObject({ stdout: 'f 42\n/tmp\n', end: { exitCode: 1 } })
  })

  test('behavior: interpreters that stood by have the environment of their sandbox', async () => {
    expect(resultOf(await python('import os\nos.environ["FROM"]'))).toBe("'spec'")
    expect(resultOf(await node('process.env.FROM'))).toBe("'spec'")
    expect(resultOf(await runIn(id, 'python', 'import os\nos.environ["FROM"]'))).toBe("'spec'")
    expect((await runIn(id, 'bash', 'echo $FROM', 'bash')).stdout).toBe('spec\n')
  })

  test('behavior: two contexts of one language know nothing of each other', async () => {
    for (const [language, one, two] of [
      ['python', 'own = 1', 'own'],
      ['node', 'const own = 1', 'own'],
    ] as const) {
      const names = [`${language}-1`, `${language}-2`]
      for (const name of names) await sandboxes.channel.contexts.create(id, name, { language })
      await runIn(id, language, one, names[0])
      expect((await runIn(id, language, two, names[1])).end).toMatchObject({ exitCode: 1 })
      expect(resultOf(await runIn(id, language, two, names[0]))).toBe('1')
      for (const name of names) await sandboxes.channel.contexts.remove(id, name)
    }
  })

  test('behavior: a loop without end is ended by its timeout, and the context is as it was', async () => {
    const timeoutMs = 2_000
    const timedOut = { timedOut: true }
    expect((await python('while True: pass', 'python', { timeoutMs })).end).toMatchObject(timedOut)
    expect(resultOf(await python('x'))).toBe('41')
    expect((await node('while (true) {}', 'node', { timeoutMs })).end).toMatchObject(timedOut)
    expect((await node('await new Promise(() => {})', 'node', { timeoutMs })).end).toMatchObject(timedOut)
    expect(resultOf(await node('c'))).toBe('41')
  })

  test('behavior: one that does not heed is killed; that its context begins anew is said', async () => {
    const more = { timeoutMs: 1_000 }
    const LOST = 'what was defined in it is gone'
    const stubborn = 'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass'
    const killed = await python(stubborn, 'python', more)
    expect(killed).toMatchObject({ stderr: expect.stringContaining(LOST), end: { timedOut: true } })
    expect((await python('x')).end.error).toMatchObject({ name: 'NameError' })
    expect(resultOf(await python('import pandas\npandas.DataFrame({"a": [1]}).a.sum()'))).toBe('1')
    const shell = await runIn(id, 'bash', 'while :; do :; done', 'bash', more)
    expect(shell).toMatchObject({ stderr: expect.stringContaining(LOST), end: { timedOut: true } })
    expect((await runIn(id, 'bash', 'echo "z=$z"', 'bash')).stdout).toBe('z=\n')
  })

  test('behavior: whoever ends the parent of interpreters waits longer, and no more', async () => {
    const own = await begin()
    await runTask(sandboxes.channel, own, {
      run: { command: 'kill -9 $(cat /sys/fs/cgroup/programs/python-parent/cgroup.procs)' },
    })
    const done = await runIn(own, 'python', 'import pandas\npandas.Series([1, 2]).sum()')
    expect(resultOf(done)).toBe('3')
  })

  test('behavior: interpreters compute on all processors of a larger one', async () => {
    const larger = { ...size, vcpus: 2, memoryMb: 1024 }
    await sandboxes.keepTemplate('code-interpreter', larger)
    const own = await begin(larger)
    const code = `import numpy as np
a = np.random.rand(400, 400)
bool(np.allclose(a @ np.linalg.inv(a), np.eye(400)))`
    for (const context of ['python', undefined])
      expect(resultOf(await runIn(own, 'python', code, context))).toBe('True')
    expect(sandboxes.said.join('\n')).not.toContain('cold boot')
  })

  test('default: from the wish for a sandbox to the first frame and image, as a clone and out of the pool', async () => {
    const ANALYSIS = `import numpy as np, pandas as pd, matplotlib.pyplot as plt
plt.plot(np.arange(9) ** 2)
pd.DataFrame({"a": np.arange(9)}).describe()`
    const pool = { most: 1, always: [size] }
    const pooled = await makeSandboxes(
      { dataFolder: sandboxes.dataFolder, pool, ...(isRoot && { networks }) },
      'code-interpreter',
    )
    const analyse = async ({ runtime, channel }: typeof pooled) => {
      const spec = makeSandboxSpec(size)
      const begun = performance.now()
      await runtime.ensure(spec)
      const { end } = await runTask(channel, spec.id, { run: { code: ANALYSIS, language: 'python' } })
      const took = Math.round(performance.now() - begun)
      await runtime.destroy(spec.id)
      expect(end.results.map(({ data }) => Object.keys(data).at(-1))).toEqual(['text/html', 'image/png'])
      return took
    }
    const clone = await analyse(sandboxes)
    await pooled.tendPool()
    console.log(`first analysis: ${clone} ms as a clone, ${await analyse(pooled)} ms out of the pool`)
    expect(pooled.said.join('\n')).not.toContain('no sandbox could be made')
    await pooled.close()
  })

  test('behavior: clones of one template draw nothing alike, nor do interpreters of one', async () => {
    const drawn = await Promise.all(
      [begin(), begin()].map(async (begun) => {
        const sandbox = await begun
        const parts = []
        for (const language of ['python', 'node', 'bash'] as const)
          for (const context of [language, undefined, undefined])
            parts.push((await runIn(sandbox, language, draws[language], context)).stdout)
        return parts.join('').trim().split('\n')
      }),
    )
    expect(drawn[0]!.length).toBe(3 * (9 + 5 + 3))
    const all = drawn.flat()
    expect(all.filter((line, at) => all.indexOf(line) !== at)).toEqual([])
  })

  test.skipIf(!isRoot)(
    'default: pip and npm install from an index, for its user and for root',
    { timeout: LONG_MS },
    async () => {
      const endIndex = await servePackages()
      await expectPackagesToWork(sandboxes.channel, await begin({ network: openNetwork }))
      await endIndex()
    },
  )
})
