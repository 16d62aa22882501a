/** A boot as an operator with nothing but the command line does it: the service's own boot is compared with it. */
import { spawn } from 'node:child_process'
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BuiltImage } from '@coinrack/compute/images/image-store.ts'
import { guestUplink } from '@coinrack/compute/local-vps/guest-uplink.ts'
import { makeSshAccess } from '@coinrack/compute/local-vps/testing.ts'
import { findAcceleration } from '@coinrack/compute/machine/acceleration.ts'
import {
  type Accelerator,
  guestArguments,
  guestFiles,
  macAddress,
  QEMU,
} from '@coinrack/compute/machine/command-line.ts'
import { makeDisk } from '@coinrack/compute/machine/disk.ts'
import { hostClockOptions } from '@coinrack/compute/machine/host-clock.ts'
import { createMachineNetworks } from '@coinrack/compute/network/machine-networks.ts'
import { defaultEgress } from '@coinrack/compute/network/machine-ruleset.ts'
import { makeSeed } from '@coinrack/compute/personality/seed.ts'
import { openPolicy } from '@coinrack/compute/ports/network-policy.ts'
import { answersSsh } from '@coinrack/host/answers-ssh.ts'
import { asUser, type RunAs } from '@coinrack/host/as-user.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'

const POLL_MS = 100

export interface Hand {
  accelerator: Accelerator
  /** Seconds from the making of the disk to the SSH banner: of a first boot, and of the next one of the same disk. */
  boot(shape: { vcpus: number; memoryMb: number; diskGb: number }): Promise<{ first: number; later: number }>
}

/** Needs root, as the machine networks do: the guest is in one of its own, like a customer's. */
export async function createHand(image: BuiltImage, cacheFolder: string): Promise<Hand> {
  const user = await serviceUser()
  const { accelerator } = await findAcceleration({ cacheFolder, image, user, onProgress: console.log })
  const clockOptions = await hostClockOptions()
  const networks = createMachineNetworks(defaultEgress, { info() {} })

  return {
    accelerator,
    async boot(shape) {
      const { spec } = await makeSshAccess(shape)
      const { id, vcpus, memoryMb, sshAddress: listen } = spec
      await networks.make(id, { macAddress: macAddress(id), listen, policy: openPolicy })
      const folder = await makeFolder(user)
      const args = (isFirstBoot: boolean) =>
        guestArguments({
          ...{ id, vcpus, memoryMb, accelerator, clockOptions, isFirstBoot },
          network: { kind: 'tap' },
        })
      const bootOnce = async (isFirstBoot: boolean) => {
        const [enter, ...rest] = [...networks.enter(id), ...asUser(user, QEMU, args(isFirstBoot)).flat()]
        const guest = spawn(enter!, rest, { cwd: folder, stdio: 'inherit' })
        const inside = (await networks.lookAt(id))!
        while (!(await answersSsh(inside))) {
          if (guest.exitCode !== null) throw new Error(`QEMU ended with ${guest.exitCode}`)
          await sleep(POLL_MS)
        }
        return guest
      }
      try {
        let begin = performance.now()
        await layOut(folder, makeSeed({ ...spec, uplink: guestUplink(spec.addresses) }, new Date()), {
          image,
          diskGb: shape.diskGb,
          user,
        })
        const guest = await bootOnce(true)
        const first = secondsSince(begin)
        // So that the first boot gets to its end, and what it wrote to the disk.
        await sleep(5_000)
        await end(guest)
        begin = performance.now()
        const again = await bootOnce(false)
        const later = secondsSince(begin)
        await end(again)
        return { first, later }
      } finally {
        await networks.remove(id)
        await rm(folder, { recursive: true })
      }
    },
  }
}

async function makeFolder(user: RunAs | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-bench-'))
  const sockets = join(folder, dirname(guestFiles.monitor))
  await mkdir(sockets)
  for (const made of [folder, sockets]) if (user) await chown(made, user.uid, user.gid)
  return folder
}

async function layOut(
  folder: string,
  seed: Buffer,
  { image, diskGb, user }: { image: BuiltImage; diskGb: number; user: RunAs | undefined },
): Promise<void> {
  const disk = join(folder, guestFiles.disk)
  await makeDisk(disk, { base: image.disk, image, diskGb, owner: user })
  const file = join(folder, guestFiles.seed)
  await writeFile(file, seed)
  if (user) await chown(file, user.uid, user.gid)
}

async function end(guest: ReturnType<typeof spawn>): Promise<void> {
  guest.kill()
  await new Promise((resolve) => guest.once('exit', resolve))
}

export const secondsSince = (begin: number) => (performance.now() - begin) / 1000

export const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
