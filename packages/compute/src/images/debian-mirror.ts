import { runCommand } from '@coinrack/host/run-command.ts'

export interface DebianMirror {
  main: string
  security: string
}

const PUBLIC: DebianMirror = {
  main: 'http://deb.debian.org/debian',
  security: 'http://security.debian.org/debian-security',
}

/** The mirror that the host's own apt installs from: it is known to be reachable, and is usually near. */
export async function findDebianMirror(): Promise<DebianMirror> {
  const format = '$(LABEL)|$(REPO_URI)'
  const { stdout } = await runCommand('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'])
  return pickMirror(stdout)
}

/** Picks from lines of `LABEL|URI`; what apt does not name is taken from the public mirrors. */
export function pickMirror(targets: string): DebianMirror {
  const uriOf = (label: string) =>
    targets
      .split('\n')
      .find((line) => line.startsWith(`${label}|`))
      ?.slice(label.length + 1)
      .trim()
      .replace(/\/$/, '')
  return {
    main: uriOf('Debian') ?? PUBLIC.main,
    security: uriOf('Debian-Security') ?? PUBLIC.security,
  }
}
