import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCaptured, type Surroundings } from '@coinrack/cli/testing.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { createClient } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  runProcess,
  type ServiceForCommands,
  startCommand,
  startServiceForCommands,
} from './support/command-line.ts'
import { newSshKey } from './support/new-ssh-key.ts'

/*
 * The command line of customers against a service with real database and chains, whose machines are fakes. What needs a real machine is
 * in test/command-line.machine.test.ts.
 */

vi.setConfig({ testTimeout: 120_000 })

let world: ServiceForCommands
let url: string
let home: string

beforeAll(async () => {
  world = await startServiceForCommands()
  url = world.url
  home = await mkdtemp(join(tmpdir(), 'coinrack-home-'))
}, 60_000)
afterAll(async () => {
  await world?.stop()
  await rm(home, { recursive: true, force: true })
})

let homes = 0
/** A new customer of the service, with a home and a token. */
async function customer(micros = 0n) {
  const { token, accountId } = await world.service.customer(micros)
  const own = join(home, String(homes++))
  await mkdir(own)
  const env = { HOME: own, COINRACK_URL: url, COINRACK_TOKEN: token }
  const run = (words: string[], surroundings: Surroundings = {}) =>
    runCaptured(words, { ...surroundings, env: { ...env, ...surroundings.env } })
  return { token, accountId, env, home: own, run, client: createClient({ url, token }) }
}
/** Fails with what was said. */
async function ok(outcome: Promise<{ exitCode: number; stdout: string; stderr: string }>) {
  const { exitCode, stdout, stderr } = await outcome
  expect(exitCode, stderr).toBe(0)
  return { stdout, stderr }
}

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

