import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { operationList } from '@coinrack/contract/index.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DeclarationPart, declareOperations } from './declare-operations.ts'

/*
 * The declaration of the client, as the compiler reads it.
 */

const MOST = 24_000
const names = operationList.map(([name]) => name).filter((name) => name !== 'callOperation')
const parts: DeclarationPart[] = []
for (let done = 0; done < names.length; done += parts.at(-1)!.count)
  parts.push(declareOperations(names.slice(done), names.slice(0, done), MOST))
const whole = parts.map(({ declaration }) => declaration).join('')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-declaration-'))
})
afterAll(() => rm(folder, { recursive: true }))

const options = {
  strict: true,
  noEmit: true,
  target: 'es2024',
  lib: ['es2024'],
  types: [],
  module: 'preserve',
}
const tsc = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')))

/** What the compiler has to say about a program that uses a declaration. */
async function compile(declaration: string, program: string): Promise<string[]> {
  await writeFile(join(folder, 'coinrack.d.ts'), declaration)
  await writeFile(join(folder, 'program.ts'), `${program}\nexport {}\n`)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }))
  const compiling = promisify(execFile)(process.execPath, [tsc, '--project', '.'], { cwd: folder })
  const { code, stdout } = await compiling.then(
    () => ({ code: 0, stdout: '' }),
    (error) => error,
  )
  const lines = String(stdout).trim().split('\n').filter(Boolean)
  expect(code === 0).toBe(lines.length === 0)
  return lines
}

const PROGRAM = `
const { items: plans } = await coinrack.listPlans()
const plan = plans.find(({ price, available }) => available && Number(price) < 10)
if (!plan) throw new Error('There is nothing for less than 10 USD')
const order = await coinrack.orderVps(
  { product: plan.slug, os_id: plan.os_images[0]!.os_id, billing_cycle: 'hourly', max_price: 1 },
  { idempotencyKey: 'order 1' },
)
if (order.service_id === null) throw new Error(order.status)
for (;;) {
  const vps = await coinrack.getVpsStatus({ service_id: order.service_id, wait: 'ssh_ready', timeout: 50 })
  if (vps.ssh_ready) break
}
const { stdout } = await coinrack.runOnVps({ service_id: order.service_id, command: 'uname -a' })
const kernel: string = stdout
const sandbox = await coinrack.createSandbox()
const ran = await coinrack.runCode({ sandbox_id: sandbox.id, code: '6 * 7' })
const shown: string | undefined = ran.results[0]?.data['text/plain']
const page: Coinrack.Page<Coinrack.VPS> = await coinrack.listVps({ limit: 10, cursor: undefined as string | undefined })
`

test('default: the parts together are one file, and a program that uses it compiles', async () => {
  expect(parts.length).toBeGreaterThan(1)
  expect(await compile(whole, PROGRAM)).toEqual([])
})

test('behavior: each part fits into an answer', () => {
  for (const { declaration } of parts) expect(JSON.stringify(declaration).length).toBeLessThan(MOST)
})

test('behavior: some operations alone are a whole declaration too', async () => {
  const { declaration, count } = declareOperations(['getInvoice', 'listTasks'], [], MOST)
  expect(count).toBe(2)
  const program = `
    const { status, payment_options } = await coinrack.getInvoice({ invoice_id: 'inv_0' })
    const { items } = await coinrack.listTasks({ sandbox_id: 'sbx0' })`
  expect(await compile(declaration, program)).toEqual([])
})

test('error: the compiler refuses what the service would refuse', async () => {
  const told = await compile(
    whole,
    `
    await coinrack.orderVps({ product: 'nano' })
    await coinrack.powerVps({ service_id: 'vps_0', action: 'explode' })
    await coinrack.getBalance({ no_such_field: 1 })
    await coinrack.noSuchOperation()
    const price: number = (await coinrack.getBalance()).balance`,
  )
  const lines = new Set(told.flatMap((line) => /^program\.ts\((\d+)/.exec(line.trim())?.[1] ?? []))
  expect([...lines].sort()).toEqual(['2', '3', '4', '5', '6'])
})
