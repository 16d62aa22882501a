import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkAddresses } from '../network/addresses.ts'
import { slotOf } from '../network/link-slots.ts'
import { createMachineNetworks } from '../network/machine-networks.ts'
import { resolverProcess } from '../network/name-resolver.ts'
import { asProcess, networkTraces } from '../network/testing.ts'
import {
  ELSEWHERE,
  HOST,
  INTERNET,
  METADATA,
  PRIVATE,
  startWorld,
  worldEgress,
} from '../network/testing-world.ts'
import { closedNetwork, openNetwork, type SandboxNetwork } from '../ports/sandbox-network.ts'
import type { SandboxSpec } from '../ports/sandbox-runtime.ts'
import { runTask } from '../ports/suites/sandbox-channel.suite.ts'
import { makeSandboxSpec } from '../testing.ts'
import type { Sandboxes } from './runtime.ts'
import { folderOf, groupsOf, makeSandboxes, PARENT, processesIn } from './testing.ts'
import { expectPackagesToWork, INDEX_NAME, servePackages } from './testing-packages.ts'

/** A real sandbox on this host, and a world around it. The rules themselves are tested in `network/`. */
describe.skipIf(process.getuid?.() !== 0)("a sandbox's own network", { timeout: 4 * 60_000 }, () => {
  let sandboxes: Sandboxes & { dataFolder: string }
  let spec: SandboxSpec
  const networks = createMachineNetworks(worldEgress, { info: () => {} })
  let stopWorld: () => Promise<void>
  const size = { vcpus: 1, memoryMb: 512, diskGb: 2 }

  beforeAll(async () => {
    stopWorld = await startWorld()
    sandboxes = await makeSandboxes({ networks })
    await sandboxes.keepTemplate('base', size)
    spec = makeSandboxSpec({ ...size, network: openNetwork })
    await sandboxes.runtime.ensure(spec)
  }, 5 * 60_000)
  afterAll(async () => {
    if (spec) await sandboxes.runtime.destroy(spec.id)
    await sandboxes?.close()
    await stopWorld?.()
  })

  const fromInside = async (host: string, port: number) => {
    const command = `timeout 5 bash -c 'head -c 30 </dev/tcp/${host}/${port}' 2>/dev/null || echo no`
    return (await runTask(sandboxes.channel, spec.id, { run: { command } })).stdout.trim()
  }
  const apply = (network: Partial<SandboxNetwork>) =>
    sandboxes.runtime.applyNetwork(spec.id, { ...openNetwork, ...network })

  test('default: it was a clone, reaches the internet and resolves names', async () => {
    expect(await sandboxes.runtime.hasNetworks()).toBe(true)
    expect(await fromInside(INTERNET, 80)).toBe(`caller ${HOST}`)
    const { stdout } = await runTask(sandboxes.channel, spec.id, {
      run: { command: 'getent ahostsv4 any.example.net | head -1' },
    })
    expect(stdout).toContain(INTERNET)
  })

  test('behavior: host, private networks, metadata and mail are out of reach', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('secret\n')).listen(0, '0.0.0.0')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const machineId = (await folderOf(sandboxes.dataFolder, spec.id))!.split('/').at(-1)!
    const { host: linkEnd } = linkAddresses((await slotOf(machineId))!)
    for (const [host, at] of [
      ...[HOST, linkEnd, '10.0.2.2'].map((own) => [own, port] as const),
      ...[PRIVATE, METADATA].map((own) => [own, 80] as const),
      ...[25, 465, 587].map((mail) => [INTERNET, mail] as const),
    ])
      expect([host, at, await fromInside(host, at)]).toEqual([host, at, 'no'])
    // Nor by sockets of its QEMU's own, which no rule of the guest's traffic meets.
    const [pid] = await processesIn((await folderOf(sandboxes.dataFolder, spec.id))!)
    const tried = [
      [METADATA, 80],
      [PRIVATE, 80],
      [INTERNET, 25],
      [INTERNET, 80],
      [HOST, port],
      [linkEnd, port],
    ] as const
    const seen = await Promise.all(tried.map(async ([to, at]) => [to, at, await asProcess(pid!, to, at)]))
    expect(seen).toEqual(tried.map(([to, at]) => [to, at, 'no']))
    server.close()
  })

  test('behavior: what it may reach changes while it runs', async () => {
    await apply({ denyOut: ['198.51.100.0/24'] })
    expect(await fromInside(INTERNET, 80)).toBe('no')
    await apply({ allowOut: [INTERNET], denyOut: ['198.51.100.0/24'] })
    expect(await fromInside(INTERNET, 80)).toBe(`caller ${HOST}`)
    await apply(closedNetwork)
    expect(await fromInside(INTERNET, 80)).toBe('no')
    await apply({ allowInternet: false, allowOut: ['198.51.100.0/24'] })
    expect(await fromInside(INTERNET, 80)).toBe(`caller ${HOST}`)
    await apply({ allowInternet: false, allowOut: [PRIVATE] })
    expect(await fromInside(PRIVATE, 80)).toBe('no')
  })

  test('behavior: by name, also after a pause, and after the service and the resolver were killed', async () => {
    const byName = { allowInternet: false, allowOut: ['good.example', '*.wide.example'] }
    await apply(byName)
    const isByName = async () => {
      expect(await fromInside(ELSEWHERE, 80)).toBe('no')
      expect(await fromInside('good.example', 80)).toBe(`caller ${HOST}`)
      expect(await fromInside('203-0-113-2.other.example', 80)).toBe('no')
      expect(await fromInside('10-99-0-2.wide.example', 80)).toBe('no')
      expect(await fromInside(ELSEWHERE, 80)).toBe('no')
    }
    await isByName()
    expect(await fromInside('203-0-113-2.wide.example', 80)).toBe(`caller ${HOST}`)
    await sandboxes.runtime.pause(spec.id)
    await sandboxes.runtime.resume(spec.id)
    await isByName()

    const machineId = (await folderOf(sandboxes.dataFolder, spec.id))!.split('/').at(-1)!
    const resolver = (await resolverProcess(machineId))!
    expect(await readFile(`/proc/${resolver}/cgroup`, 'utf8')).toContain(`${PARENT}/${machineId}\n`)
    await sandboxes.close()
    process.kill(resolver, 'SIGKILL')
    sandboxes = await makeSandboxes({ networks, dataFolder: sandboxes.dataFolder })
    expect(await resolverProcess(machineId)).not.toBe(resolver)
    await isByName()
    await apply(openNetwork)
    expect(await fromInside('other.example', 80)).toBe(`caller ${HOST}`)
    expect(await resolverProcess(machineId)).toBeUndefined()
  })

  test('default: pip, npm and apt-get install from an index that it may reach, for its user and for root', {
    timeout: 10 * 60_000,
  }, async () => {
    const endIndex = await servePackages()
    await apply({ allowInternet: false, allowOut: [INDEX_NAME] })
    await expectPackagesToWork(sandboxes.channel, spec.id)
    await endIndex()
  })

  test('behavior: what it may reach stays so over a pause; nothing is left of its network', async () => {
    await apply({ allowInternet: false, allowOut: [INTERNET, 'good.example'] })
    const machineId = (await folderOf(sandboxes.dataFolder, spec.id))!.split('/').at(-1)!
    await sandboxes.runtime.pause(spec.id)
    expect(await networkTraces(machineId)).toEqual([])
    await sandboxes.runtime.resume(spec.id)
    expect(await fromInside(INTERNET, 80)).toBe(`caller ${HOST}`)
    expect(await fromInside(INTERNET, 25)).toBe('no')
    const resolver = (await resolverProcess(machineId))!
    await sandboxes.runtime.destroy(spec.id)
    expect(await networkTraces(machineId)).toEqual([])
    expect(() => process.kill(resolver, 0)).toThrow()
    expect(await groupsOf(machineId)).toEqual([])
  })
})
