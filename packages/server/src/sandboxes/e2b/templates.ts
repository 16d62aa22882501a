import { sandboxTariffs, type TariffName, tariffNames } from '@coinrack/contract/sandbox-tariffs.ts'
import type { SandboxTemplate } from '@coinrack/contract/sandbox-templates.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { readUntil } from '../../database/changes.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { isApi, TEMPLATE_UPLOADS } from '../../transport/preview-address.ts'
import { buildAt, buildById, countBuilds, type LogLine, logAfter } from '../templates/build-store.ts'
import { clearUploads, uploadsOf } from '../templates/context-store.ts'
import { templateById } from '../templates/template-store.ts'
import { type Asker, type ControlWorld, createServe, read } from './asker.ts'
import { ourTemplate } from './new-sandbox.ts'
import { NotServed } from './refusals.ts'
import { NewTemplate, StartOfBuild } from './shapes.ts'
import { ENVD_VERSION } from './views.ts'
import { type BuildsOn, stepOf, writeDockerfile } from './write-dockerfile.ts'

/** A template as `get_sandbox_template` shows it on the wire. */
type WireTemplate = z.input<typeof SandboxTemplate>

const MOST_LISTED = 100
/** The most lines of the log in one answer. */
const MOST_LINES = 100
/** How long the answer about a build waits while it says nothing. */
const QUIET_S = 5
/** A user and a folder of the service's templates, in which E2B's builds begin. */
const PLAIN = { user: 'user', workdir: '/home/user' }
/** Until its steps are known. */
const NO_STEPS = 'FROM base\n'
const STATUSES = { running: 'building', succeeded: 'ready', failed: 'error' } as const

/**
 * The builder of templates that E2B's clients have: first they ask for a template, then they send files, then the steps. These
 * become a Dockerfile, which is built as any other.
 */
