import { Sandbox } from '@coinrack/sdk/index.ts'
import type { Call } from './call.ts'
import { type SandboxOptions, sandboxInput } from './sandbox-options.ts'

export interface WhichSandbox extends SandboxOptions {
  sandbox?: string
  keep?: boolean
}

/** Does something in a sandbox: in the one that was named, or in a new one that ends with it, also when it is interrupted. */
export async function inSandbox<T>(
  call: Call,
  which: WhichSandbox,
  use: (sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  const service = await call.service()
  if (which.sandbox !== undefined) return use(Sandbox.connect(service, which.sandbox))
  const sandbox = await Sandbox.create(service, sandboxInput(which))
  if (which.keep) call.say(`Sandbox ${sandbox.id}`)
  try {
    return await use(sandbox)
  } finally {
    // Without the signal of the command, which may have ended it.
    if (!which.keep) await Sandbox.connect({ url: service.url, token: service.token }, sandbox.id).kill()
  }
}
