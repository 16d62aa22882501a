import { createHash } from 'node:crypto'
import { chmod, chown, lchown, mkdir, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { hostClaims } from '@coinrack/host/host-claims.ts'
import { DriverError } from '../ports/vps-driver.ts'

/*
 * Each machine's QEMU runs as a user that nothing else runs as and that no file knows but the machine's own. The user
 * is a number without a name, the same for its group. The machine's folder is root's, and its group is the user's: so
 * the folder says for ever which user it is, QEMU reaches the files that it was given, and can make, replace or link
 * none that root would then follow.
 */

/** Numbers of users and groups, both ends included. */
export interface UserIds {
  from: number
  to: number
}

/** Beyond what distributions, systemd and containers give out. */
export const defaultUserIds: UserIds = { from: 2_000_000_000, to: 2_000_065_535 }

export interface MachineUsers {
  /** The user of the machine with this folder, which need not be there yet. Undefined where all run as the caller. */
  of(id: string, folder: string): Promise<RunAs | undefined>
  /** Before the folder goes: another machine may have the number. */
  free(id: string, folder: string): Promise<void>
}

export const KVM = '/dev/kvm'

/** @param ids undefined where all run as the caller */
export function createMachineUsers(machines: string, ids: UserIds | undefined): MachineUsers {
  const claims = hostClaims('users')

  const isOurs = (gid: number | undefined): gid is number =>
    ids !== undefined && gid !== undefined && gid >= ids.from && gid <= ids.to

  /** A machine that has not started since the host did has a number as well. */
  const claimOfEarlierLife = async () => {
    for (const id of await readdir(machines).catch((): string[] => [])) {
      const gid = await groupOf(join(machines, id))
      if (isOurs(gid)) await claims.claim(gid, id)
    }
  }

  let settled: Promise<void> | undefined
  const claimedEarlier = () => {
    settled ??= claimOfEarlierLife()
    return settled
  }

  const choose = async (id: string, { from, to }: UserIds): Promise<number> => {
    const size = to - from + 1
    const first = createHash('sha256').update(id).digest().readUInt32BE() % size
    for (let step = 0; step < size; step++) {
      const candidate = from + ((first + step) % size)
      if (await claims.claim(candidate, id)) return candidate
    }
    throw new DriverError('no_space', `All ${size} users for machines are taken on this host`)
  }

  return {
    async of(id, folder) {
      if (!ids) return undefined
      await claimedEarlier()
      const kept = await groupOf(folder)
      const number = isOurs(kept) && (await claims.claim(kept, id)) ? kept : await choose(id, ids)
      return { uid: number, gid: number, groups: [] }
    },

    async free(id, folder) {
      if (!ids) return
      // Or a number would be claimed again for a folder that goes meanwhile.
      await claimedEarlier()
      const gid = await groupOf(folder)
      const number = isOurs(gid) ? gid : (await claims.all()).get(id)
      if (number !== undefined) await claims.free(number, id)
    },
  }
}

/** The group that may use a device, when there is one. */
export async function groupsOfDevice(device: string): Promise<number[]> {
  const found = await stat(device).catch(() => undefined)
  const READ_AND_WRITE = 0o060
  return found && found.gid !== 0 && (found.mode & READ_AND_WRITE) === READ_AND_WRITE ? [found.gid] : []
}

/** Makes the machine's folder, in which its user reaches what it knows by name. */
export async function makeFolder(folder: string, owner: RunAs | undefined): Promise<void> {
  await mkdir(dirname(folder), { recursive: true })
  await chmod(dirname(folder), 0o711)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await giveFolder(folder, owner)
}

/** Gives the machine's folder to its user, and of what is in it the named files, as far as they are there. */
export async function giveFolder(
  folder: string,
  owner: RunAs | undefined,
  files: string[] = [],
): Promise<void> {
  if (!owner) return
  await chown(folder, 0, owner.gid)
  await chmod(folder, 0o710)
  for (const file of files) {
    await lchown(file, owner.uid, owner.gid).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}

/** Takes back a folder that only root is to reach from now on, though files in it still belong to another user. */
export async function takeFolderBack(folder: string, owner: RunAs | undefined): Promise<void> {
  if (!owner) return
  await chown(folder, 0, 0)
  await chmod(folder, 0o700)
}

const groupOf = (path: string) =>
  stat(path).then(
    ({ gid }) => gid,
    () => undefined,
  )
