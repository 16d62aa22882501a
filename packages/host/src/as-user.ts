/** A user that a program is to run as. */
export interface RunAs {
  uid: number
  gid: number
}

/**
 * The command line that runs a program as `user`, with that user's own groups (kvm, for one) and no way back.
 * `setpriv` replaces itself by the program, so the process id stays the same.
 */
export function asUser(user: RunAs | undefined, command: string, args: string[]): [string, string[]] {
  return user ? ['setpriv', [...userFlags(user), '--', command, ...args]] : [command, args]
}

/** The same, for a program that gets SIGTERM from the kernel when its caller ends, however that ends. */
export function asUserWithCaller(
  user: RunAs | undefined,
  command: string,
  args: string[],
): [string, string[]] {
  return ['setpriv', ['--pdeathsig', 'TERM', ...(user ? userFlags(user) : []), '--', command, ...args]]
}

const userFlags = ({ uid, gid }: RunAs) => [
  `--reuid=${uid}`,
  `--regid=${gid}`,
  '--init-groups',
  '--no-new-privs',
]
