import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { asUser } from '@coinrack/host/as-user.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createImageStore } from '../images/image-store.ts'
import { fromHost, INTERNET, METADATA, PRIVATE, startWorld } from '../network/testing-world.ts'
import { makeSshAccess, type SshAccess } from './testing.ts'

/**
 * A real guest of a service that is not root: what the weaker network of such a host keeps from it. Root plays the host
 * around it, with a world beyond.
 */

const IMAGE = process.env.COINRACK_TEST_IMAGE ?? 'debian-12'
const cacheFolder = process.env.COINRACK_CACHE ?? '/var/cache/coinrack'
const NOBODY = 65_534

describe.skipIf(process.getuid?.() !== 0)(
  'a machine of a service without root',
  { timeout: 8 * 60_000 },
  () => {
    let dataFolder: string
    let access: SshAccess
    let host: ChildProcess
    let server: Server
    let port: number
    let endWorld: () => Promise<void>
    let said: { refused: string; ownNetworks: boolean }

    beforeAll(async () => {
      endWorld = await startWorld()
      server = createServer((socket) => socket.on('error', () => {}).end('secret\n')).listen(0, '0.0.0.0')
      await once(server, 'listening')
      port = (server.address() as { port: number }).port
      await createImageStore({ cacheFolder }).ensure(IMAGE)
      dataFolder = await mkdtemp(join(tmpdir(), 'coinrack-plain-'))
      await chown(dataFolder, NOBODY, NOBODY)
      access = await makeSshAccess({ image: IMAGE, vcpus: 2 })
      const script = join(import.meta.dirname, 'testing-unprivileged.ts')
      const run = JSON.stringify({ dataFolder, cacheFolder, spec: access.spec })
      const [command, args] = asUser({ uid: NOBODY, gid: NOBODY }, process.execPath, [script, run])
      host = spawn(command, args, {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { PATH: process.env.PATH },
        cwd: '/',
      })
      for await (const line of createInterface({ input: host.stdout! })) {
        said = JSON.parse(line)
        break
      }
    }, 10 * 60_000)

    afterAll(async () => {
      if (host?.exitCode === null) {
        host.stdin!.end()
        await once(host, 'exit')
      }
      server?.close()
      await endWorld?.()
      if (dataFolder) await rm(dataFolder, { recursive: true })
    })

    test('default: it has no network of its own, and runs as who started it', async () => {
      expect(said.ownNetworks).toBe(false)
      const pid = (await readFile(join(dataFolder, 'machines', access.spec.id, 'qemu.pid'), 'utf8')).trim()
      const status = await readFile(`/proc/${pid}/status`, 'utf8')
      expect(status).toMatch(new RegExp(`^Uid:\\t${NOBODY}\\t${NOBODY}\\t`, 'm'))
      expect(status).toMatch(/^CapEff:\t0+$/m)
      expect(status).toMatch(/^Seccomp:\t2$/m)
    })

    test('error: an address of its own is refused there', () => {
      expect(said.refused).toBe('unsupported')
    })

    test("behavior: neither the host's loopback nor any other address is reached, nor names resolved", async () => {
      const { stdout } = await runCommand('ip', ['-j', '-4', 'address'])
      const own = (JSON.parse(stdout) as { addr_info: { local: string }[] }[]).flatMap(({ addr_info }) =>
        addr_info.map(({ local }) => local),
      )
      const beyond = [INTERNET, PRIVATE, METADATA]
      for (const address of own)
        expect([address, await fromHost(address, port)]).toEqual([address, 'secret\n'])
      for (const address of beyond)
        expect([address, await fromHost(address, 80)]).toEqual([address, 'caller '])
      const targets = [
        ...['10.0.2.2', '10.0.2.3', ...own.filter((address) => address !== '127.0.0.1')].map((at) => [
          at,
          port,
        ]),
        ...beyond.map((at) => [at, 80]),
      ]
      const reads = targets.map(
        ([at, to]) => `(timeout 6 bash -c 'head -c 9 </dev/tcp/${at}/${to}' 2>/dev/null || echo no ${at}) &`,
      )
      const seen = await access.byKey(`${reads.join(' ')} wait`)
      expect(seen.split('\n').sort()).toEqual(targets.map(([at]) => `no ${at}`).sort())
      expect(await access.byKey('timeout 6 getent hosts any.example.net || echo no')).toBe('no')
    })

    test('behavior: destroy leaves nothing', async () => {
      host.stdin!.end()
      await once(host, 'exit')
      expect(await readdir(join(dataFolder, 'machines'))).toEqual([])
      expect(await fromHost('127.0.0.1', access.spec.sshAddress.port)).toBe('no')
    })
  },
)
