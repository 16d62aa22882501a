import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { macAddress } from '../machine/command-line.ts'
import { closedNetwork, openNetwork, type SandboxNetwork } from '../ports/sandbox-network.ts'
import { namesAndPolicyOf } from '../sandbox/network.ts'
import { makeVpsId } from '../testing.ts'
import { namespaceFile, namespaceName } from './addresses.ts'
import { createMachineNetworks } from './machine-networks.ts'
import { resolverGroup, resolverProcess } from './name-resolver.ts'
import { asProcessOf, networkTraces } from './testing.ts'
import { type GuestStandIn, startGuestStandIn } from './testing-guest.ts'
import {
  ELSEWHERE,
  fromHost,
  HOST,
  INTERNET,
  METADATA,
  PRIVATE,
  startWorld,
  worldEgress,
} from './testing-world.ts'

/** Real resolvers, networks and rules, with a namespace in the place of the guest. */

const networks = createMachineNetworks(worldEgress, { info: () => {} })
const possible = await networks.isPossible()
const id = makeVpsId()
const NOBODY = 65_534

describe.skipIf(!possible)('what is reached by name', { timeout: 60_000 }, () => {
  let guest: GuestStandIn
  let endWorld: () => Promise<void>

  const apply = (network: SandboxNetwork) =>
    networks.make(id, { macAddress: macAddress(id), ...namesAndPolicyOf(network) })
  const allow = (...allowOut: string[]) => apply({ ...closedNetwork, allowOut })
  const deny = (...denyOut: string[]) => apply({ ...openNetwork, denyOut })

  /** The result for a name, in one line: addresses, or why there are none. */
  const resolve = async (name: string, ...options: string[]) => {
    const said = await guest.run(`dig @10.0.2.3 ${name} +time=10 +tries=1 ${options.join(' ')} || true`)
    const status = /status: (\w+)/.exec(said)?.[1] ?? 'no answer'
    const found = [...said.matchAll(/^[^;].*\sA\s+(\S+)$/gm)].map(([, address]) => address)
    return status === 'NOERROR' ? found.join(' ') : status
  }
  const reach = (host: string, port = 80) =>
    guest.run(`timeout 10 bash -c 'head -c 30 </dev/tcp/${host}/${port}'`)
  const reached = `caller ${HOST}`
  const inside = async (...command: string[]) =>
    (await runCommand('nsenter', [`--net=${namespaceFile(id)}`, ...command])).stdout
  const programs = async () => {
    const { stdout } = await runCommand('ip', ['netns', 'pids', namespaceName(id)])
    const pids = stdout.split('\n').filter(Boolean).map(Number)
    const named = pids.map(async (pid) => ({
      pid,
      name: (await readFile(`/proc/${pid}/comm`, 'utf8')).trim(),
    }))
    return Promise.all(named)
  }
  const elements = async (set: string) =>
    [...(await inside('nft', 'list', 'set', 'inet', 'coinrack', set)).matchAll(/([\d.]+) timeout/g)].map(
      ([, address]) => address,
    )

  beforeAll(async () => {
    endWorld = await startWorld()
    await apply(openNetwork)
    guest = await startGuestStandIn(`crn${process.pid}`, id, macAddress(id))
  })
  afterAll(async () => {
    await guest?.end()
    await networks.remove(id)
    await endWorld?.()
  })
  // No address is left of the test before.
  beforeEach(() => apply(openNetwork))

  test('default: a name that is allowed is resolved and reached, by UDP and by TCP', async () => {
    await allow('good.example', '*.wide.example')
    expect(await reach(INTERNET)).toBe('no')
    expect(await resolve('good.example')).toBe(INTERNET)
    expect(await reach(INTERNET)).toBe(reached)
    expect(await reach(ELSEWHERE)).toBe('no')
    expect(await resolve('203-0-113-2.wide.example', '+tcp')).toBe(ELSEWHERE)
    expect(await reach(ELSEWHERE)).toBe(reached)
    expect(await resolve('GOOD.Example')).toBe(INTERNET)
  })

  test('error: QEMU, whose user the resolver shares, asks the resolver of the operator nothing', async () => {
    await allow('good.example')
    const ask = (gid: number) => asProcessOf(namespaceFile(id), { uid: NOBODY, gid }, PRIVATE, 53, 'udp')
    expect(await ask(NOBODY)).toBe('no')
    expect(await ask(resolverGroup({}))).toBe('yes')
  })

  test('default: no other name is resolved, and no address reached that no name led to', async () => {
    await allow('good.example', '*.wide.example')
    for (const name of ['other.example', 'sub.good.example', 'wide.example', 'notwide.example', 'example'])
      expect([name, await resolve(name)]).toEqual([name, 'REFUSED'])
    for (const type of ['AAAA', 'TXT', 'ANY'])
      expect([type, await resolve('other.example', type)]).toEqual([type, 'REFUSED'])
    expect(await resolve('good\\\\.wide.example')).toBe('REFUSED')
    for (const address of [INTERNET, ELSEWHERE]) expect(await reach(address)).toBe('no')
  })

  test('default: a name that is denied is neither resolved nor reached by its address; others are', async () => {
    await deny('203-0-113-2.bad.example', '*.worse.example')
    await until(async () => (await elements('denied_names')).length === 1)
    expect(await reach(ELSEWHERE)).toBe('no')
    expect(await resolve('203-0-113-2.bad.example')).toBe('REFUSED')
    expect(await resolve('other.bad.example')).toBe(INTERNET)
    expect(await reach(INTERNET)).toBe(reached)
    // The addresses of names below a denied one are unknown before they are asked for.
    expect(await resolve('any.worse.example')).toBe('REFUSED')
    expect(await reach(INTERNET)).toBe('no')
  })

  test('behavior: another name for a denied one is denied', async () => {
    await deny('bad.example')
    expect(await resolve('to-fine-example.any.example')).toBe(INTERNET)
    expect(await resolve('to-bad-example.any.example')).toBe('REFUSED')
  })

  test('behavior: what is allowed wins over what is denied, by name and by network', async () => {
    await apply({
      allowInternet: true,
      allowOut: ['good.worse.example', INTERNET],
      denyOut: ['*.worse.example', '203.0.113.0/24'],
    })
    expect(await resolve('any.worse.example')).toBe('REFUSED')
    expect(await reach(INTERNET)).toBe(reached)
    expect(await reach(ELSEWHERE)).toBe('no')
    expect(await resolve('good.worse.example')).toBe(INTERNET)
    await apply({ allowInternet: true, allowOut: ['203-0-113-2.good.example'], denyOut: ['0.0.0.0/0'] })
    expect(await resolve('203-0-113-2.good.example')).toBe(ELSEWHERE)
    expect(await reach(ELSEWHERE)).toBe(reached)
    expect(await reach(INTERNET)).toBe('no')
  })

  test('behavior: an allowed name leads to no private network, no metadata and no mail', async () => {
    await allow('*.rebind.example', 'good.example')
    for (const address of [PRIVATE, METADATA]) {
      expect(await resolve(`${address.replaceAll('.', '-')}.rebind.example`)).toBe(address)
      expect([address, await fromHost(address, 80)]).toEqual([address, 'caller '])
      expect([address, await reach(address)]).toEqual([address, 'no'])
    }
    expect(await resolve('good.example')).toBe(INTERNET)
    for (const port of [25, 465, 587]) {
      expect([port, await fromHost(INTERNET, port)]).toEqual([port, 'caller '])
      expect([port, await reach(INTERNET, port)]).toEqual([port, 'no'])
    }
  })

  test('behavior: no other resolver is reached, allowed or not, asked before or not', async () => {
    const ask = `dig @${ELSEWHERE} any.example +short +time=2 +tries=1`
    expect(await guest.run(ask)).toBe(INTERNET)
    const bound = `dig @10.0.2.3 -b 10.0.2.15#5555 any.example +short +time=2 +tries=1`
    expect(await guest.run(bound)).toBe(INTERNET)
    expect(await reach(ELSEWHERE, 853)).toBe(reached)
    await apply({ ...closedNetwork, allowOut: ['good.example', ELSEWHERE] })
    expect(await reach(ELSEWHERE)).toBe(reached)
    for (const line of [ask, `${ask} +tcp`, bound]) expect(await guest.run(line)).not.toContain(INTERNET)
    expect(await reach(ELSEWHERE, 853)).toBe('no')
    await deny('bad.example')
    for (const line of [ask, `${ask} +tcp`]) expect(await guest.run(line)).not.toContain(INTERNET)
  })

  test('behavior: a change holds for old names and new, and open connections go on', async () => {
    await allow('good.example', '203-0-113-2.old.example')
    for (const name of ['good.example', '203-0-113-2.old.example']) await resolve(name)
    const before = await resolverProcess(id)
    const folder = await mkdtemp(join(tmpdir(), 'names-'))
    const download = guest.run(
      `cd ${folder}; exec 5<>/dev/tcp/${ELSEWHERE}/9000; head -c 100 <&5 | wc -c; touch open; ` +
        'until [ -e on ]; do sleep 0.1; done; head -c 1000000 <&5 | wc -c',
    )
    await until(async () => existsSync(join(folder, 'open')))
    await allow('good.example', 'new.example')
    expect(await elements('allowed_names')).toEqual([INTERNET])
    expect(await reach(INTERNET)).toBe(reached)
    expect(await reach(ELSEWHERE)).toBe('no')
    expect(await resolve('203-0-113-2.old.example')).toBe('REFUSED')
    expect(await resolve('new.example')).toBe(INTERNET)
    await writeFile(join(folder, 'on'), '')
    expect((await download).split('\n')).toEqual(['100', '1000000'])
    await rm(folder, { recursive: true })
    expect(await resolverProcess(id)).toBe(before)
    await allow('203-0-113-2.old.example')
    expect(await elements('allowed_names')).toEqual([])
    expect(await resolve('203-0-113-2.old.example')).toBe(ELSEWHERE)
    expect(await reach(ELSEWHERE)).toBe(reached)
  })

  test('behavior: an answer renews how long an address may be reached', async () => {
    await allow('good.example')
    await inside(
      ...['nft', 'add', 'element', 'inet', 'coinrack', 'allowed_names'],
      `{ ${INTERNET} timeout 5s comment "good.example" }`,
    )
    expect(await resolve('good.example')).toBe(INTERNET)
    const listed = await inside('nft', 'list', 'set', 'inet', 'coinrack', 'allowed_names')
    expect(listed).toContain(`${INTERNET} timeout 1h expires 59m`)
  })

  test('behavior: garbage, and connections that say nothing, keep nobody from an answer', async () => {
    await allow('good.example')
    const before = await resolverProcess(id)
    await guest.run(
      'for size in 1 11 12 13 40 400 1400; do head -c $size /dev/urandom >/dev/udp/10.0.2.3/53; done',
    )
    await guest.run('head -c 40 /dev/urandom >/dev/tcp/10.0.2.3/53')
    const silent = guest.run(
      'for n in {1..90}; do exec {fd}<>/dev/tcp/10.0.2.3/53; done; for n in {1..200}; do echo x >/dev/udp/10.0.2.3/53; done; sleep 1',
    )
    expect(await resolve('good.example')).toBe(INTERNET)
    await silent
    await until(async () => (await resolve('good.example', '+tcp')) === INTERNET)
    expect(await resolverProcess(id)).toBe(before)
  })

  test('behavior: a resolver that dies is there again; without rules by name it is gone', async () => {
    await allow('good.example')
    const resolver = (await programs()).find(({ name }) => name === 'python3')!
    const status = await readFile(`/proc/${resolver.pid}/status`, 'utf8')
    expect(status).toMatch(/^Uid:\s+65534\s+65534/m)
    // CAP_NET_ADMIN and CAP_NET_BIND_SERVICE.
    for (const of of ['CapEff', 'CapBnd']) expect(status).toContain(`${of}:\t0000000000001400\n`)
    expect(status).toContain('NoNewPrivs:\t1\n')
    const limits = await readFile(`/proc/${resolver.pid}/limits`, 'utf8')
    expect(limits).toMatch(/^Max data size\s+134217728\s+134217728/m)
    process.kill(resolver.pid, 'SIGKILL')
    // Questions that the resolver had received before it died are never answered.
    await until(async () => (await resolve('good.example', '+time=1')) === INTERNET)
    await apply(closedNetwork)
    expect(await resolverProcess(id)).toBeUndefined()
    expect(await programs()).toEqual([])
  })

  test('behavior: nothing is left of it', async () => {
    await allow('good.example')
    const pid = (await resolverProcess(id))!
    await networks.remove(id)
    expect(() => process.kill(pid, 0)).toThrow()
    expect(await networkTraces(id)).toEqual([])
  })
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 10_000; !(await isSo()); await sleep(50))
    if (performance.now() > end) throw new Error('It did not come true')
}
