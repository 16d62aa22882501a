import type { Client } from '@coinrack/sdk/index.ts'
import type { Command } from 'commander'
import { exitCodes, RefusedError } from './exit-codes.ts'
import { number } from './number-option.ts'

type SandboxInput = NonNullable<Parameters<Client['createSandbox']>[0]>

export interface SandboxOptions {
  tariff?: string
  template?: string
  life?: number
  env?: Record<string, string>
  network: boolean
}

/** The options of a command that makes a sandbox. */
export const withSandboxOptions = (command: Command) =>
  command
    .option('--tariff <name>', 'its size: micro, small, standard, plus, pro or max')
    .option('--template <name>', 'base, code-interpreter, or the id of a snapshot')
    .option('--life <seconds>', 'how long it lives at most', number)
    .option('-e, --env <name=value>', 'a variable, also several times', addVariable)
    .option('--no-network', 'it reaches nothing')

export const sandboxInput = ({ tariff, template, life, env, network }: SandboxOptions): SandboxInput => ({
  ...(tariff !== undefined && { tariff: tariff as NonNullable<SandboxInput['tariff']> }),
  ...(template !== undefined && { template }),
  ...(life !== undefined && { timeout: life }),
  ...(env && { env }),
  ...(!network && { network: { allow_internet: false } }),
})

function addVariable(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new RefusedError(`"${text}" is no NAME=VALUE`, exitCodes.usage)
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}