export function registerTemplates(scope: FastifyInstance, world: ControlWorld): void {
  const { services } = world
  const { db } = services
  const serve = createServe(scope, world)

  serve('POST', ['/v3/templates', '/v2/templates'], async (asker, request, reply) => {
    const asked = read(NewTemplate, request)
    const name = nameOf(asked)
    const tariff = tariffFor(asked)
    let template = await findTemplate(asker, name)
    if (template) {
      // Refused while it is being built.
      await asker.ask('getSandboxTemplateUploadUrl', { template_id: template.id }, template.id)
      await clearUploads(db, template.id)
    } else {
      const made = await asker.ask('createSandboxTemplate', {
        name,
        dockerfile: NO_STEPS,
        upload: true,
        ...(tariff && { tariff }),
      })
      template = made.template as WireTemplate
    }
    const place = (await countBuilds(db, template.id)) + 1
    return reply.code(202).send({
      templateID: template.id,
      buildID: tariff ? `${place}-${tariff}` : String(place),
      names: [name],
      aliases: [name],
      tags: [TAG],
      public: false,
    })
  })

  serve('GET', ['/templates/:id/files/:hash'], async (asker, request, reply) => {
    const { id, hash = '' } = request.params as { id: string; hash?: string }
    const link = await asker.ask('getSandboxTemplateUploadUrl', { template_id: id, folder: hash }, id)
    const present = (await uploadsOf(db, id)).some(({ folder }) => folder === hash)
    return reply.code(201).send({ present, url: linkFor(services, request, String(link.url)) })
  })

  serve('POST', ['/v2/templates/:id/builds/:buildId'], async (asker, request, reply) => {
    const { id } = request.params
    const build = read(StartOfBuild, request)
    const { place, tariff } = readBuildId(request)
    await templateOf(asker, id)
    if (place !== (await countBuilds(db, id)) + 1)
      throw new OperationError(
        'template_busy',
        'This build was begun already, or another was asked for since',
      )
    const on = await buildsOn(asker, services, build)
    const { dockerfile, ready } = writeDockerfile(build, on)
    await asker.ask(
      'buildSandboxTemplate',
      {
        template_id: id,
        dockerfile,
        args: {},
        ready,
        tariff: tariff ?? on.tariff ?? tariffNames[0],
        // One step that is to be done again is followed by all the others.
        fresh: build.force === true || build.steps.some(({ force }) => force === true),
      },
      id,
    )
    return reply.code(202).send()
  })

  serve('GET', ['/templates/:id/builds/:buildId/status'], async (asker, request) => {
    const { id } = request.params
    const { place } = readBuildId(request)
    await templateOf(asker, id)
    const said = { templateID: id, buildID: buildIdOf(request), logs: [] }
    // Lines are numbered from 1 on, so the number of those that were read is that of the last one.
    const after = Math.max(0, Math.trunc(Number(request.query.logsOffset ?? 0)) || 0)
    const begun = await buildAt(db, id, place)
    if (!begun) return { ...said, status: 'waiting', logEntries: [] }
    // Clients ask five times a second, and each time counts for the rate of their account.
    const { build, lines } = await readUntil(
      services.changes,
      begun.id,
      QUIET_S,
      async () => {
        // Its end is read first: what was written before it is in the lines then.
        const now = await buildById(db, begun.id)
        return { build: now, lines: await logAfter(db, begun.id, after, MOST_LINES) }
      },
      (read) => read.build.status !== 'running' || read.lines.length > 0,
      asker.gone,
    )
    const { dockerfile } = await templateById(db, id)
    return {
      ...said,
      status: STATUSES[build.status],
      logEntries: lines.map(logEntry),
      ...(build.error !== null && {
        reason: { message: build.error, step: stepOf(dockerfile ?? '', build.error), logEntries: [] },
      }),
    }
  })

  serve('GET', ['/templates'], async (asker) => (await templatesOf(asker)).map(templateView))

  serve('GET', ['/templates/aliases/:id'], async (asker, { params: { id } }) => {
    if (ourTemplate(id) !== undefined) return { templateID: id, public: true }
    return { templateID: (await demandTemplate(asker, id)).id, public: false }
  })

  serve('GET', ['/templates/:id/tags'], async (asker, { params: { id } }) => {
    const template = await demandTemplate(asker, id)
    const place = await countBuilds(db, template.id)
    return template.built_at === null
      ? []
      : [{ tag: TAG, buildID: String(place), createdAt: template.built_at }]
  })

  // Clients ask by this path for a tag to be taken away: it names no template, even where one is called so.
  serve('DELETE', ['/templates/tags'], async () => {
    throw noTags()
  })

  serve('DELETE', ['/templates/:id'], async (asker, { params: { id } }, reply) => {
    const template = await findTemplate(asker, id)
    if (template) await asker.ask('deleteSandboxTemplate', { template_id: template.id }, template.id)
    else await asker.ask('deleteSandboxSnapshot', { snapshot_id: id }, id)
    return reply.code(204).send()
  })
}

/** The only one: a template has the state of its last build that succeeded. */
const TAG = 'default'

const noTags = () =>
  new NotServed('Tags of templates are not offered here: give each state a name of its own')

const templatesOf = async (asker: Asker): Promise<WireTemplate[]> =>
  (await asker.ask('listSandboxTemplates', { limit: MOST_LISTED })).items as WireTemplate[]

/** A template of the client's, by its name or id. */
export const findTemplate = async (asker: Asker, name: string): Promise<WireTemplate | undefined> =>
  (await templatesOf(asker)).find((each) => each.name === name || each.id === name)

async function demandTemplate(asker: Asker, name: string): Promise<WireTemplate> {
  const found = await findTemplate(asker, name)
  if (found) return found
  throw new OperationError('unknown_template', `There is no template ${name.slice(0, 60)}`)
}

/** @throws Refused when there is none, or it is another's */
const templateOf = async (asker: Asker, id: string) =>
  (await asker.ask('getSandboxTemplate', { template_id: id }, id)) as unknown as WireTemplate

/** @throws NotServed for tags */
function nameOf({ name, alias, tags }: NewTemplate): string {
  const asked = name ?? alias ?? ''
  if (asked.includes(':') || tags?.some((tag) => tag !== TAG)) throw noTags()
  return asked
}

