import assert from 'node:assert/strict'
import { type Behind, type CodeInterpreter, has, needsReal, type Step } from './step.ts'

export function interpreterSteps({ Sandbox }: CodeInterpreter, behind: Behind): Step[] {
  let sandbox: InstanceType<typeof Sandbox>

  return [
    [
      'Sandbox.create',
      async () => {
        sandbox = await Sandbox.create({ timeoutMs: 300_000 })
        assert.equal((await sandbox.getInfo()).templateId, 'code-interpreter-v1')
      },
    ],
    [
      'runCode',
      async () => {
        const done = await sandbox.runCode('x = 20\nprint("printed")\nx * 2 + 2')
        assert.equal(done.text, '42')
        assert.equal(done.logs.stdout.join(''), 'printed\n')
        assert.equal(done.error, undefined)
        assert.equal((await sandbox.runCode('x + 1')).text, '21')
        assert.equal((await sandbox.runCode('"a text"')).text, 'a text')
      },
    ],
    [
      'runCode, which throws',
      async () => {
        const { error, logs } = await sandbox.runCode('raise ValueError("no")')
        assert.deepEqual([error?.name, error?.value], ['ValueError', 'no'])
        assert.match(error!.traceback, /ValueError/)
        assert.deepEqual(logs.stderr, [])
      },
    ],
    [
      'runCode, results and outputs as they are made',
      async () => {
        const told: string[] = []
        const begun = Date.now()
        let early = Number.POSITIVE_INFINITY
        const code =
          'import sys, time\ndisplay("shown")\nprint("out")\nprint("err", file=sys.stderr)\ntime.sleep(2)\n1'
        const { results } = await sandbox.runCode(code, {
          onResult: (result) => {
            early = Math.min(early, Date.now() - begun)
            told.push(`result ${result.text}`)
          },
          onStdout: ({ line }) => void told.push(`stdout ${line}`),
          onStderr: ({ line }) => void told.push(`stderr ${line}`),
        })
        assert.equal(results.length, 2)
        assert.deepEqual(told.sort(), ['result 1', 'result shown', 'stderr err\n', 'stdout out\n'])
        assert.ok(early + 1_500 < Date.now() - begun)
      },
    ],
    [
      'runCode, with variables and in other languages',
      async () => {
        const envs = { FROM: 'steps' }
        assert.equal((await sandbox.runCode('import os; os.environ["FROM"]', { envs })).text, 'steps')
        assert.equal((await sandbox.runCode('6 * 7', { language: 'javascript' })).text, '42')
        const typed = 'const answer: number = 42\nanswer'
        assert.equal((await sandbox.runCode(typed, { language: 'typescript' })).text, '42')
        const { logs } = await sandbox.runCode('echo $((6 * 7))', { language: 'bash' })
        assert.equal(logs.stdout.join(''), '42\n')
      },
    ],
    [
      'createCodeContext, listCodeContexts, restartCodeContext and removeCodeContext',
      async () => {
        const context = await sandbox.createCodeContext({ cwd: '/tmp', language: 'python' })
        assert.deepEqual([context.language, context.cwd], ['python', '/tmp'])
        await sandbox.runCode('y = 1', { context })
        assert.equal((await sandbox.runCode('y', { context })).text, '1')
        assert.equal((await sandbox.runCode('y')).error?.name, 'NameError')
        has(sandbox, 'listCodeContexts', 'restartCodeContext', 'removeCodeContext')
        assert.ok((await sandbox.listCodeContexts()).some(({ id }) => id === context.id))
        await sandbox.restartCodeContext(context)
        assert.equal((await sandbox.runCode('y', { context })).error?.name, 'NameError')
        await sandbox.removeCodeContext(context)
        assert.ok(!(await sandbox.listCodeContexts()).some(({ id }) => id === context.id))
      },
    ],
    [
      'runCode, longer than its timeout',
      async () => {
        needsReal(behind)
        const late = await sandbox.runCode('import time\nz = 5\ntime.sleep(60)', { timeoutMs: 2_000 }).then(
          () => undefined,
          (error: Error) => error,
        )
        assert.equal(late?.name, 'TimeoutError')
        // It was interrupted, and the context goes on.
        assert.equal((await sandbox.runCode('z')).text, '5')
      },
    ],
    [
      'results: data of a table',
      async () => {
        needsReal(behind)
        const code = 'import pandas as pd\npd.DataFrame({"a": [1, 2], "b": ["x", None]})'
        const [result] = (await sandbox.runCode(code)).results
        assert.deepEqual(result?.data, { a: [1, 2], b: ['x', null] })
        assert.match(result!.html!, /<table/)
      },
    ],
    [
      'results: pictures and charts',
      async () => {
        needsReal(behind)
        const draw = async (lines: string) => {
          const code = `import matplotlib.pyplot as plt\n${lines}\nplt.show()`
          const { results, error } = await sandbox.runCode(code)
          assert.equal(error, undefined)
          const [result] = results
          assert.match(result!.png!, /^iVBOR/)
          return result!.chart as unknown as Record<string, unknown> & { elements: Record<string, unknown>[] }
        }
        const line = await draw(
          'plt.plot([1, 2, 3], [4, 5, 6], label="rise")\nplt.title("T")\nplt.xlabel("time (s)")',
        )
        assert.deepEqual(
          [line.type, line.title, line.x_label, line.x_unit, line.elements],
          [
            'line',
            'T',
            'time (s)',
            's',
            [
              {
                label: 'rise',
                points: [
                  [1, 4],
                  [2, 5],
                  [3, 6],
                ],
              },
            ],
          ],
        )
        const scatter = await draw('plt.scatter([1, 2], [3, 4], label="dots")')
        assert.deepEqual(
          [scatter.type, scatter.elements],
          [
            'scatter',
            [
              {
                label: 'dots',
                points: [
                  [1, 3],
                  [2, 4],
                ],
              },
            ],
          ],
        )
        const bar = await draw('plt.bar(["a", "b"], [1, 2], label="g")')
        assert.deepEqual(
          [bar.type, bar.elements],
          [
            'bar',
            [
              { label: 'a', group: 'g', value: 1 },
              { label: 'b', group: 'g', value: 2 },
            ],
          ],
        )
        const pie = await draw('plt.pie([1, 3], labels=["p", "q"])')
        assert.deepEqual(
          [pie.type, pie.elements.map(({ label, angle }) => [label, Math.round(Number(angle))])],
          [
            'pie',
            [
              ['p', 90],
              ['q', 270],
            ],
          ],
        )
        const box = await draw('plt.boxplot([[1, 2, 3, 4, 100]])')
        assert.equal(box.type, 'box_and_whisker')
        assert.deepEqual(
          [
            box.elements[0]!.first_quartile,
            box.elements[0]!.median,
            box.elements[0]!.third_quartile,
            box.elements[0]!.outliers,
          ],
          [2, 3, 4, [100]],
        )
        const both = await draw('_, (a, b) = plt.subplots(1, 2)\na.plot([1], [2])\nb.bar(["x"], [3])')
        assert.deepEqual([both.type, both.elements.map(({ type }) => type)], ['superchart', ['line', 'bar']])
      },
    ],
    // Older versions answer nothing.
    ['sandbox.kill', async () => assert.notEqual(await sandbox.kill(), false)],
  ]
}
