/**
 * Plays E2B's packages, version by version and method by method, against a service with real sandboxes, and writes down
 * what works: docs/e2b-compatibility.md. And how long a round trip of code takes by their package, beside ours.
 *
 *   npm run bench:e2b -- [rounds]
 *
 * As root, where sandboxes can run.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Sandbox } from '@coinrack/sdk/index.ts'
import { Sandbox as TheirSandbox } from '@e2b/code-interpreter'
import { failuresOf, type Played, packages, playSteps, versionOf } from '../test/support/e2b/play.ts'
import { type ForE2b, startForE2b } from '../test/support/e2b/real-service.ts'
import { root } from '../test/support/sources.ts'

const [rounds = '50'] = process.argv.slice(2)

const cells: Record<Played['outcome'], string> = {
  works: 'works',
  absent: 'has none',
  'left out': 'not played',
  fails: '**fails**',
}

/** A table of the methods, with a column for each version. */
async function table(title: string, names: readonly string[], world: ForE2b): Promise<string> {
  const behind = { isReal: true, hasDomain: true }
  const played = new Map<string, Played[]>()
  for (const name of names) {
    played.set(name, await playSteps(name, behind, world.byDomain))
    for (const failure of failuresOf(played.get(name)!)) console.log(failure)
  }
  const methods = played.get(names[0]!)!.map(({ method }) => method)
  const row = (method: string) =>
    names.map((name) => cells[played.get(name)!.find((each) => each.method === method)!.outcome])
  const line = (parts: string[]) => `| ${parts.join(' | ')} |`
  return [
    `## \`${title}\``,
    '',
    line(['method', ...names.map(versionOf)]),
    line(['---', ...names.map(() => '---')]),
    ...methods.map((method) => line([method, ...row(method)])),
    '',
  ].join('\n')
}

/** The median of the round trips of both, in turns. */
async function roundTrips({ token, service, byUrl }: ForE2b): Promise<{ theirs: number; ours: number }> {
  const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl } = byUrl
  const their = await TheirSandbox.create({ apiKey: apiKey!, apiUrl: apiUrl!, sandboxUrl: sandboxUrl! })
  const our = await Sandbox.create({ url: service.origin, token }, { template: 'code-interpreter' })
  const times = { theirs: [] as number[], ours: [] as number[] }
  const take = async (list: number[], work: () => Promise<unknown>) => {
    const begun = performance.now()
    await work()
    list.push(performance.now() - begun)
  }
  for (let round = 0; round < Number(rounds); round++) {
    await take(times.theirs, () => their.runCode('1 + 1'))
    await take(times.ours, () => our.runCode('1 + 1', { context: 'python' }))
  }
  await their.kill()
  await our.kill()
  const median = (list: number[]) => list.toSorted((a, b) => a - b)[list.length >> 1]!
  return { theirs: median(times.theirs), ours: median(times.ours) }
}

const world = await startForE2b()
try {
  const tables = [
    await table('e2b', packages.e2b, world),
    await table('@e2b/code-interpreter', packages.codeInterpreter, world),
  ]
  const { theirs, ours } = await roundTrips(world)
  const ratio = (theirs / ours).toFixed(2)
  console.log(`runCode: ${ratio} (p50 ${theirs.toFixed(1)} ms and ${ours.toFixed(1)} ms, n ${rounds})`)
  const text = `# E2B's packages, method by method

\`npm run bench:e2b\` plays them, unmodified, by the names of a domain against a service with real sandboxes, and writes this page. What each
step asks for is in \`test/support/e2b/steps\`; how to use the packages, and what is not offered, in the [guide for users of E2B](guide-e2b.md).

${tables.join('\n')}
A round trip of \`runCode('1 + 1')\` by \`@e2b/code-interpreter\` takes ${ratio} times what it takes by \`@coinrack/sdk\` (medians of ${rounds}, in turns, in
sandboxes of the same kind).
`
  await writeFile(join(root, 'docs/e2b-compatibility.md'), text)
} finally {
  await world.stop()
}
process.exit()
