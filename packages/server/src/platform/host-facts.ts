import type { SandboxCapacity, TemplateStatus } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { ImageStatus, VpsCapacity } from '@coinrack/compute/ports/vps-driver.ts'

/*
 * What a host has said of itself. A transaction asks it nothing: this is read before, and handed in. It is a moment old
 * then, as any answer would be: a port can be lost to another program after every look. That of SSH is then given up for
 * another one (`move-ssh-port.ts`), and one that was opened is tried again. What is taken of the host is in the database, and is read under the placement lock.
 */

/** What there is for machines in all, not what is free. */
export interface HostRoom {
  readonly capacity: VpsCapacity
  /** Whether machines there have networks of their own. */
  readonly hasOwnNetworks: boolean
}

/** Which public ports can be given away, as far as the host knows. */
export interface HostPorts {
  /** Where the search begins. */
  readonly first: number
  /** Those that lead to machines, also of other services, and those on which a program was found to listen. */
  readonly used: ReadonlySet<number>
}

/** What an order of a machine has to know of the host. */
export interface HostFacts extends HostRoom {
  readonly images: readonly ImageStatus[]
  readonly ports: HostPorts
}

/** A password of root, and the hash of it that a machine is given. */
export interface RootPassword {
  readonly plain: string
  readonly hash: string
}

/** What an order begins with, made before its transaction. */
export interface OrderPreparation {
  readonly host: HostFacts
  /** Undefined when it is only asked whether there is room. */
  readonly password: RootPassword | undefined
}

/** What a new sandbox has to know of the host. */
export interface SandboxHostFacts {
  /** What there is for sandboxes in all, not what is free. */
  readonly capacity: SandboxCapacity
  readonly templates: readonly TemplateStatus[]
  readonly hasNetworks: boolean
}
