import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { prepareDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { startEmbeddedPostgres } from '@coinrack/server/database/embedded.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { POST_STATEMENT, postQuery } from '@coinrack/server/ledger/post.ts'

/*
 * Postings per second through the server's driver, beside the floor: the same statement driven by pgbench, on the
 * same PostgreSQL with fsync on, in alternating rounds. `npm run bench:ledger`
 */

const CONNECTIONS = 16
const ACCOUNTS = 1_000
const SECONDS = 3
const ROUNDS = 9
const AMOUNT = 1_000_000n

const folder = await mkdtemp('/tmp/coinrack-bench-')
const user = await serviceUser()
await prepareDataFolder(folder, user)
const postgres = await startEmbeddedPostgres({ dataFolder: folder, cacheFolder: join(folder, 'cache'), user })
const pool = openPool(postgres.url, { size: CONNECTIONS, onError: () => {} })
const accountId = (index: number) => `acc_${index}`

/** Postings per second of 16 loops, each waiting for its own answer. */
async function driveFromServer(round: number): Promise<number> {
  const end = performance.now() + SECONDS * 1000
  let count = 0
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, loop) => {
      for (let index = 0; performance.now() < end; index++) {
        await pool.query(
          postQuery({
            id: `${round}-${loop}-${index}`,
            kind: 'deposit',
            accountId: accountId((loop * 7919 + index * 104_729) % ACCOUNTS),
            reference: `${round}-${loop}-${index}`,
            description: 'A deposit',
            postings: [{ from: 'treasury.8453.USDC', to: 'customer.available', amount: AMOUNT }],
            at: new Date(),
          }),
        )
        count++
      }
    }),
  )
  return count / SECONDS
}

async function driveFromPgbench(): Promise<number> {
  const values: Record<number, string> = {
    1: ':id::text',
    2: `'deposit'::text`,
    3: `('acc_' || :account)::text`,
    4: ':id::text',
    5: `'A deposit'::text`,
    6: 'now()',
    7: `array['treasury.8453.USDC', 'customer.available']`,
    8: `array[${-AMOUNT}, ${AMOUNT}]`,
  }
  const statement = POST_STATEMENT.replace(/\$(\d+)/g, (_, number) => values[Number(number)]!)
  const script = join(folder, 'post.sql')
  await writeFile(
    script,
    `\\set id random(1, 9000000000000000000)\n\\set account random(0, ${ACCOUNTS - 1})\n${statement.replaceAll('\n', ' ')};\n`,
  )
  const { stdout } = await runCommand('pgbench', [
    ...['--no-vacuum', '--protocol=prepared', `--client=${CONNECTIONS}`, '--jobs=2', `--time=${SECONDS}`],
    ...['--file', script, postgres.url],
  ])
  return Number(/tps = ([\d.]+)/.exec(stdout)![1])
}

try {
  await migrate(pool)
  await pool.query(
    `insert into account (id, email, created_at) select 'acc_' || n, n || '@bench', now() from generate_series(0, $1::int) n`,
    [ACCOUNTS - 1],
  )
  await pool.query('insert into customer_balance (account_id) select id from account')
  await driveFromServer(ROUNDS)
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // In turn first, so that a table that grows and a host that gets busier favour neither.
    const oursFirst = round % 2 === 0 ? await driveFromServer(round) : undefined
    const floor = await driveFromPgbench()
    const ours = oursFirst ?? (await driveFromServer(round))
    ratios.push(ours / floor)
    console.log(
      `round ${round + 1}: server ${ours.toFixed(0)}/s, pgbench ${floor.toFixed(0)}/s, ratio ${(ours / floor).toFixed(2)}`,
    )
  }
  const { rows } = await pool.query('select sum(amount)::text as sum from ledger_entry')
  console.log(`sum of all entries: ${rows[0].sum}`)
  console.log(
    `median ratio at ${CONNECTIONS} connections: ${ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!.toFixed(2)}`,
  )
} finally {
  await pool.end()
  await postgres.stop()
  await rm(folder, { recursive: true })
}
