import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { runProcess, startCommand } from './support/command-line.ts'
import { ok, startCustomersOfCommands } from './support/command-line-customers.ts'
import { newSshKey } from './support/new-ssh-key.ts'

/*
 * The command line of customers against a service with real database and chains, whose machines are fakes: VPS, and the programs that take them from it.
 */

vi.setConfig({ testTimeout: 120_000 })

type Shared = Awaited<ReturnType<typeof startCustomersOfCommands>>
let world: Shared['world']
let url: Shared['url']
let customer: Shared['customer']
let stop: Shared['stop']
beforeAll(async () => {
  ;({ world, url, customer, stop } = await startCustomersOfCommands())
}, 60_000)
afterAll(() => stop?.())

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
