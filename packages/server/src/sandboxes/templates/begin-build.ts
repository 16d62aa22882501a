import type { SandboxSize } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { catalogTemplates } from '@coinrack/contract/sandbox-templates.ts'
import { announce } from '../../database/changes.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { Call } from '../../dispatch/handler.ts'
import { OperationError } from '../../platform/errors.ts'
import type { SandboxHostFacts } from '../../platform/host-facts.ts'
import type { Services } from '../../platform/services.ts'
import { chooseNetwork } from '../life/choose-network.ts'
import { chooseTariff, sizeOf } from '../life/choose-size.ts'
import { sealEnv } from '../life/sandbox-spec.ts'
import { startSandbox } from '../life/start-sandbox.ts'
import { hostsFor } from '../placement/hosts-for.ts'
import { placeSandbox } from '../placement/place-sandbox.ts'
import { type BuildRow, insertBuild, insertLog } from './build-store.ts'
import type { ContextEntry } from './context-entry.ts'
import { readyLayers, touchLayer } from './layer-store.ts'
import { type BuildBase, type BuildPlan, baseOf, planBuild } from './plan-build.ts'
import { badDockerfile, readDockerfile } from './read-dockerfile.ts'
import { type TemplateRow, templateEnv, templateNamed } from './template-store.ts'

/** Announced when a build begins, so that it does not wait for its time. */
export const BUILD_BEGINS = 'sandbox-build-begins'

/** What is built on when there is no Dockerfile to say so. */
const IMAGE_BASE = 'base'

type Built = Pick<TemplateRow, 'id' | 'account_id' | 'source' | 'dockerfile' | 'args' | 'tariff'>

/** A build with all that depends on more than its text: what it is built on, and the files it may copy. */
export interface PreparedBuild {
  /** What its sandbox is made from when no layer is known: a template of the catalog, or a snapshot. */
  from: string
  plan: BuildPlan
}

/**
 * Says what has to be done for a template, from what it is built from.
 * @param context the files that were uploaded for it
 * @throws OperationError `dockerfile_invalid`
 */
export async function prepareBuild(
  services: Pick<Services, 'sealer'>,
  db: Queryable,
  template: Built,
  context: readonly ContextEntry[],
): Promise<PreparedBuild> {
  if (template.dockerfile === null)
    return {
      from: IMAGE_BASE,
      plan: { steps: [], env: {}, user: null, workdir: null, start: null },
    }
  const { name, line } = baseOf(readDockerfile(template.dockerfile), template.args)
  const { from, base } = await findBase(services, db, template, name, line)
  return { from, plan: planBuild(template.dockerfile, template.args, base, context) }
}

async function findBase(
  services: Pick<Services, 'sealer'>,
  db: Queryable,
  template: Built,
  name: string,
  line: number,
): Promise<{ from: string; base: BuildBase }> {
  // A state goes on only in the size that it was saved in.
  const size = template.tariff
  if ((catalogTemplates as readonly string[]).includes(name))
    return { from: name, base: { digest: `${name} ${size}`, env: {}, user: null, workdir: null } }
  const own = await templateNamed(db, template.account_id, name)
  if (!own?.snapshot_id || own.id === template.id)
    throw badDockerfile(
      line,
      'FROM',
      `${name.slice(0, 60) || 'this'} is neither ${catalogTemplates.join(' nor ')} nor a template of yours that is ready; images of registries are not known here`,
    )
  if (own.tariff !== size)
    throw badDockerfile(line, 'FROM', `${name} is of the tariff ${own.tariff}, and so is what is built on it`)
  const env = templateEnv(services, own)
  const { default_user: user, workdir } = own
  return { from: own.snapshot_id, base: { digest: `${own.snapshot_id} ${size}`, env, user, workdir } }
}

/** The tariff of a template that is built: as asked for, else that of the template that it is built on. */
export async function tariffOfBuild(
  db: Queryable,
  accountId: string,
  { dockerfile, args }: { dockerfile: string; args: Record<string, string> },
): Promise<TemplateRow['tariff']> {
  const { name } = baseOf(readDockerfile(dockerfile), args)
  return (await templateNamed(db, accountId, name))?.tariff ?? 'micro'
}

/**
 * Begins to build a template: its sandbox is wanted, and paid as any, in the transaction that writes the build down. It begins
 * as the last step whose result is known.
 * @throws OperationError as createSandbox, and `template_busy`
 */
export async function beginBuild(
  call: Pick<Call<'createSandbox'>, 'caller' | 'asked' | 'services'>,
  tx: Transaction,
  hosts: readonly SandboxHostFacts[],
  template: TemplateRow,
  { from, plan }: PreparedBuild,
  { fresh }: { fresh: boolean },
): Promise<BuildRow> {
  const { caller, services } = call
  const { newId, clock } = services
  const known = fresh
    ? new Map<string, string>()
    : await readyLayers(
        tx,
        caller.accountId,
        plan.steps.map(({ digest }) => digest),
      )
  const done = plan.steps.findLastIndex(({ digest }) => known.has(digest)) + 1
  const layer = done > 0 ? plan.steps[done - 1]!.digest : undefined
  const origin = layer === undefined ? from : known.get(layer)!
  const tariff = await chooseTariff(tx, hosts, caller.accountId, {
    template: origin,
    tariff: template.tariff,
  })
  const network = chooseNetwork(hosts, template.network ?? undefined)
  const { price_per_hour, ...size } = sizeOf(tariff)
  const { hosts: possible, holders } = await hostsFor(tx, hosts, { template: origin, network })
  const sandboxId = newId('sandbox')
  const place = (wanted: SandboxSize) =>
    placeSandbox(tx, services, possible, { size: wanted, ...(holders && { holders }) })
  await startSandbox(tx, services, call, place, {
    id: sandboxId,
    account_id: caller.accountId,
    tariff,
    template: origin,
    mode: 'ephemeral',
    ...size,
    env: sealEnv(services, sandboxId, {}),
    metadata: { started_by: 'build_sandbox_template', template_id: template.id },
    network,
    parent_id: null,
    timeout_s: template.timeout_s,
    idle_s: 0,
    price_hourly: price_per_hour,
  })
  const now = clock.now()
  if (layer !== undefined) await touchLayer(tx, caller.accountId, layer, now)
  const build = await insertBuild(tx, {
    id: newId('build'),
    template_id: template.id,
    account_id: caller.accountId,
    sandbox_id: sandboxId,
    done,
    fresh,
    created_at: now,
  })
  if (!build) throw isBusy(template)
  const cached = plan.steps
    .slice(0, done)
    .map(({ title }) => ({ stream: 'step' as const, text: `cached: ${title}` }))
  await insertLog(tx, build.id, cached, now)
  await announce(tx, BUILD_BEGINS)
  return build
}

/** The answer while a template is being built. */
export const isBusy = ({ id, name }: Pick<TemplateRow, 'id' | 'name'>) =>
  new OperationError('template_busy', `The template ${name} is being built`, {
    nextSteps: [
      {
        tool: 'get_sandbox_template',
        why: 'Wait until it is built',
        arguments: { template_id: id, wait: 'built', timeout: 50 },
      },
    ],
  })
