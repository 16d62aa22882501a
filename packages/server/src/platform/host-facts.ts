import type { SandboxCapacity, TemplateStatus } from '@coinrack/compute/ports/sandbox-runtime.ts'

/** A password of root, and the hash of it that a machine is given. */
export interface RootPassword {
  readonly plain: string
  readonly hash: string
}

/** What an order begins with, made before its transaction. */
export interface OrderPreparation {
  /** Undefined when it is only asked whether there is room. */
  readonly password: RootPassword | undefined
}

/** What a new sandbox has to know of the host. It is asked before a transaction, and handed in. */
export interface SandboxHostFacts {
  /** What there is for sandboxes in all, not what is free. */
  readonly capacity: SandboxCapacity
  readonly templates: readonly TemplateStatus[]
  readonly hasNetworks: boolean
}
