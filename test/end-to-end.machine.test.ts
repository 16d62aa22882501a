import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fetchDemoMoney, payOnDemoChain } from '@coinrack/cli/pay-on-demo-chain.ts'
import { playDemo } from '@coinrack/cli/play-demo.ts'
import { createProgress } from '@coinrack/cli/progress.ts'
import { makeSshKey, runInGuest, sshArguments } from '@coinrack/cli/ssh.ts'
import { basePath } from '@coinrack/contract/index.ts'
import { networks, tokenSymbols } from '@coinrack/contract/invoices.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { createClient, waitForInvoice, waitForSsh } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { runProcess } from './support/command-line.ts'
import { chargesOf, guestsOf, newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'
import { type Bought, newPayer, withMcpClient, withMppx, withX402Fetch } from './support/stock-payers.ts'

/*
 * The main job on real parts: service, database, chains and machines are processes of their own, as an operator runs
 * them; the customer comes with an MCP client, with REST, a wallet and the system's ssh.
 */

vi.setConfig({ testTimeout: 15 * 60_000 })

const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000))
/** From an order on, in which a kill can come: a machine takes longer to boot. */
const KILL_WITHIN_MS = 20_000

let service: RunningService
let folder: string

beforeAll(async () => {
  service = await startService({ COINRACK_INSTANT_VPS: 'on' })
  folder = await mkdtemp('/tmp/coinrack-customer-')
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
}, 180_000)

test('default: an agent that knows only the MCP address pays and runs a command in its VPS', async () => {
  const { output } = await playDemo({
    origin: service.origin,
    email: `agent-${process.pid}@rackmail.net`,
    folder,
    progress: createProgress(() => performance.now(), console.log),
    sleep,
  })
  expect(output).toMatch(/^Linux .* x86_64 GNU\/Linux\nvps-[0-9a-z]{6}$/)
})

test('default: the command line orders, logs in, copies, runs commands and reads the journal', async () => {
  const { token } = await newCustomer(service, '5')
  const home = await mkdtemp(join(folder, 'home-'))
  await mkdir(join(home, '.ssh'))
  const { privateKeyFile } = await makeSshKey(join(home, '.ssh'))
  const env = { HOME: home, COINRACK_URL: service.origin, COINRACK_TOKEN: token }
  const coinrack = async (words: string[], input = '') => {
    const { code, stdout, stderr } = await runProcess(words, { env, input })
    return { code, stdout, ...(code !== 0 && { stderr }) }
  }
  const ordered = await coinrack(['order', 'nano', '--name', 'by-hand'])
  expect(ordered).toMatchObject({ code: 0, stdout: expect.stringContaining('by-hand is ready') })
  // OpenSSH looks for keys in the home of the password file.
  const withKey = ['-i', privateKeyFile, '-o', 'IdentitiesOnly=yes']
  expect(await coinrack(['ssh', 'by-hand', ...withKey, 'hostname; exit 3'])).toMatchObject({
    code: 3,
    stdout: 'by-hand\n',
  })
  const file = join(home, 'carried')
  await writeFile(file, 'there and back')
  expect(await coinrack(['cp', '-i', privateKeyFile, file, 'by-hand:/root/there'])).toMatchObject({ code: 0 })
  expect(await coinrack(['exec', 'by-hand', 'cat', '/root/there'])).toEqual({
    code: 0,
    stdout: 'there and back',
  })
  expect(await coinrack(['cp', '-i', privateKeyFile, 'by-hand:/root/there', `${file}-again`])).toMatchObject({
    code: 0,
  })
  expect(await readFile(`${file}-again`, 'utf8')).toBe('there and back')
  await coinrack(['exec', 'by-hand', 'logger', '-t', 'test', 'noted in the journal'])
  expect((await coinrack(['logs', 'by-hand', '-n', '50'])).stdout).toContain('noted in the journal')
  expect((await coinrack(['console', 'by-hand'], '\r')).stdout).toContain('login:')
  expect(await coinrack(['cancel', 'by-hand', '--now', '--yes'])).toMatchObject({ code: 0 })
})

