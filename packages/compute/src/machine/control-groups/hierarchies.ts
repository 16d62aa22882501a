import type { Controller } from './limits.ts'

/** Where control groups are on a host. */
export type Hierarchies =
  /** A tree for each controller; several can share one. */
  | { version: 1; mounts: Partial<Record<Controller, string>> }
  /** One tree for all of them. */
  | { version: 2; mount: string }

const CONTROLLERS: Controller[] = ['cpu', 'memory', 'pids', 'blkio']

/**
 * From the text of /proc/self/mounts. Version 2 is used where it has the memory controller, since a controller is in
 * one of the two; undefined where neither has it.
 * @param controllersOf what `cgroup.controllers` of a tree of version 2 says
 */
export async function findHierarchies(
  mounts: string,
  controllersOf: (mount: string) => Promise<string>,
): Promise<Hierarchies | undefined> {
  const lines = mounts.split('\n').map((line) => line.split(' '))
  for (const [, mount, type] of lines) {
    if (type !== 'cgroup2' || !mount) continue
    if ((await controllersOf(mount)).split(/\s+/).includes('memory')) return { version: 2, mount }
  }
  const found: Partial<Record<Controller, string>> = {}
  for (const [, mount, type, options = ''] of lines) {
    if (type !== 'cgroup' || !mount) continue
    for (const controller of CONTROLLERS)
      if (options.split(',').includes(controller)) found[controller] ??= mount
  }
  return found.memory === undefined ? undefined : { version: 1, mounts: found }
}
