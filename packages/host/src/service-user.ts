import { CommandError, runCommand } from './run-command.ts'

export interface ServiceUser {
  uid: number
  gid: number
  name: string
}

/**
 * The user that programs run as when they must not be root (PostgreSQL refuses root; QEMU should not have it).
 * Undefined when the caller is not root: programs then simply run as the caller.
 * Throws when the caller is root and the user does not exist; set-up makes it.
 */
export async function serviceUser(name = 'coinrack'): Promise<ServiceUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  try {
    const { stdout } = await runCommand('getent', ['passwd', name])
    const [, , uid, gid] = stdout.split(':')
    return { uid: Number(uid), gid: Number(gid), name }
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== 2) throw error
    throw new Error(
      `The system user ${name} does not exist. Make it: useradd --system --user-group --no-create-home --shell /usr/sbin/nologin ${name}`,
    )
  }
}
