import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { QemuDriver } from '@coinrack/compute/local-vps/driver.ts'
import { makeSshAccess, type SshAccess } from '@coinrack/compute/local-vps/testing.ts'
import {
  makeCloningDriver,
  makeDataFolder,
  makeReady,
  runsAsClone,
  secretsOf,
} from '@coinrack/compute/local-vps/testing-clones.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/*
 * Twenty machines from one template, of each image: no two of them have a secret in common. And one that is given
 * another kernel by its owner.
 */

const CLONES = 20
/** As many run at the same moment. */
const AT_ONCE = 4

const cacheFolder =
  process.env.COINRACK_CACHE ??
  (process.getuid?.() === 0 ? '/var/cache/coinrack' : join(homedir(), '.cache/coinrack'))

describe.each(['debian-12', 'debian-13'])('%s', { timeout: 60 * 60_000 }, (image) => {
  const shape = { image, vcpus: 1, memoryMb: 512 }
  let dataFolder: string
  let driver: QemuDriver

  beforeAll(async () => {
    dataFolder = await makeDataFolder()
    const clock = { now: () => new Date() }
    ;({ driver } = await makeCloningDriver({ dataFolder, cacheFolder, clock }))
    await driver.prepare(() => {})
    await driver.keepTemplate(shape)
  }, 40 * 60_000)

  afterAll(async () => {
    for (const id of (await driver.inventory()).machines) await driver.destroy(id)
    await rm(dataFolder, { recursive: true })
  })

  const secretsOfNew = async (access: SshAccess) => {
    await makeReady(driver, access.spec)
    expect(await runsAsClone(access.spec.id)).toBe(true)
    const secrets = await secretsOf(access)
    await driver.destroy(access.spec.id)
    return secrets
  }

  test(`behavior: no two of ${CLONES} clones share a secret`, async () => {
    const all: Map<string, string>[] = []
    while (all.length < CLONES) {
      const next = Array.from({ length: AT_ONCE }, (_, index) =>
        makeSshAccess({ ...shape, hostname: `web-${all.length + index}` }),
      )
      all.push(...(await Promise.all((await Promise.all(next)).map(secretsOfNew))))
    }
    for (const name of all[0]!.keys()) {
      const values = all.map((secrets) => secrets.get(name))
      expect(values.every(Boolean), name).toBe(true)
      expect(new Set(values).size, name).toBe(CLONES)
    }
  })
})

describe('the kernel of a machine that began as a clone', { timeout: 30 * 60_000 }, () => {
  const shape = { image: 'debian-12', vcpus: 1, memoryMb: 512 }
  let dataFolder: string
  let driver: QemuDriver

  beforeAll(async () => {
    dataFolder = await makeDataFolder()
    ;({ driver } = await makeCloningDriver({ dataFolder, cacheFolder, clock: { now: () => new Date() } }))
    await driver.prepare(() => {})
    await driver.keepTemplate(shape)
  }, 40 * 60_000)

  afterAll(async () => {
    for (const id of (await driver.inventory()).machines) await driver.destroy(id)
    await rm(dataFolder, { recursive: true })
  })

  test('behavior: is the one that its owner installed, after a reboot', async () => {
    const access = await makeSshAccess({ ...shape, hostname: 'kernel' })
    await makeReady(driver, access.spec)
    expect(await runsAsClone(access.spec.id)).toBe(true)
    const { name, deb } = await otherKernel(await access.byKey('uname -r'))
    await access.byKey('cat > /root/kernel.deb', deb)
    await access.byKey('DEBIAN_FRONTEND=noninteractive dpkg -i /root/kernel.deb; sync')
    await driver.power(access.spec.id, 'reboot')
    await makeReady(driver, access.spec)
    expect(`linux-image-${await access.byKey('uname -r')}`).toBe(name)
    expect(await access.byKey('hostname')).toBe('kernel')
  })
})

/** Debian keeps several builds of a release's kernel; this host is a Debian 12 and may fetch one. */
async function otherKernel(release: string): Promise<{ name: string; deb: Buffer }> {
  const wanted = '^linux-image-6\\.1\\.0-[0-9]+-cloud-amd64$'
  const { stdout } = await runCommand('apt-cache', ['search', '--names-only', wanted])
  const names = stdout.split('\n').map((line) => line.split(' ')[0]!)
  const name = names.find((found) => found !== '' && found !== `linux-image-${release}`)
  if (!name) throw new Error(`The Debian mirror has no other kernel than ${release}`)
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-kernel-'))
  try {
    await runCommand('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', name], { cwd: folder })
    return { name, deb: await readFile(join(folder, (await readdir(folder))[0]!)) }
  } finally {
    await rm(folder, { recursive: true })
  }
}
