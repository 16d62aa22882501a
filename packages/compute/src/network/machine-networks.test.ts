import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FirewallPolicy, openPolicy } from '../ports/network-policy.ts'
import { makeVpsId } from '../testing.ts'
import { linkAddresses, linkName, namespaceFile, namespaceName } from './addresses.ts'
import { slotOf } from './link-slots.ts'
import { createMachineNetworks } from './machine-networks.ts'
import { defaultEgress } from './machine-ruleset.ts'
import { networkTraces, rulesTo } from './testing.ts'

/** Real namespaces of this host; what guests do in them is in `guest-traffic.test.ts`. */

const networks = createMachineNetworks({ ...defaultEgress, resolvers: ['192.0.2.53'] }, { info: () => {} })
const possible = await networks.isPossible()
const listen = { host: '127.0.0.1', port: 1_022 }
const spec = { macAddress: '52:54:00:00:00:01', listen, policy: openPolicy }

let id: string
beforeEach(() => {
  id = makeVpsId()
})
afterEach(() => networks.remove(id))

const inside = async (...command: string[]) =>
  (await runCommand('nsenter', [`--net=${namespaceFile(id)}`, ...command])).stdout

describe.skipIf(!possible)('networks of machines', { timeout: 60_000 }, () => {
  test('default: a namespace with tap, addresses, rules and a link; twice is once', async () => {
    await networks.make(id, spec)
    const { ifindex } = JSON.parse(await inside('ip', '-j', 'link', 'show', 'tap0'))[0]
    await networks.make(id, spec)
    expect(JSON.parse(await inside('ip', '-j', 'link', 'show', 'tap0'))[0].ifindex).toBe(ifindex)
    expect(await inside('ip', '-4', '-br', 'address')).toMatch(/tap0 .*10\.0\.2\.2\/24 10\.0\.2\.3\/24/)
    expect(await inside('tc', 'qdisc', 'show', 'dev', 'tap0')).toMatch(/tbf .* rate 200Mbit/)
    expect(await networks.isMade(id)).toBe(true)
    expect(await networks.traffic(id)).toEqual({ rxBytes: 0, txBytes: 0 })
    const machine = linkAddresses((await slotOf(id))!).machine
    expect(await networks.lookAt(id)).toEqual({ host: machine, port: 22 })
    expect(await rulesTo(machine)).toHaveLength(1)
  })

  test('behavior: remove leaves nothing, and may be repeated', async () => {
    await networks.make(id, spec)
    const { machine } = linkAddresses((await slotOf(id))!)
    await networks.remove(id)
    await networks.remove(id)
    expect(await networkTraces(id)).toEqual([])
    expect(await rulesTo(machine)).toEqual([])
    expect(await networks.isMade(id)).toBe(false)
    expect(await networks.traffic(id)).toBeUndefined()
  })

  test('behavior: a change replaces ports and rules', async () => {
    await networks.make(id, spec)
    const { machine } = linkAddresses((await slotOf(id))!)
    const firewall: FirewallPolicy = {
      defaultIn: 'allow',
      defaultOut: 'deny',
      rules: [{ action: 'deny', direction: 'in', protocol: 'tcp', ports: ['80'] }],
    }
    const ports = [{ protocol: 'udp', port: 53, publicPort: 1_053 } as const]
    await networks.make(id, { ...spec, policy: { firewall, ports: [...ports] } })
    expect(await inside('nft', 'list', 'ruleset')).toContain('tcp dport 80 drop')
    expect(await rulesTo(machine)).toEqual(
      expect.arrayContaining([expect.stringContaining(`127.0.0.1 . udp . 1053 : ${machine} . 53`)]),
    )
    await networks.make(id, spec)
    expect(await inside('nft', 'list', 'ruleset')).not.toContain('dport 80 drop')
    expect(await rulesTo(machine)).toHaveLength(1)
  })

  test('error: a port that leads to another machine is not taken from it', async () => {
    const other = makeVpsId()
    await networks.make(id, spec)
    await expect(networks.make(other, spec)).rejects.toMatchObject({ code: 'port_taken' })
    const everywhere = { ...spec, listen: { ...listen, host: '0.0.0.0' } }
    await expect(networks.make(other, everywhere)).rejects.toMatchObject({ code: 'port_taken' })
    expect(await networks.usedPorts()).toContain(listen.port)
    const { machine } = linkAddresses((await slotOf(id))!)
    expect(await rulesTo(machine)).toHaveLength(1)
    await networks.remove(other)
    expect(await networkTraces(other)).toEqual([])
  })

  test('behavior: machines made at the same moment have addresses of their own', async () => {
    const ids = Array.from({ length: 4 }, makeVpsId)
    await Promise.all(
      ids.map((each, index) => networks.make(each, { ...spec, listen: { ...listen, port: 1_100 + index } })),
    )
    const slots = await Promise.all(ids.map(slotOf))
    expect(new Set(slots).size).toBe(4)
    await Promise.all(ids.map(networks.remove))
  })

  test('behavior: whatever a kill left is made whole, or removed', async () => {
    const script = join(import.meta.dirname, 'link.sh')
    const { host, machine } = { host: '100.96.255.249', machine: '100.96.255.250' }
    const args = [host, machine, '10.0.2.2', '10.0.2.3', 'tap0', 'uplink']
    for (let ms = 2; ms < 120; ms += 9) {
      const child = spawn('sh', [script, 'up', namespaceName(id), linkName(id), ...args], { detached: true })
      await sleep(ms)
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // It was done before.
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      if (ms % 2 === 0) {
        await networks.make(id, spec)
        expect(await inside('ip', 'route')).toMatch(/^default via/m)
        await networks.remove(id)
      } else await runCommand('sh', [script, 'down', namespaceName(id), linkName(id)])
      expect(await networkTraces(id)).toEqual([])
    }
  })
})

test.skipIf(possible)('error: without the right to it there is no network', async () => {
  expect(await networks.isPossible()).toBe(false)
})