test('behavior: killed while provisioning, an order by REST ends with one machine, one charge, one password', async () => {
  const customer = await newCustomer(service, '10')
  const order = await customer.orderVps({ product: 'nano', os_id: 1, hostname: 'web.shop.net', boot: 'cold' })
  expect(order).toMatchObject({ status: 'provisioning', paid_from_balance: true, balance: 7_000_000n })
  expect((await customer.getBalance()).held).toBe(3_000_000n)

  const killAfterMs = (seed * 7919) % KILL_WITHIN_MS
  console.log(`SIGKILL after ${killAfterMs} ms (COINRACK_TEST_SEED=${seed})`)
  await sleep(killAfterMs)
  await service.kill()
  await service.start()

  const serviceId = order.service_id!
  await waitForSsh(customer, serviceId, { reveal: false })
  expect(await guestsOf(serviceId)).toBe(1)
  expect(await chargesOf(customer)).toEqual({ charges: 1, held: 0n })

  const reads = await Promise.all(
    Array.from({ length: 50 }, () => customer.getVpsStatus({ service_id: serviceId })),
  )
  const passwords = reads.flatMap(({ root_password }) => root_password ?? [])
  expect(passwords).toHaveLength(1)

  const { ssh } = await customer.getVpsStatus({ service_id: serviceId })
  const knownHosts = join(folder, 'known_hosts_rest')
  await writeFile(knownHosts, ssh.known_hosts.join('\n'))
  const byPassword = [
    ...['-o', 'PubkeyAuthentication=no', '-o', 'StrictHostKeyChecking=yes'],
    ...['-o', `UserKnownHostsFile=${knownHosts}`, '-p', String(ssh.port), `root@${ssh.host}`],
  ]
  const inside = async (command: string) => {
    const { stdout } = await runCommand('sshpass', ['-e', 'ssh', ...byPassword, command], {
      env: { SSHPASS: passwords[0]! },
      timeoutMs: 60_000,
    })
    return stdout.trim()
  }
  expect(await inside('hostname')).toBe('web.shop.net')

  // The host's loopback is 10.0.2.2 to a guest that could reach it.
  const secret = createServer((socket) => socket.end('secret')).listen(0, '127.0.0.1')
  await once(secret, 'listening')
  const { port } = secret.address() as { port: number }
  expect(await inside(`timeout 5 bash -c 'cat < /dev/tcp/10.0.2.2/${port}' 2>/dev/null; echo done`)).toBe(
    'done',
  )
  secret.close()

  expect(await inside('echo kept > /root/kept; sync; echo ok')).toBe('ok')
  await customer.powerVps({ service_id: serviceId, action: 'stop' })
  await customer.getVpsStatus({ service_id: serviceId, wait: 'stopped', timeout: 50 })
  expect(await guestsOf(serviceId)).toBe(0)
  await customer.powerVps({ service_id: serviceId, action: 'start' })
  await waitForSsh(customer, serviceId)
  expect(await inside('cat /root/kept')).toBe('kept')

  const cancelled = await customer.cancelService({
    service_id: serviceId,
    mode: 'immediate',
    confirm: 'web.shop.net',
  })
  // One started hour of the hourly price stays charged.
  expect(cancelled.credited).toBe(3_000_000n - 4_500n)
  await vi.waitUntil(async () => (await guestsOf(serviceId)) === 0, { timeout: 60_000, interval: 500 })
})

/** Three at a time: one network after the other. */
test.each(networks)(
  'behavior: an order that the balance did not cover is provisioned by the payment of its invoice, in each token of %s',
  async (network) => {
    const paidIn = async (token: (typeof tokenSymbols)[number]) => {
      const customer = await newCustomer(service, '1')
      const keyFolder = await mkdtemp(join(folder, 'key-'))
      const key = await makeSshKey(keyFolder)
      const wanted = {
        product: 'nano',
        os_id: 1,
        hostname: `by-${token.toLowerCase()}`,
        ssh_key: key.publicKey,
      }
      const refusal = await customer.orderVps(wanted).catch((error) => error)
      expect(refusal).toMatchObject({
        status: 402,
        code: 'insufficient_balance',
        body: { shortfall: '2.00' },
      })

      const { payment_options, id } = refusal.body.invoice
      const option = payment_options.find(
        (each: { network: string; token: string }) => each.network === network && each.token === token,
      )
      await payOnDemoChain(await fetchDemoMoney(service.origin), option)
      await waitForInvoice(customer, id)
      const { service_id } = await customer.getOrder({ order_id: refusal.body.order_id })

      const { ssh } = await waitForSsh(customer, service_id!)
      const inside = await runInGuest(await sshArguments(keyFolder, key, ssh), 'hostname')
      expect(inside.trim()).toBe(wanted.hostname)
      expect(await chargesOf(customer)).toEqual({ charges: 1, held: 0n })
      // 1 USD of the operator, the whole price from the chain, less the price.
      expect((await customer.getBalance()).balance).toBe(1_000_000n)
      await customer.cancelService({ service_id: service_id!, mode: 'immediate', confirm: wanted.hostname })
    }
    await Promise.all(tokenSymbols.map(paidIn))
  },
)

const HOURLY = { product: 'nano', os_id: 1, billing_cycle: 'hourly' }

describe('programs of others, unmodified, pay in one retry and are inside by SSH', () => {
  test.each<
    [string, string, (payer: Awaited<ReturnType<typeof newPayer>>, order: object) => Promise<Bought>]
  >([
    [
      '@x402/fetch, without an account',
      '108000',
      (payer, order) => withX402Fetch(payer, `${service.origin}/x402/orders`, order),
    ],
    [
      '@x402/fetch, with a token and nothing on the balance',
      '4500',
      async (payer, order) => {
        const { token } = await createClient({ url: service.origin }).registerAccount({
          email: `empty-${process.pid}@rackmail.net`,
        })
        const bought = await withX402Fetch(payer, `${service.origin}${basePath}/orders`, order, token)
        return { ...bought, body: { ...bought.body, token } }
      },
    ],
    [
      'mppx, without an account',
      '108000',
      (payer, order) => withMppx(payer, `${service.origin}/x402/orders`, order),
    ],
    [
      'the MCP client and @x402/core, without an account',
      '108000',
      (payer, order) => withMcpClient(payer, `${service.origin}/mcp`, order),
    ],
  ])('default: %s', async (name, price, buy) => {
    const keyFolder = await mkdtemp(join(folder, 'key-'))
    const key = await makeSshKey(keyFolder)
    const payer = await newPayer(service, 1_000_000n)
    const begun = performance.now()
    const { calls, body } = await buy(payer, { ...HOURLY, hostname: 'bought', ssh_key: key.publicKey })
    expect([calls, body.settlement?.amount], JSON.stringify(body)).toEqual([2, price])
    const buyer = createClient({ url: service.origin, token: body.token })
    const { ssh } = await waitForSsh(buyer, body.service_id, { reveal: false })
    expect((await runInGuest(await sshArguments(keyFolder, key, ssh), 'hostname')).trim()).toBe('bought')
    console.log(
      `${name}: ${price} micro-USD, inside after ${((performance.now() - begun) / 1000).toFixed(1)} s`,
    )
    await buyer.cancelService({ service_id: body.service_id, mode: 'immediate', confirm: 'bought' })
  })
})
