import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createQemuDriver, type QemuDriver } from '../local-vps/driver.ts'
import { makeSshAccess, type SshAccess } from '../local-vps/testing.ts'
import { openPolicy } from '../ports/network-policy.ts'
import { addressTraces, networkTraces } from './testing.ts'
import {
  BRIDGE,
  bridgeEgress,
  fromOutside,
  OUTSIDE,
  OUTSIDE6,
  ROUTER,
  startBridgeWorld,
} from './testing-bridge-world.ts'

/** One real guest with addresses of its own, as its image and its seed make it. What needs no boot is in `own-*.test.ts`. */

const IMAGE = process.env.COINRACK_TEST_IMAGE ?? 'debian-13'
const cacheFolder =
  process.env.COINRACK_CACHE ??
  (process.getuid?.() === 0 ? '/var/cache/coinrack' : join(homedir(), '.cache/coinrack'))
const A = '198.18.0.17'
/** A guest under emulation, on a busy host, is slow to say its banner. */
const PATIENCE_MS = 30_000
const A6 = '2001:db8:ffff::117'

describe.skipIf(process.getuid?.() !== 0)(
  'a guest with addresses of its own',
  { timeout: 8 * 60_000 },
  () => {
    let dataFolder: string
    let driver: QemuDriver
    let access: SshAccess
    let endWorld: () => Promise<void>

    const untilReady = async () => {
      while (!(await driver.observe(access.spec.id)).sshReady) {
        await driver.ensure(access.spec)
        await sleep(500)
      }
    }

    beforeAll(async () => {
      endWorld = await startBridgeWorld()
      dataFolder = await mkdtemp(join(tmpdir(), 'coinrack-own-'))
      await runCommand('chmod', ['755', dataFolder])
      driver = createQemuDriver({
        dataFolder,
        cacheFolder,
        user: await serviceUser(),
        clock: { now: () => new Date() },
        log: { info: () => {} },
        egress: bridgeEgress,
        addressRouting: { bridge: BRIDGE, gateway: ROUTER },
      })
      await driver.prepare(() => {})
      access = await makeSshAccess({
        image: IMAGE,
        vcpus: 2,
        sshAddress: { host: A, port: 22 },
        addresses: { ipv4: A, ipv6: A6 },
      })
      await driver.ensure(access.spec)
      await untilReady()
    }, 10 * 60_000)

    afterAll(async () => {
      if (access) await driver.destroy(access.spec.id)
      await endWorld?.()
      await rm(dataFolder, { recursive: true })
    })

    test('default: SSH at port 22 of both addresses, from beyond the router and from the host', async () => {
      expect(await fromOutside(A, 22, OUTSIDE, PATIENCE_MS)).toMatch(/^SSH-2\.0-OpenSSH/)
      expect(await fromOutside(A6, 22, OUTSIDE6, PATIENCE_MS)).toMatch(/^SSH-2\.0-OpenSSH/)
      expect(await access.byKey('hostname')).toBe(access.spec.hostname)
    })

    test('default: the guest reaches the world from them, as itself', async () => {
      const read = (host: string) => `timeout 30 bash -c 'head -c 60 </dev/tcp/${host}/80' || echo no`
      expect(await access.byKey('ip -6 -o address show scope global')).toContain(`${A6}/128`)
      expect(await access.byKey('ip -6 route show default')).toContain('via fe80::1')
      expect(await access.byKey(read(OUTSIDE))).toBe(`caller ${A}`)
      expect(await access.byKey(read(OUTSIDE6))).toBe(`caller ${A6}`)
    })

    test('behavior: the firewall closes both at once, and opens them again', async () => {
      const firewall = { ...openPolicy.firewall, defaultIn: 'deny' } as const
      await driver.applyNetwork(access.spec.id, { firewall: { ...firewall, rules: [] }, ports: [] })
      expect(await Promise.all([fromOutside(A, 22), fromOutside(A6, 22, OUTSIDE6)])).toEqual(['no', 'no'])
      await driver.applyNetwork(access.spec.id, openPolicy)
      expect(await fromOutside(A6, 22, OUTSIDE6, PATIENCE_MS)).toMatch(/^SSH/)
    })

    test('behavior: destroy leaves nothing of the addresses', async () => {
      await driver.destroy(access.spec.id)
      expect(await networkTraces(access.spec.id)).toEqual([])
      expect([...(await addressTraces(A)), ...(await addressTraces(A6))]).toEqual([])
      expect((await driver.inventory()).machines).toEqual([])
    })
  },
)
