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
  if (!user) return [command, args]
  return [
    'setpriv',
    [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--init-groups', '--no-new-privs', '--', command, ...args],
  ]
}