/** The smallest tariff that has what is asked for; undefined where nothing is. @throws OperationError `invalid_input` */
function tariffFor({ cpuCount, memoryMB, minFreeDiskMb }: NewTemplate): TariffName | undefined {
  if (cpuCount == null && memoryMB == null && minFreeDiskMb == null) return undefined
  const found = tariffNames.find((name) => {
    const { vcpus, memory_mb, disk_gb } = sandboxTariffs[name]
    return vcpus >= (cpuCount ?? 0) && memory_mb >= (memoryMB ?? 0) && disk_gb * 1024 >= (minFreeDiskMb ?? 0)
  })
  if (found) return found
  const { vcpus, memory_mb, disk_gb } = sandboxTariffs.max
  throw new OperationError(
    'invalid_input',
    `cpuCount, memoryMB, minFreeDiskMb: the largest sandbox has ${vcpus}, ${memory_mb} and ${disk_gb * 1024}`,
  )
}

const buildIdOf = ({ params }: FastifyRequest) => (params as { buildId: string }).buildId

/** The identifier of a build, as it was given out before the build was begun: its place, and the tariff that was asked for. */
function readBuildId(request: FastifyRequest): { place: number; tariff?: TariffName } {
  const [, place, tariff] = /^([1-9]\d{0,8})(?:-([a-z]+))?$/.exec(buildIdOf(request)) ?? []
  if (place === undefined || (tariff !== undefined && !(tariffNames as string[]).includes(tariff)))
    throw new OperationError('not_found', `There is no build ${buildIdOf(request).slice(0, 60)}`)
  return { place: Number(place), ...(tariff !== undefined && { tariff: tariff as TariffName }) }
}

/** What a build is built on. @throws NotServed for an image of a registry */
async function buildsOn(
  asker: Asker,
  { db }: Services,
  { fromImage, fromTemplate, fromImageRegistry }: StartOfBuild,
): Promise<BuildsOn & { tariff?: TariffName }> {
  const asked = fromTemplate ?? fromImage ?? 'base'
  const bare = asked.replace(/^e2bdev\//, '').replace(/:latest$/, '')
  const ours = ourTemplate(bare)
  if (ours !== undefined && fromImageRegistry == null) return { name: ours, ...PLAIN }
  const own = fromImageRegistry == null ? await findTemplate(asker, asked) : undefined
  if (!own)
    throw new NotServed(
      `A template cannot be built on ${asked.slice(0, 100)}: images of registries are not known here. Use fromBaseImage(), fromTemplate('code-interpreter-v1'), or fromTemplate with the name of a template of yours`,
    )
  const { default_user, workdir } = await templateById(db, own.id)
  return {
    name: own.name,
    user: default_user ?? PLAIN.user,
    workdir: workdir ?? PLAIN.workdir,
    tariff: own.tariff,
  }
}

/** The link to send files by, at the address at which the client asks. */
function linkFor({ config }: Services, { headers }: FastifyRequest, url: string): string {
  const { host = '' } = headers
  const isHere = new URL(config.publicUrl).host === host
  if (isHere) return url
  const scheme = isApi(config.sandboxDomain, host) ? new URL(config.publicUrl).protocol : 'http:'
  return `${scheme}//${host}${url.slice(url.indexOf(TEMPLATE_UPLOADS))}`
}

const logEntry = ({ at, stream, text }: LogLine) => ({
  timestamp: at.toISOString(),
  level: stream === 'stderr' ? 'warn' : 'info',
  message: text.replace(/\n$/, ''),
})

/** A template as it stands in a list. */
function templateView({ id, name, tariff, status, created_at, built_at }: WireTemplate) {
  const { vcpus, memory_mb, disk_gb } = sandboxTariffs[tariff]
  return {
    templateID: id,
    buildStatus: status === 'failed' ? 'error' : status,
    names: [name],
    aliases: [name],
    public: false,
    cpuCount: Math.max(1, Math.ceil(vcpus)),
    memoryMB: memory_mb,
    diskSizeMB: disk_gb * 1024,
    envdVersion: ENVD_VERSION,
    createdAt: created_at,
    updatedAt: built_at ?? created_at,
  }
}
