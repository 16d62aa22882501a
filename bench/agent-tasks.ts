import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { prepareDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { startEmbeddedPostgres } from '@coinrack/server/database/embedded.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { startTestService } from '@coinrack/server/process/testing.ts'
import { modes, type Outcome, solve } from './agent/scripted-agent.ts'
import { tasks } from './agent/tasks.ts'

/*
 * Twenty tasks, solved by a scripted agent that reads nothing but lists and answers, and the bytes that come into its
 * context in three modes, side by side: `npm run bench:agent-tasks`. The service is in this process, with a real database;
 * its machines are fakes and the sandboxes run their code on this machine. `npm run bench:agent-tasks -- http://127.0.0.1:8080` does
 * the first task, being inside a VPS, at a service that runs on this machine; the operator credits what is to be paid.
 */

const [at] = process.argv.slice(2)
await (at === undefined ? measureHere() : solveAt(at))

async function measureHere(): Promise<void> {
  const folder = await mkdtemp('/tmp/coinrack-bench-')
  const user = await serviceUser()
  await prepareDataFolder(folder, user)
  const postgres = await startEmbeddedPostgres({
    dataFolder: folder,
    cacheFolder: join(folder, 'cache'),
    user,
  })
  const db = openPool(postgres.url, { size: 1, onError: () => {} })
  await migrate(db)
  await db.end()
  const database = { url: postgres.url, drop: () => postgres.stop() }
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const classes = ['DEFAULT', 'ORDERS', 'TOPUPS', 'SANDBOXES', 'REGISTER', 'REINSTALLS']
  const options = {
    env: {
      ...Object.fromEntries(classes.map((name) => [`COINRACK_RATE_${name}`, '1000000/min'])),
      COINRACK_PUBLIC_URL: origin,
    },
    features: ['guestCommands', 'firewall'] as const,
  }
  const service = await startTestService(options, { database })
  await service.app.listen({ host: '127.0.0.1', port })
  let isOver = false
  const reconciling = (async () => {
    while (!isOver) {
      await service.reconcile()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  const pay = async (token: string) => {
    const { body } = await service.ask('GET', '/account', { token })
    await service.credit(body.id, 20_000_000n)
  }
  try {
    console.log(
      `| task | ${modes.map((mode) => `${mode}: bytes (calls)`).join(' | ')} |\n|---|${'---|'.repeat(modes.length)}`,
    )
    const sums = modes.map(() => 0)
    let failed = 0
    for (const task of tasks) {
      const outcomes: Outcome[] = []
      for (const mode of modes) {
        // Each begins with nothing, or with an account of its own.
        const steps = task.steps.map((step) =>
          step.said?.email
            ? { ...step, said: { email: `scripted${modes.indexOf(mode)}@rackmail.net` } }
            : step,
        )
        const isNew = steps[0]!.said?.email !== undefined
        const { token } = isNew ? { token: undefined } : await service.customer(20_000_000n)
        const outcome = await solve({ ...task, steps }, mode, { origin, token, pay })
        outcomes.push(outcome)
        sums[modes.indexOf(mode)]! += outcome.bytes
        if (!outcome.isSolved) {
          failed++
          console.error(`Not solved in mode ${mode}: ${task.goal}: ${outcome.last.slice(0, 500)}`)
        }
      }
      const cells = outcomes.map(({ bytes, calls }) => `${bytes.toLocaleString('en')} (${calls})`)
      console.log(`| ${task.goal} | ${cells.join(' | ')} |`)
    }
    console.log(`| together | ${sums.map((sum) => sum.toLocaleString('en')).join(' | ')} |`)
    console.log(`${tasks.length * modes.length - failed} of ${tasks.length * modes.length} were solved`)
    process.exitCode = failed > 0 ? 1 : 0
  } finally {
    isOver = true
    await reconciling
    await service.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function solveAt(origin: string): Promise<void> {
  const [task] = tasks
  const email = `scripted-${Date.now()}@rackmail.net`
  const steps = task!.steps.map((step) => (step.said?.email ? { ...step, said: { email } } : step))
  const cli = join(import.meta.dirname, '../packages/server/src/operator/cli.ts')
  const pay = async () => {
    await runCommand(process.execPath, [cli, 'credit', email, '20', '--reason', 'bench'], {
      env: process.env as Record<string, string>,
    })
  }
  const { bytes, calls, isSolved, last } = await solve({ ...task!, steps }, 'find and call', {
    ...{ origin, token: undefined },
    pay,
  })
  console.log(
    `${isSolved ? 'Solved' : 'Not solved'}: ${bytes} bytes, ${calls} calls; the last answer: ${last}`,
  )
  process.exitCode = isSolved ? 0 : 1
}
