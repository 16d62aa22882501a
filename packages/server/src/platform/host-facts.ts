import type { SandboxCapacity, TemplateStatus } from '@coinrack/compute/ports/sandbox-runtime.ts'

/** A password of root, and the hash of it that a machine is given. */
export interface RootPassword {
  readonly plain: string
  readonly hash: string
}

/** The things that an order begins with, made before its transaction. */
export interface OrderPreparation {
  /** Undefined when it is only asked whether there is room. */
  readonly password: RootPassword | undefined
}

/** The facts about a host that a new sandbox needs. They are asked for before a transaction, and handed in. */
export interface SandboxHostFacts {
  readonly id: string
  /** The total capacity for sandboxes, not what is free. */
  readonly capacity: SandboxCapacity
  readonly templates: readonly TemplateStatus[]
  readonly hasNetworks: boolean
}
