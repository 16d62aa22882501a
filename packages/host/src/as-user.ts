/** A user that a program is to run as. */
export interface RunAs {
  uid: number
  gid: number
  /**
   * The only other groups that it is in. Such a user needs no entry in /etc/passwd, and its programs can never have a
   * capability. Left out: the user's own groups (kvm, for one), as the system knows them.
   */
  groups?: number[]
}

/**
 * The command line that runs a program as `user`, with no way back.
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

const userFlags = ({ uid, gid, groups }: RunAs) => [
  `--reuid=${uid}`,
  `--regid=${gid}`,
  '--no-new-privs',
  ...(groups === undefined
    ? ['--init-groups']
    : [
        groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`,
        '--bounding-set=-all',
        '--inh-caps=-all',
      ]),
]
