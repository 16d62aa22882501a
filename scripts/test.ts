import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'

/*
 * `npm test`: everything that must hold before a change is handed in. Goes on after a failure, so that all are seen.
 * `--full` adds the tests in `*.full.test.ts`, which take long. `--hosts` runs, in place of everything, the tests of the server on fake
 * hosts that are late, lossy and poor (docs/decisions/0264-a-fake-that-is-late-lossy-or-poor.md). `--cluster` runs those on a real
 * cluster, which it starts and ends (deploy/incus-lab). Other arguments choose test files, as vitest does.
 *
 * Without arguments there are two lanes. An emulated machine keeps one processor busy, so one lane has the networks, which
 * mostly wait, and then the machines of VPS, file by file; the other has the checks, the parts, the whole without machines,
 * the machines of sandboxes, and then whichever files of machines are left. A template that one file has booted is lent
 * to the others.
 */

const root = join(import.meta.dirname, '..')
const results = join(root, 'node_modules', '.cache', 'coinrack')
/** The templates that the tests of this run lend each other. */
const templates = join(results, 'templates')
const args = process.argv.slice(2)
const isFull = args.includes('--full')
const isOfHosts = args.includes('--hosts')
const isOfCluster = args.includes('--cluster')
const chosen = args.filter((argument) => !['--full', '--hosts', '--cluster'].includes(argument))
/** `npm test` needs no cluster. */
const WITHOUT_CLUSTER = '--project=!cluster'

const hostModes = ['late', 'lossy', 'poor']
/** The tests that stand on fake hosts. */
const ON_FAKE_HOSTS = [
  'packages/server',
  ...['bad-input', 'earlier-schema', 'every-operation', 'guide', 'placement.test', 'replicas', 'sdk'].map(
    (name) => `test/${name}`,
  ),
]

const checks = [
  { name: 'format and lint', command: 'biome', args: ['check', '--error-on-warnings'] },
  { name: 'types', command: 'tsc', args: ['--project', '.'] },
  { name: 'nothing unused', command: 'knip', args: ['--no-config-hints'] },
  ...(existsSync(join(root, 'openapi.json'))
    ? [{ name: 'OpenAPI', command: 'redocly', args: ['lint', 'openapi.json'] }]
    : []),
]

/** Tests that may be skipped in CI, which is root: they are about hosts that cannot do something, or belong to the long ones. */
const MAY_SKIP =
  /not root|without the right to it|goes to the disk and comes from it is held back|a damaged template makes no clone: the machine is booted/
const mustRunAll = process.env.CI === 'true' && process.getuid?.() === 0 && chosen.length === 0

/** No test is silent for longer. */
const SILENT_MS = 15 * 60_000

/** Runs a command, and ends it when it says nothing any more: what hangs is one failure, and not the end of all lanes. */
async function run(command: string, commandArgs: string[], env: Record<string, string> = {}) {
  const child = spawn(command, commandArgs, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}), ...process.env, ...env },
  })
  const giveUp = () => {
    console.log(
      `\n${[command, ...commandArgs].join(' ')}: ended, since it said nothing for ${SILENT_MS / 60_000} minutes`,
    )
    child.kill('SIGKILL')
  }
  let silence = setTimeout(giveUp, SILENT_MS)
  const pass = (to: NodeJS.WriteStream) => (text: Buffer) => {
    to.write(text)
    clearTimeout(silence)
    silence = setTimeout(giveUp, SILENT_MS)
  }
  child.stdout.on('data', pass(process.stdout))
  child.stderr.on('data', pass(process.stderr))
  const [exitCode] = await once(child, 'exit')
  clearTimeout(silence)
  return exitCode === 0
}

interface Report {
  numPassedTests: number
  numFailedTests: number
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[]
  }[]
}

/** The failures, in the order in which they ended: repeated at the end, since the output in between is long. */
const failures: string[] = []