describe('VPS', () => {
  test('default: from an order to a shell, a copy, power and the end', async () => {
    const { run, env, home: own, client } = await customer(20_000_000n)
    await mkdir(join(own, '.ssh'))
    await writeFile(join(own, '.ssh/id_ed25519.pub'), `${await newSshKey()}\n`)
    const quote = await ok(run(['order', 'nano', '--name', 'web', '--dry-run']))
    expect(quote.stdout).toMatch(/^nano would cost 3\.00 USD; the balance is 20\.00 USD/)
    const ordered = await ok(run(['order', 'nano', '--os', 'debian-12', '--name', 'web']))
    expect(ordered.stderr).toMatch(/Ordered nano as web for 3\.00 USD[\s\S]*SSH answers \(\d+ s\)/)
    expect(ordered.stdout).toMatch(
      /^web is ready: coinrack ssh web\nThe root password, which is not shown again: \S+\n$/,
    )
    expect((await ok(run(['list']))).stdout).toMatch(/^NAME .*\nweb +active +nano /)
    expect((await ok(run(['wait', 'web']))).stdout).toBe('web is ready: coinrack ssh web\n')

    // Programs that say what they were called with.
    const bin = join(own, 'bin')
    await mkdir(bin)
    for (const name of ['ssh', 'scp'])
      await writeFile(join(bin, name), '#!/bin/sh\nfor word; do echo "$word"; done\nexit 3\n', {
        mode: 0o755,
      })
    const withBin = { ...env, PATH: `${bin}:${process.env.PATH}` }
    const { ssh, id } = (await client.listVps()).items[0]!
    const logged = await runProcess(['ssh', 'web', '-L', '8080:localhost:80', 'uname', '-a'], {
      env: withBin,
    })
    const knownHosts = join(own, '.config/coinrack/known_hosts', id)
    expect(logged.code).toBe(3)
    expect(logged.stdout.split('\n').slice(0, -1)).toEqual([
      ...['-o', `UserKnownHostsFile="${knownHosts}"`, '-o', 'GlobalKnownHostsFile=none'],
      ...[
        '-o',
        'StrictHostKeyChecking=yes',
        '-o',
        'UpdateHostKeys=no',
        '-p',
        String(ssh.port),
        `root@${ssh.host}`,
      ],
      ...['-L', '8080:localhost:80', 'uname', '-a'],
    ])
    expect(await readFile(knownHosts, 'utf8')).toBe(`${ssh.known_hosts.join('\n')}\n`)
    const copied = await runProcess(['cp', '-r', 'web:/etc', 'here'], { env: withBin })
    expect(copied.stdout).toContain(`-P\n${ssh.port}\n-r\n--\nroot@${ssh.host}:/etc\nhere\n`)

    const ran = await run(['exec', 'web', '--', 'echo out; echo err >&2; exit 4'])
    expect(ran).toEqual({ exitCode: 4, stdout: 'out\n', stderr: 'err\n' })
    const piped = await ok(run(['exec', '-i', 'web', 'tr', 'a-z', 'A-Z'], { input: 'shout' }))
    expect(piped.stdout).toBe('SHOUT')
    expect(await run(['exec', '--timeout', '0.2', 'web', 'sleep 5'])).toMatchObject({ exitCode: 124 })
    expect((await ok(run(['metrics', 'web']))).stdout).toContain('cpu_percent')

    expect((await ok(run(['stop', 'web']))).stdout).toBe('web is stopped\n')
    expect(await run(['exec', 'web', 'true'])).toMatchObject({ exitCode: 125 })
    expect((await ok(run(['start', 'web']))).stdout).toMatch(/^web is /)
    expect((await ok(run(['reboot', 'web', '--force']))).stderr).toContain('reboot of web')
    expect((await ok(run(['rename', 'web', 'www']))).stdout).toBe('web is now www\n')
    expect((await ok(run(['renew', 'www', '--months', '2']))).stdout).toContain('Charged 6.00 USD')
    expect(await run(['cancel', 'www', '--now'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--yes'),
    })
    expect((await ok(run(['cancel', 'www', '--now', '--yes']))).stdout).toContain('is ended')
    expect(await run(['show', 'www'])).toMatchObject({ exitCode: 5 })
  })

  test('behavior: an order that the balance does not cover is paid for with --pay, and is one order', async () => {
    const { run, token, env } = await customer()
    const refused = await run(['order', 'nano', '--name', 'poor'])
    expect(refused.exitCode).toBe(4)
    expect(refused.stderr).toMatch(/Pay for it with: coinrack pay inv_\w+[\s\S]*"coinrack topup"/)
    const paying = startCommand(['order', 'nano', '--name', 'poor', '--pay'], { env, input: '' })
    await paying.until('waiting for the transfer')
    await world.payOpenInvoice(token)
    expect(await paying.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('poor is ready') })
    expect((await ok(run(['list', '--json']))).stdout).toMatch(/^\[\n/)
  })

  test('behavior: killed before the answer came, the same order is placed once', async () => {
    const { env, client } = await customer(20_000_000n)
    const slow = await startProxy()
    const options = { env: { ...env, COINRACK_URL: slow.url }, input: '' }
    const killed = startCommand(['order', 'nano', '--no-wait'], options)
    await slow.held
    killed.child.kill('SIGKILL')
    await killed.ended
    const again = await runProcess(['order', 'nano', '--no-wait'], options)
    expect(again.code, again.stderr).toBe(0)
    expect((await client.listOrders()).items).toHaveLength(1)
    await expect(stat(join(env.HOME, '.config/coinrack/pending-order.json'))).rejects.toThrow('ENOENT')
    expect((await runProcess(['order', 'nano', '--no-wait'], options)).code).toBe(0)
    expect((await client.listOrders()).items).toHaveLength(2)
    slow.close()
  })

  test('behavior: the serial console carries pipes', async () => {
    const { run, env } = await customer(20_000_000n)
    await ok(run(['order', 'nano', '--name', 'tty']))
    const { code, stdout } = await runProcess(['console', 'tty'], { env, input: '\r' })
    expect([code, stdout]).toEqual([0, '\r\nweb login: '])
    expect((await ok(run(['console', 'tty', '--screen']))).stdout).toMatch(/^http/)
  })

  test('error: a name that is not there, or is there twice', async () => {
    const { run, client } = await customer(20_000_000n)
    for (let count = 0; count < 2; count++)
      await client.orderVps({ product: 'nano', os_id: 1, hostname: 'twin' })
    expect(await run(['show', 'twin'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/vps_\w+ or vps_/),
    })
    const { exitCode, stderr } = await run(['show', 'other', '--json'])
    expect(exitCode).toBe(5)
    expect(JSON.parse(stderr)).toEqual({
      error: { message: 'There is no VPS other. You have twin, twin', exit_code: 5 },
    })
    expect(await run(['order', 'giant'])).toMatchObject({ exitCode: 5 })
    expect(await run(['order', 'nano', '--os', 'plan-9'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('debian-12'),
    })
    expect(await run(['ordr', 'nano'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Did you mean order?'),
    })
  })
})

/** A proxy in front of the service that keeps the first answer to an order to itself. */
async function startProxy() {
  let hold: () => void = () => {}
  const held = new Promise<void>((resolve) => {
    hold = resolve
  })
  let orders = 0
  const proxy = createServer((asked, answer) => {
    const forwarded = request(
      `${url}${asked.url}`,
      { method: asked.method, headers: asked.headers },
      (answered) => {
        if (asked.url!.endsWith('/orders') && orders++ === 0) return hold()
        answer.writeHead(answered.statusCode!, answered.headers)
        answered.pipe(answer)
      },
    )
    asked.pipe(forwarded)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    held,
    close() {
      proxy.close()
      proxy.closeAllConnections()
    },
  }
}

describe('sandboxes', () => {
  test('default: a script runs in a new one, with its words, input and exit code, and nothing is left', async () => {
    const { run, home: own } = await customer(1_000_000n)
    const script = join(own, 'add.py')
    await writeFile(script, 'import sys\nprint(sum(map(int, sys.argv[1:])), sys.stdin.read())\nsys.exit(5)\n')
    const ran = await run(['run', '-i', script, '20', '22'], { input: 'given' })
    expect(ran).toEqual({ exitCode: 5, stdout: '42 given\n', stderr: '' })
    const typed = await ok(
      run(['run', '--language', 'bash', '-e', 'NAME=Ada', '-'], { input: 'echo "hello $NAME"' }),
    )
    expect(typed.stdout).toBe('hello Ada\n')
    expect((await ok(run(['sandbox', 'list', '--json']))).stdout).toBe('[]\n')
    const asJson = JSON.parse((await run(['run', '--json', script, '1'])).stdout)
    expect(asJson).toMatchObject({ exit_code: 5, stdout: '1 \n', timed_out: false })
  })

  test('behavior: interrupted, a script ends and its sandbox with it', async () => {
    const { env, home: own, client } = await customer(1_000_000n)
    const script = join(own, 'wait.sh')
    await writeFile(script, 'echo begun\nsleep 60\n')
    const running = startCommand(['run', script], { env, input: '' })
    await running.until('begun')
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(130)
    expect((await client.listSandboxes()).items).toEqual([])
  })

  test('default: one is made, used, copied to and from, paused, resumed and killed', async () => {
    const { run, home: own } = await customer(1_000_000n)
    const id = (await ok(run(['sandbox', 'create', '--tariff', 'small', '--persistent']))).stdout.trim()
    await writeFile(join(own, 'a.txt'), 'carried')
    await ok(run(['cp', join(own, 'a.txt'), `${id}:data/`]))
    const outcome = await run(['exec', id, '--', 'cat data/a.txt; exit 6'])
    expect(outcome).toMatchObject({ exitCode: 6, stdout: 'carried' })
    await ok(run(['cp', `${id}:data/a.txt`, join(own, 'b.txt')]))
    expect(await readFile(join(own, 'b.txt'), 'utf8')).toBe('carried')
    expect((await ok(run(['sandbox', 'list']))).stdout).toContain(id)
    expect((await ok(run(['metrics', id]))).stdout).toContain('processes')
    expect((await ok(run(['shell', id], { input: 'echo piped\n' }))).stdout).toBe('piped\n')

    const background = await ok(
      run(['call', 'exec_command', `sandbox_id=${id}`, 'command="echo logged; sleep 1"', 'background=true']),
    )
    expect(JSON.parse(background.stdout).task_id).toMatch(/^tsk_/)
    expect((await ok(run(['logs', id, '--follow']))).stdout).toBe('logged\n')

    const short = id.slice(0, 20)
    expect((await ok(run(['sandbox', 'pause', short]))).stdout).toContain(`${id} is paused`)
    expect(await run(['exec', id, 'true'])).toMatchObject({
      exitCode: 125,
      stderr: expect.stringContaining('coinrack sandbox resume'),
    })
    expect((await ok(run(['sandbox', 'resume', short]))).stdout).toContain('is running')
    expect((await ok(run(['sandbox', 'show', short]))).stdout).toMatch(/tariff +small/)
    expect((await ok(run(['sandbox', 'kill', short]))).stdout).toContain('is ended')
  })

  test('default: a shell on a terminal, which is as it was afterwards', async () => {
    const { env, client } = await customer(1_000_000n)
    // `script` gives it a terminal.
    const inTerminal = `stty rows 40 cols 100; ${process.execPath} ${join(import.meta.dirname, '../packages/cli/src/coinrack.ts')} shell; echo "ended $?"; stty -a | grep -o -- '-\\?echo\\b'`
    const running = startCommand(['-qec', inTerminal, '/dev/null'], {
      env: { ...env, TERM: 'xterm' },
      program: ['script'],
    })
    await expect.poll(async () => (await client.listSandboxes()).items.length, { timeout: 20_000 }).toBe(1)
    running.child.stdin!.write('tty >/dev/null && echo "a $((40 + 2)) terminal"\n')
    await running.until('a 42 terminal')
    running.child.stdin!.write('exit 9\n')
    await running.until('ended 9')
    running.child.stdin!.end()
    const { stdout } = await running.ended
    expect(stdout).toMatch(/ended 9\r\necho\r\n/)
    expect((await client.listSandboxes()).items).toEqual([])
  })

  test('error: without money none is started', async () => {
    const { run, home: own } = await customer()
    await writeFile(join(own, 'a.py'), 'print(1)')
    expect(await run(['run', join(own, 'a.py')])).toMatchObject({
      exitCode: 125,
      stderr: expect.stringContaining('"coinrack topup"'),
    })
    expect(await run(['sandbox', 'create'])).toMatchObject({ exitCode: 4 })
    expect(await run(['run', join(own, 'a.rb')])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--language'),
    })
    expect(await run(['sandbox', 'show', 'sbx'])).toMatchObject({ exitCode: 5 })
  })
})

describe('other programs', () => {
  test('default: OpenSSH reads the configuration, with the host keys of each VPS and a way to sandboxes', async () => {
    const { run, env, client } = await customer(20_000_000n)
    await ok(run(['order', 'nano', '--name', 'web']))
    const { stdout } = await ok(run(['ssh-config', '--write']))
    const file = join(env.HOME, '.config/coinrack/ssh_config')
    expect(stdout).toContain(`Include "${file}"`)
    const [{ id, ssh }] = (await client.listVps()).items as [Awaited<ReturnType<typeof client.getVpsStatus>>]
    const asked = async (host: string) =>
      (await runProcess(['-G', '-F', file, host], { env, program: ['ssh'] })).stdout.split('\n')
    const keys = join(env.HOME, '.config/coinrack/known_hosts', id)
    expect(await asked('web')).toEqual(
      expect.arrayContaining([
        ...[`hostname ${ssh.host}`, `port ${ssh.port}`, 'user root', 'stricthostkeychecking true'],
        ...[`userknownhostsfile ${keys}`, 'globalknownhostsfile none'],
      ]),
    )
    expect(await readFile(keys, 'utf8')).toBe(`${ssh.known_hosts.join('\n')}\n`)
    expect(await asked('sbx01kabcdefghjkmnpqrstvwxyz0')).toEqual(
      expect.arrayContaining([
        'user user',
        `proxycommand coinrack ssh-proxy --url ${url} %n`,
        'stricthostkeychecking true',
      ]),
    )
    expect(await asked('elsewhere.example.net')).toContain('hostname elsewhere.example.net')
  })

  test('default: Ansible reads the inventory, whole and by host', async () => {
    const { run, env, home: own } = await customer(20_000_000n)
    for (const name of ['web', 'twin', 'twin']) await ok(run(['order', 'nano', '--name', name]))
    const program = join(import.meta.dirname, '../packages/cli/src/coinrack.ts')
    const script = join(own, 'inventory.sh')
    await writeFile(script, `#!/bin/sh\nexec ${process.execPath} ${program} inventory "$@"\n`, {
      mode: 0o755,
    })
    const ansible = async (...words: string[]) => {
      const { code, stdout, stderr } = await runProcess(['-i', script, ...words], {
        env: { ...env, PATH: `/usr/bin:${process.env.PATH}` },
        program: ['ansible-inventory'],
      })
      expect(code, stderr).toBe(0)
      return JSON.parse(stdout)
    }
    const all = await ansible('--list')
    expect(all.all.children).toEqual(expect.arrayContaining(['coinrack']))
    expect(all.plan_nano.hosts).toHaveLength(3)
    expect(all.os_debian_12_bookworm.hosts).toContain('web')
    expect(all.plan_nano.hosts.filter((name: string) => name.startsWith('vps_'))).toHaveLength(2)
    const web = await ansible('--host', 'web')
    expect(web).toMatchObject({
      ansible_user: 'root',
      ansible_port: expect.any(Number),
      coinrack_plan: 'nano',
    })
    expect(web.ansible_ssh_common_args).toContain('StrictHostKeyChecking=yes')
    expect(JSON.parse((await ok(run(['inventory', '--host', 'web']))).stdout)).toEqual(web)
    expect((await ok(run(['inventory', '--host', 'none']))).stdout).toBe('{}\n')
    expect(await run(['inventory'])).toMatchObject({ exitCode: 2 })
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

describe('pipes and shells', () => {
  test('behavior: a reader that stops ends it, without a word', async () => {
    const { env } = await customer()
    const coinrack = `${process.execPath} ${join(import.meta.dirname, '../packages/cli/src/coinrack.ts')}`
    const piped = await runProcess(['-c', `${coinrack} plans | head -n 1; echo "\${PIPESTATUS[0]}"`], {
      env,
      program: ['bash'],
    })
    expect(piped).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^PLAN .*\n0\n$/) })
  })

  test.each(['bash', 'zsh', 'fish'])(
    'default: the completion of %s',
    async (shell) => {
      const { env, run, home: own } = await customer(20_000_000n)
      await ok(run(['order', 'nano', '--name', 'webserver', '--no-wait']))
      await ok(run(['list']))
      await mkdir(join(own, 'bin'))
      const program = join(import.meta.dirname, '../packages/cli/src/coinrack.ts')
      await writeFile(join(own, 'bin/coinrack'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, {
        mode: 0o755,
      })
      await writeFile(join(own, 'script.py'), '')
      const script = join(own, `completion.${shell}`)
      await writeFile(script, (await ok(run(['completion', shell]))).stdout)
      const words = { bash: inBash, zsh: inZsh, fish: inFish }[shell]!
      const path = `${join(own, 'bin')}:${process.env.PATH}`
      const shows = async (line: string, wanted: string) => {
        const running = startCommand(words(script, line), {
          env: { ...env, PATH: path, TERM: 'xterm' },
          input: '',
          program: [shell],
        })
        const plain = () => running.output().replace(/\u001b\[[0-9;?]*[a-zA-Z]/g, '')
        try {
          await expect.poll(plain, { timeout: 20_000 }).toContain(wanted)
        } finally {
          running.child.kill('SIGKILL')
          await running.ended
        }
      }
      await shows('coinrack topu', 'topup')
      await shows('coinrack ssh webs', 'webserver')
      await shows('coinrack metrics webserver --range 2', '24h')
      await shows(`coinrack run ${own}/scri`, 'pt.py')
    },
    90_000,
  )
})

/** The words of a shell that says what its completion of a line is. */
const inBash = (script: string, line: string) => [
  '--norc',
  '-c',
  `source ${script}
   COMP_LINE='${line}'; read -ra COMP_WORDS <<< "$COMP_LINE"; COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
   _coinrack; printf '%s\\n' "\${COMPREPLY[@]}"`,
]
/** It completes only in a terminal of its own, which `zpty` gives it. */
const inZsh = (script: string, line: string) => [
  '-fc',
  `zmodload zsh/zpty
   zpty shell zsh -f
   zpty -w shell 'PS1=; autoload -Uz compinit; compinit -u -D; source ${script}; LISTMAX=1000; echo rea""dy'
   zpty -r -m shell out '*ready*'
   zpty -w -n shell $'${line}\\t'
   while :; do zpty -rt shell out && print -rn -- "$out"; sleep 0.05; done`,
]
const inFish = (script: string, line: string) => [
  '--no-config',
  '-c',
  `source ${script}; complete --do-complete '${line}'`,
]
