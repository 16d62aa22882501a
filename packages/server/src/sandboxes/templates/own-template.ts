import { isEnvironment } from '@coinrack/compute/ports/sandbox-spec.ts'
import type { Queryable } from '../../database/transaction.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { templateEnv, templateNamed } from './template-store.ts'

/** What a sandbox of a customer's own template is made from. */
export interface OwnTemplate {
  name: string
  snapshot_id: string
  /** The variables of the template, and over them those that were asked for. */
  env: Record<string, string>
}

/**
 * The template of the account that is named; undefined when it has none of this name or id.
 * @throws OperationError `unknown_template` for one that was not built yet
 */
export async function ownTemplate(
  db: Queryable,
  services: Pick<Services, 'sealer'>,
  accountId: string,
  asked: { template: string; env: Record<string, string> },
): Promise<OwnTemplate | undefined> {
  const found = await templateNamed(db, accountId, asked.template)
  if (!found) return undefined
  if (found.snapshot_id === null)
    throw new OperationError('unknown_template', `The template ${found.name} is not built yet`, {
      nextSteps: [
        {
          tool: 'get_sandbox_template',
          why: 'See how far it is',
          arguments: { template_id: found.id, wait: 'built', timeout: 50 },
        },
      ],
    })
  const env = { ...templateEnv(services, found), ...asked.env }
  if (!isEnvironment(env)) {
    const message = 'Expected at most 64 KiB together with the variables of the template'
    throw new OperationError('invalid_input', `env: ${message}`, {
      fields: { details: [{ path: 'env', message }] },
    })
  }
  return { name: found.name, snapshot_id: found.snapshot_id, env }
}
