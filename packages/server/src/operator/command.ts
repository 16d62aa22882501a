import type { ParseArgsOptionsConfig } from 'node:util'
import type { IdKind } from '@coinrack/contract/ids.ts'
import type { RunAs } from '@coinrack/host/as-user.ts'
import type pg from 'pg'
import type { ChainSettings } from '../chain/chain-settings.ts'
import type { Catalog } from '../config/catalog.ts'
import type { Clock, Random } from '../platform/services.ts'

/** The things that the operator's commands work on: the service's database and files, whether it runs or not. */
export interface Operator {
  db(): Promise<pg.Pool>
  /** @param path another catalog than the one that is configured */
  catalog(path?: string): Promise<Catalog>
  images(): Promise<ImagePlaces>
  /** Where sandbox hosts find the service, each `host:port`; none where it takes no hosts. */
  hostsAddresses: readonly string[]
  installed: Installed
  clock: Clock
  random: Random
  newId(kind: IdKind): string
  /** Tells how far a long command is. */
  say(line: string): void
}

/** The parts of an installation besides its rows, and where it is restored to. */
export interface Installed {
  profile: string
  dataFolder: string
  /** Makes the data folder where it is missing. */
  prepare(): Promise<void>
  /** The settings as they are written, by name, and where those lead that name a file. */
  shared(): Promise<{
    texts: Record<string, string>
    files: Record<'chainsFile' | 'catalogFile' | 'clusterFile', string | undefined>
  }>
  /** The chains that money is taken on; the demo's local ones are started for it. */
  chains(): Promise<ChainSettings[]>
  /** By the name of their file in the data folder, wherever they come from. */
  secrets(): Promise<Record<string, string>>
  /** @throws RefusedError when the data folder has other secrets */
  keepSecrets(secrets: Record<string, string>): Promise<void>
  /** The database as it is, with whatever schema it has, or none. */
  bareDatabase(): Promise<pg.Pool>
}

/** Where images that the operator adds are kept and made. */
export interface ImagePlaces {
  folder: string
  baseImages: string
  overlays: string[]
  downloads: string
  reader: RunAs | undefined
}

export interface Command {
  /** The words that call it, such as `review list`. */
  name: string
  /** The arguments that follow the name, such as `<id>`. */
  arguments: string
  summary: string
  /** How many arguments it takes. */
  takes: number
  options?: ParseArgsOptionsConfig
  run(operator: Operator, args: string[], options: Record<string, string>): Promise<Result>
}

/** The result of a command: for programs, and for people. */
export interface Result {
  /** Money is written as decimal US dollars, times as RFC 3339. */
  json: unknown
  text: string
  /** The command found something wrong: it ends with exit code 1. */
  isAmiss?: boolean
}

/** The command cannot be done, and the operator is told why. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}
