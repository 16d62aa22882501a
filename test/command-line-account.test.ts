import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCaptured } from '@coinrack/cli/testing.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { createClient } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startCommand } from './support/command-line.ts'
import { ok, startCustomersOfCommands } from './support/command-line-customers.ts'
import { newSshKey } from './support/new-ssh-key.ts'

/*
 * The command line of customers against a service with real database and chains, whose machines are fakes: what concerns the account: logins, money, tokens and keys.
 */

vi.setConfig({ testTimeout: 120_000 })

type Shared = Awaited<ReturnType<typeof startCustomersOfCommands>>
let world: Shared['world']
let url: Shared['url']
let home: Shared['home']
let customer: Shared['customer']
let stop: Shared['stop']
beforeAll(async () => {
  ;({ world, url, home, customer, stop } = await startCustomersOfCommands())
}, 60_000)
afterAll(() => stop?.())

describe('log in', () => {
  test('default: by a code from the mail, kept for the owner alone, good until logged out', async () => {
    const env = { HOME: join(home, 'ada') }
    const at = ['--url', url]
    const asked = await ok(runCaptured(['login', ...at, '--email', 'ada@rackmail.net'], { env }))
    expect(asked.stdout).toContain('--code <code from the mail>')
    const code = /login code is (\S+)/.exec(world.service.mails.at(-1)!.text)![1]!
    const { stdout } = await ok(
      runCaptured(['login', ...at, '--email', 'ada@rackmail.net', '--code', code], { env }),
    )
    expect(stdout).toContain(`Logged in at ${url} as ada@rackmail.net`)

    const file = join(env.HOME, '.config/coinrack/logins.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700)
    const me = await ok(runCaptured(['whoami'], { env }))
    expect(me.stdout).toMatch(/e-mail +ada@rackmail\.net/)

    const { token } = JSON.parse(await readFile(file, 'utf8')).logins[url]
    await ok(runCaptured(['logout'], { env }))
    await expect(createClient({ url, token }).whoami()).rejects.toMatchObject({ code: 'unauthorized' })
    expect(await runCaptured(['whoami'], { env })).toMatchObject({ exitCode: 3 })
  })

  test('behavior: a token from standard input, in the folder that XDG names; a wrong one is not kept', async () => {
    const { token } = await world.service.customer()
    const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'xdg') }
    const wrong = await runCaptured(['login', '--url', url, '--with-token'], { env, input: 'crk_wrong\n' })
    expect(wrong.exitCode).toBe(3)
    expect(wrong.stderr).toContain('"coinrack login"')
    await expect(stat(join(env.XDG_CONFIG_HOME, 'coinrack/logins.json'))).rejects.toThrow('ENOENT')

    await ok(runCaptured(['login', '--url', url, '--with-token'], { env, input: `${token}\n` }))
    await ok(runCaptured(['balance'], { env }))
    await ok(runCaptured(['logout', '--keep-token'], { env }))
    await createClient({ url, token }).whoami()
  })

  test('error: expired, readable by others, damaged, or for another service, a login is not used', async () => {
    const { token } = await world.service.customer()
    const env = { HOME: join(home, 'eve') }
    await ok(runCaptured(['login', '--url', url, '--with-token'], { env, input: token }))
    const late = await runCaptured(['balance'], { env, now: () => Date.parse('2199-01-01') })
    expect(late).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('ended on') })

    const elsewhere = `http://127.0.0.1:${await freePort()}`
    const other = await runCaptured(['balance', '--url', elsewhere], { env })
    expect(other).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(`not logged in at ${elsewhere}`),
    })

    const file = join(env.HOME, '.config/coinrack/logins.json')
    await chmod(file, 0o644)
    expect(await runCaptured(['balance'], { env })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('chmod 600'),
    })
    await chmod(file, 0o600)
    await writeFile(file, '{"logins":')
    expect(await runCaptured(['balance'], { env })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('damaged'),
    })
  })

  test('error: without a terminal it does not ask, without a service it says where to begin', async () => {
    const env = { HOME: join(home, 'nobody') }
    expect(await runCaptured(['login', '--url', url], { env })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('give --email, or --with-token'),
    })
    expect(await runCaptured(['list'], { env })).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('coinrack login --url'),
    })
    const down = await runCaptured(['plans', '--url', `http://127.0.0.1:${await freePort()}`], { env })
    expect(down).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('No answer from') })
  })
})