/** Counts of vitest's own report. A file that cannot be loaded is one failure; so is a report that is not there. */
async function countTests(name: string, path: string, succeeded: boolean) {
  const text = await readFile(path, 'utf8').catch(() => '')
  if (text === '') {
    failures.push(`${name}: the run left no report.`)
    return { passed: 0, failed: 1 }
  }
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(text) as Report
  const unloaded = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((result) => result.status !== 'failed'),
  )
  for (const { name: file, message } of unloaded)
    failures.push(`${relative(root, file)} could not be loaded.\n${message}`)
  for (const { name: file, assertionResults } of testResults)
    for (const { status, fullName, failureMessages } of assertionResults)
      if (status === 'failed')
        failures.push([`${relative(root, file)}: ${fullName}`, ...failureMessages].join('\n'))
  const skipped = testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'skipped' || status === 'pending')
      .map(({ fullName }) => `${relative(root, file)}: ${fullName}`),
  )
  for (const test of skipped) console.log(`Skipped: ${test}`)
  const missed = mustRunAll ? skipped.filter((test) => !MAY_SKIP.test(test)) : []
  for (const test of missed)
    failures.push(`${test}\nIt was skipped, and this machine should be able to run it.`)
  const failed = numFailedTests + unloaded.length + missed.length
  if (!succeeded && failed === 0) failures.push(`${name}: no test failed, and yet the run did.`)
  return { passed: numPassedTests, failed: succeeded ? failed : Math.max(failed, 1) }
}

const total = { passed: 0, failed: 0 }

async function runChecks() {
  for (const { name, command, args: checkArgs } of checks) {
    console.log(`\n${name}`)
    const succeeded = await run(command, checkArgs)
    total[succeeded ? 'passed' : 'failed'] += 1
    if (!succeeded) failures.push(`The check '${name}' failed.`)
  }
}

/** The files of the tests that boot VPS: the largest first, since those take longest. */
async function machineFiles(): Promise<string[]> {
  const { stdout } = await promisify(execFile)(
    'vitest',
    ['list', '--filesOnly', '--json', '--project=machines'],
    {
      cwd: root,
    },
  )
  const files = (JSON.parse(stdout) as { file: string }[]).map(({ file }) => file)
  const sizes = new Map(
    await Promise.all(files.map(async (file) => [file, (await stat(file)).size] as const)),
  )
  return files.toSorted((one, other) => sizes.get(other)! - sizes.get(one)!)
}

async function runTests(name: string, chosenHere: string[], more: Record<string, string> = {}) {
  const report = join(results, `${name}.json`)
  await rm(report, { force: true })
  // Files with machines take long: each of their tests is told of when it ends.
  const told = /^(machines|sandboxes|cluster)/.test(name) ? 'verbose' : 'default'
  const reporters = [`--reporter=${told}`, '--reporter=json', `--outputFile.json=${report}`]
  const env = { COINRACK_TEST_TEMPLATES: templates, ...(isFull ? { COINRACK_TEST_FULL: '1' } : {}), ...more }
  const succeeded = await run('vitest', ['run', ...reporters, ...chosenHere], env)
  const { passed, failed } = await countTests(name, report, succeeded)
  total.passed += passed
  total.failed += failed
}

/** Starts the cluster of the laboratory, unless one is up already, and ends the one that it has started. */
async function onCluster(work: () => Promise<void>) {
  const lab = join(root, 'deploy/incus-lab/lab.sh')
  const isUp = await run(lab, ['status'])
  if (!isUp && !(await run(lab, ['up']))) {
    failures.push('The cluster of the laboratory could not be started.')
    total.failed += 1
    return
  }
  await work()
  if (!isUp) await run(lab, ['down'])
}

await mkdir(results, { recursive: true })
const summary = join(results, 'summary.json')
await rm(summary, { force: true })
await rm(templates, { recursive: true, force: true })

if (isOfHosts)
  for (const mode of hostModes) {
    const files = chosen.length > 0 ? chosen : ON_FAKE_HOSTS
    await runTests(`hosts-${mode}`, ['--project=parts', '--project=whole', ...files], {
      COINRACK_TEST_HOSTS: mode,
    })
  }
else if (isOfCluster) await onCluster(() => runTests('cluster', ['--project=cluster', ...chosen]))
else if (chosen.length > 0) await runTests('chosen', [WITHOUT_CLUSTER, ...chosen])
else if (isFull) {
  await runChecks()
  await runTests('full', [WITHOUT_CLUSTER])
} else {
  const machines = await machineFiles()
  let done = 0
  const runMachines = async () => {
    for (let file = machines.shift(); file; file = machines.shift())
      await runTests(`machines-${done++}`, ['--project=machines', file])
  }
  const lanes = [
    async () => {
      await runTests('networks', ['--project=networks'])
      await runMachines()
    },
    async () => {
      await runChecks()
      await runTests('parts', ['--project=parts'])
      await runTests('whole', ['--project=whole'])
      await runTests('sandboxes', ['--project=sandboxes'])
      await runMachines()
    },
  ]
  await Promise.all(lanes.map((lane) => lane()))
}
await rm(templates, { recursive: true, force: true })

for (const failure of failures) console.log(`\nFAILED: ${failure.slice(0, 3000)}`)
await writeFile(summary, JSON.stringify(total))
console.log(`\n${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
