import { join } from 'node:path'

/**
 * The layout of the data folder. Run by root, the folder is root's with mode 0711, so that programs that run as the
 * service user reach their files and cannot list the rest; otherwise it is the caller's, mode 0700. Every program that
 * outlives the service holds the lock of its pid file for life (see `startDetached`): that is how the next start finds
 * it, and how `npm run stop` ends it. The file is `run/<kind>/<name>.pid`, or lies in the machine's own folder.
 */
export const dataLayout = (dataFolder: string) => ({
  /** Which profile the folder belongs to. */
  profile: join(dataFolder, 'profile'),
  /** Secrets made here, one file each; 0700. */
  secrets: join(dataFolder, 'secrets'),
  /** The id by which the database knows the folder; no secret, but backed up with them. */
  id: join(dataFolder, 'secrets', 'folder'),
  /** The password of PostgreSQL's two roles, `coinrack` and the superuser `postgres`. */
  postgresPassword: join(dataFolder, 'secrets', 'postgres'),
  /** Mail that no server was configured for; 0700. */
  mail: join(dataFolder, 'mail'),
  /** Embedded PostgreSQL: its cluster and its socket; the service user's, 0700. */
  postgres: join(dataFolder, 'postgres'),
  /** One folder for each machine on this host. */
  machines: join(dataFolder, 'machines'),
  /** The same for sandboxes, paused ones included. */
  sandboxes: join(dataFolder, 'sandboxes'),
  /** The images that machines' disks build on. */
  baseImages: join(dataFolder, 'base-images'),
  /** Images that the operator added. */
  addedImages: join(dataFolder, 'added-images'),
  /** Disks that are kept for a while after their machine lost them: one folder for each machine. */
  retainedDisks: join(dataFolder, 'kept-disks'),
  /** Pid files: one folder for each kind of program. */
  run: join(dataFolder, 'run'),
  /** The pid files of the services on this folder. */
  services: join(dataFolder, 'run', 'services'),
  servicePidFile: (port: number) => join(dataFolder, 'run', 'services', `${port}.pid`),
  /** Held by the service that is starting. */
  startingPidFile: join(dataFolder, 'run', 'locks', 'starting.pid'),
  /** Held by the service that tends the machines. */
  machinesPidFile: join(dataFolder, 'run', 'locks', 'machines.pid'),
  /** Held by the service that starts PostgreSQL again when it has ended. */
  postgresWatchPidFile: join(dataFolder, 'run', 'locks', 'postgres-watch.pid'),
  postgresPidFile: join(dataFolder, 'run', 'postgres', 'postgres.pid'),
})
