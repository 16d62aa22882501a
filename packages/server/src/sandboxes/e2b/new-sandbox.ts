import { isId } from '@coinrack/contract/ids.ts'
import { tariffNames } from '@coinrack/contract/sandbox-tariffs.ts'
import type { z } from 'zod'
import { OperationError } from '../../platform/errors.ts'
import { NotServed } from './refusals.ts'
import type { NetworkRules, NewSandbox } from './shapes.ts'

/** The service's own templates, by the names that E2B's clients ask for by themselves. */
const OURS: Record<string, string> = {
  base: 'base',
  'code-interpreter-v1': 'code-interpreter',
  'code-interpreter': 'code-interpreter',
}
const EVERYTHING = '0.0.0.0/0'

/** A template as a client names it, taken apart: `name`, or `name:tariff`. */
export function parseTemplate(asked: string): { name: string; tariff?: string } {
  const at = asked.lastIndexOf(':')
  if (at < 0) return { name: ourTemplate(asked) ?? asked }
  const [name, tariff] = [asked.slice(0, at), asked.slice(at + 1)]
  if (!(tariffNames as string[]).includes(tariff))
    throw new OperationError(
      'invalid_input',
      `templateID: after the colon stands a tariff, one of ${tariffNames.join(', ')}`,
    )
  return { name: ourTemplate(name) ?? name, tariff }
}

/** The service's own template that a client names, by the name that it has here; undefined of any other. */
export const ourTemplate = (name: string): string | undefined =>
  Object.hasOwn(OURS, name) ? OURS[name] : undefined

/** By the name of a template of ours that clients know, where they know another. */
export const shownTemplate = (template: string): string =>
  template === 'code-interpreter' ? 'code-interpreter-v1' : template

/** Whether a name is that of a template of ours, or the id of a snapshot: any other may be the name of one. */
export const isTemplate = (name: string): boolean =>
  Object.values(OURS).includes(name) || isId('snapshot', name)

/** The metadata that a list is chosen by: clients encode each name and value once more than a query is. */
export function decoded(query: string): string {
  const once = (text: string) => {
    try {
      return decodeURIComponent(text)
    } catch {
      return text
    }
  }
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => [once(name), once(value)])
  return new URLSearchParams(pairs).toString()
}

/**
 * The input of `create_sandbox` for what a client asks for.
 * @throws NotServed for what this service does not do
 */
export function sandboxInput(asked: NewSandbox, defaultSeconds: number): Record<string, unknown> {
  refuseOthers(asked)
  const { name, tariff } = parseTemplate(asked.templateID)
  const network = networkInput({
    ...asked.network,
    allow_internet_access: asked.allow_internet_access,
  })
  return {
    template: name,
    ...(tariff !== undefined && { tariff }),
    mode: asked.autoPause ? 'persistent' : 'ephemeral',
    timeout: secondsOf(asked.timeout ?? defaultSeconds),
    // E2B's sandboxes end by their timeout alone.
    idle_timeout: 0,
    env: asked.envVars ?? {},
    metadata: asked.metadata ?? {},
    ...(network && { network }),
  }
}

/** Whole seconds, at least one. */
export const secondsOf = (seconds: number): number => Math.max(1, Math.ceil(seconds))

/** The rules of a network; undefined where nothing is said of it. @throws NotServed */
export function networkInput(
  asked: Partial<z.output<typeof NetworkRules>>,
): Record<string, unknown> | undefined {
  refuse(Object.keys(asked.rules ?? {}).length > 0, 'Rules that change requests on their way (network.rules)')
  refuse(asked.egressProxy != null, 'A proxy for what a sandbox sends (network.egressProxy)')
  const { allow_internet_access: allows, allowOut, denyOut } = asked
  if (allows == null && !allowOut?.length && !denyOut?.length) return undefined
  return {
    allow_internet: (allows ?? true) && !denyOut?.includes(EVERYTHING),
    allow_out: allowOut ?? [],
    deny_out: (denyOut ?? []).filter((entry) => entry !== EVERYTHING),
  }
}

function refuseOthers({ autoPauseMemory, autoResume, network, mcp, iam, volumeMounts }: NewSandbox): void {
  refuse(autoPauseMemory === false, 'A pause without memory (keepMemory: false)')
  refuse(autoResume?.enabled === true, 'To resume a sandbox by a request to it (autoResume)')
  refuse(network?.maskRequestHost != null, 'Another Host header for ports (network.maskRequestHost)')
  refuse((network?.httpsPorts?.length ?? 0) > 0, 'HTTPS towards ports (network.httpsPorts)')
  refuse(mcp != null, 'A gateway to MCP servers (mcp)')
  refuse(iam != null, 'Identities of workloads (iam)')
  refuse((volumeMounts?.length ?? 0) > 0, 'Volumes (volumeMounts)')
}

function refuse(isAsked: boolean, what: string): void {
  if (isAsked) throw new NotServed(`${what} is not offered here; nothing was charged`)
}