describe('money', () => {
  test('default: plans, then a top-up that waits until the chain has confirmed it', async () => {
    const { run, token, env } = await customer()
    expect((await ok(run(['plans']))).stdout).toMatch(/^nano .*debian-12/m)
    const topup = startCommand(['topup', '5', '--network', 'base'], { env, input: '' })
    await topup.until('waiting for the transfer')
    await world.payOpenInvoice(token)
    const { code, stdout, stderr } = await topup.ended
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(/^Send 5\.00 USDC on base to\n {2}0x[0-9a-fA-F]{40}\nor pay at http/)
    expect(stderr).not.toContain('\u001b')
    expect(stdout).toBe('5.00 USD received; the balance is 5.00 USD\n')
    const balance = JSON.parse((await ok(run(['balance', '--json']))).stdout)
    expect(balance).toMatchObject({ balance: '5.00', currency: 'USD', runs_out_at: null })
    expect((await ok(run(['transactions']))).stdout).toContain('5.00')
    expect((await ok(run(['invoice', 'list']))).stdout).toContain('paid')
  })

  test('behavior: a terminal is shown the picture for a wallet, and colours unless NO_COLOR forbids them', async () => {
    const { run } = await customer()
    const shown = await ok(run(['topup', '3', '--no-wait'], { columns: 100 }))
    expect(shown.stderr).toMatch(/[█▀▄]{10}/)
    expect(shown.stdout).toMatch(/^ethereum:/)
    const failed = await run(['show', 'none'], { columns: 100 })
    expect(failed.stderr).toContain('\u001b[31mcoinrack:\u001b[0m There is no VPS none')
    expect((await run(['show', 'none'], { columns: 100, env: { NO_COLOR: '1' } })).stderr).toMatch(
      /^coinrack: /,
    )
  })

  test('behavior: interrupted or killed in the middle of a wait, the same command goes on with the same invoice', async () => {
    const { env, token, run } = await customer()
    const first = startCommand(['topup', '4'], { env, input: '' })
    await first.until('waiting for the transfer')
    first.child.kill('SIGINT')
    const interrupted = await first.ended
    expect(interrupted.code).toBe(130)
    expect(interrupted.stderr).toMatch(/Go on with: coinrack pay inv_\w{26}\n/)

    const second = startCommand(['topup', '4'], { env, input: '' })
    await second.until('waiting for the transfer')
    second.child.kill('SIGKILL')
    expect((await second.ended).code).toBeNull()
    expect((await run(['topup', '7'])).exitCode).toBe(1)

    const limited = await run(['topup', '4', '--timeout', '0.5'])
    expect(limited).toMatchObject({
      exitCode: 8,
      stderr: expect.stringContaining('Going on with the open invoice'),
    })
    const third = startCommand(['topup', '4'], { env, input: '' })
    await world.payOpenInvoice(token)
    expect(await third.ended).toMatchObject({
      code: 0,
      stdout: '4.00 USD received; the balance is 4.00 USD\n',
    })
  })

  test('error: an invoice that was cancelled can no longer be paid', async () => {
    const { run } = await customer()
    await ok(run(['topup', '3', '--no-wait']))
    const [{ id }] = JSON.parse((await ok(run(['invoice', 'list', '--json']))).stdout)
    const waiting = run(['pay', id])
    await new Promise((resolve) => setTimeout(resolve, 300))
    await ok(run(['invoice', 'cancel', id]))
    expect(await waiting).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining(`${id} is cancelled`),
    })
    expect(await run(['topup', 'five'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('amount'),
    })
  })
})

describe('tokens and keys', () => {
  test('default: a token with a budget, which is changed and revoked; its program is refused beyond it', async () => {
    const { run } = await customer(20_000_000n)
    const created = await ok(
      run(['token', 'create', 'ci', '--scope', 'read,order,sandbox', '--total', '1', '--days', '7']),
    )
    expect(created.stderr).toContain('1.00 in all')
    const child = created.stdout.trim()
    const over = await run(['order', 'nano'], { env: { COINRACK_TOKEN: child } })
    expect(over).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('"coinrack token budget"') })
    const tokens = JSON.parse((await ok(run(['token', 'list', '--json']))).stdout) as {
      id: string
      name: string
    }[]
    const { id } = tokens.find(({ name }) => name === 'ci')!
    expect((await ok(run(['token', 'budget', id, '--total', '9', '--per-day', '4']))).stdout).toBe(
      `${id}: 4.00 a day, 9.00 in all\n`,
    )
    expect(await run(['token', 'budget', id])).toMatchObject({ exitCode: 2 })
    await ok(run(['order', 'nano', '--no-wait'], { env: { COINRACK_TOKEN: child } }))
    await ok(run(['token', 'revoke', id]))
    expect(await run(['balance'], { env: { COINRACK_TOKEN: child } })).toMatchObject({ exitCode: 3 })
  })

  test('default: a key is stored, used and deleted; a private key is not sent', async () => {
    const { run, home: own } = await customer()
    const file = join(own, 'key.pub')
    await writeFile(file, await newSshKey())
    const { stdout } = await ok(run(['key', 'add', file, '--name', 'laptop']))
    const id = stdout.split(' ')[0]!
    expect((await ok(run(['key', 'list']))).stdout).toMatch(new RegExp(`^${id} +laptop`, 'm'))
    await ok(run(['key', 'delete', id]))
    await writeFile(file, '-----BEGIN OPENSSH PRIVATE KEY-----\n')
    expect(await run(['key', 'add', file])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('.pub'),
    })
  })
})
