import { type IdKind, makeId } from '@coinrack/contract/ids.ts'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Address } from 'viem'
import type { Chain } from '../chain/chain-port.ts'
import type { DemoBody } from '../chain/demo-chains.ts'
import type { Catalog } from '../config/catalog.ts'
import type { Config } from '../config/config.ts'
import type { Changes } from '../database/changes.ts'
import type { Hashing } from './hashing.ts'
import type { Hosts } from './machine-host.ts'
import type { Mailer } from './mailer.ts'
import type { ReceiptKey } from './receipt-key.ts'
import type { ReverseDns } from './reverse-dns.ts'
import type { SandboxHosts, SandboxImages } from './sandbox-host.ts'
import type { Sealer } from './sealer.ts'
import type {
  Approving,
  Invoicing,
  OfferedPlan,
  Ordering,
  ProgramTokens,
  Sandboxing,
  SshKeys,
  WalletAccounts,
} from './slice-ports.ts'
import type { TypeStripper } from './type-stripper.ts'

export interface Clock {
  now(): Date
}

export interface Random {
  bytes(length: number): Uint8Array
}

/** The world as the service sees it. Made in `main.ts` and in `testing.ts`, and handed in everywhere else. */
export interface Services {
  config: Config
  db: pg.Pool
  changes: Changes
  clock: Clock
  random: Random
  newId(kind: IdKind): string
  sealer: Sealer
  receiptKey: ReceiptKey
  mailer: Mailer
  hashing: Hashing
  /** All addresses of a host name, as the host asks for them. */
  lookup(host: string): Promise<string[]>
  log: Logger
  catalog: Catalog
  /** Its plans as they are offered now, or were a moment ago: asking for them again costs nothing. */
  offer(services: Services): Promise<OfferedPlan[]>
  /** Where machines run. */
  hosts: Hosts
  /** Undefined where customers cannot name their addresses. */
  rdns: ReverseDns | undefined
  /** None in a service that does not tend the machines, and until they are open. */
  sandboxes: SandboxHosts
  /** Undefined where no other computer runs sandboxes. */
  sandboxImages: SandboxImages | undefined
  chains: Chain[]
  /** The deposit address of a counter, with its checksum; see `chain/deposit-address.ts`. */
  depositAddressOf(counter: bigint): Address
  /** How to pay on the chains of the demo profile; undefined in every other profile. */
  demo: DemoBody | undefined
  invoicing: Invoicing
  ordering: Ordering
  sandboxing: Sandboxing
  walletAccounts: WalletAccounts
  sshKeys: SshKeys
  programTokens: ProgramTokens
  typeStripper: TypeStripper
  approving: Approving
}

export const idMaker =
  (clock: Clock, random: Random): Services['newId'] =>
  (kind) =>
    makeId(kind, clock.now().getTime(), random.bytes(10))
