import { z } from 'zod'
import { Environment, NoNul } from './guest-shapes.ts'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { NetworkInput } from './sandbox-network.ts'
import { tariffNames } from './sandbox-tariffs.ts'
import { runErrors, SandboxId } from './sandboxes.ts'
import { paging, Timestamp, WaitSeconds } from './wire.ts'

/** The most templates of an account. */
export const TEMPLATES = 20
/** The most bytes of the context of a Dockerfile: of the files of one call, and of all uploads for one template. */
export const INLINE_BYTES = 5_000_000
export const CONTEXT_BYTES = 64 * 1024 ** 2
/** Names that a customer's template cannot have. */
export const catalogTemplates = ['base', 'code-interpreter'] as const

export const templateStatuses = ['waiting', 'building', 'ready', 'failed'] as const
export const templateSources = ['dockerfile', 'snapshot', 'image'] as const

const TemplateId = Id('template')
const TemplateName = z
  .string()
  .regex(
    /^(?!(snp|tpl)_)[a-z0-9][a-z0-9._-]{0,62}$/,
    'Expected up to 63 lower-case letters, digits, . _ and -',
  )
  .refine(
    (name) => !(catalogTemplates as readonly string[]).includes(name),
    'This name is taken by the service',
  )

const ContextPath = NoNul.min(1)
  .max(1024)
  .refine(
    (path) => !path.startsWith('/') && !path.split('/').includes('..'),
    'Expected a relative path without ..',
  )

const ContextFile = z.strictObject({
  path: ContextPath,
  content: z.string().optional().describe('UTF-8 text'),
  content_base64: z.base64().optional(),
  mode: z
    .string()
    .regex(/^0?[0-7]{3}$/)
    .default('0644')
    .describe('Octal'),
})

const bytesOf = (files: readonly z.output<typeof ContextFile>[]) =>
  files.reduce(
    (sum, { content = '', content_base64 = '' }) => sum + content.length + (content_base64.length * 3) / 4,
    0,
  )
const Files = z
  .array(ContextFile)
  .max(500)
  .refine(
    (files) =>
      files.every(
        ({ content, content_base64 }) => (content === undefined) !== (content_base64 === undefined),
      ),
    'Expected content or content_base64 of each file',
  )
  .refine((files) => bytesOf(files) <= INLINE_BYTES, 'Expected at most 5 MB in all: larger ones are uploaded')

export const TemplateBuild = z.object({
  id: Id('build'),
  status: z.enum(['running', 'succeeded', 'failed']),
  sandbox_id: SandboxId.describe('Where it is built; paid like others'),
  steps_done: z.number().int(),
  error: z.string().nullable(),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
})

export const SandboxTemplate = z.object({
  id: TemplateId,
  name: z.string().describe('Also the template of new sandboxes'),
  status: z.enum(templateStatuses).describe('waiting: for an upload, or for a build'),
  source: z.enum(templateSources),
  tariff: z.enum(tariffNames).describe('Its sandboxes have the same'),
  size_mb: z.number().int().nullable(),
  build: TemplateBuild.nullable().describe('The last one'),
  created_at: Timestamp,
  built_at: Timestamp.nullable(),
})

const one = { access: 'sandbox', rate: 'default', resource: 'template' } as const
const example = { template_id: 'tpl_01kabcdefghjkmnpqrstvwxyz0' }
const Dockerfile = NoNul.min(1).max(65_536)
const buildErrors = [...runErrors, 'unknown_template', 'dockerfile_invalid'] as const

/** What to do next about a template, as it stands. */
const followTemplate = (body: Record<string, unknown>) => {
  const { id, name, status, source } = (body.template ?? body) as Record<string, unknown>
  if (status === 'waiting' || (source === 'image' && status === 'building'))
    return [
      {
        tool: 'get_sandbox_template_upload_url',
        why: 'Get a link to upload its files to',
        arguments: { template_id: id },
      },
      ...(source === 'image'
        ? []
        : [{ tool: 'build_sandbox_template', why: 'Then build it', arguments: { template_id: id } }]),
    ]
  if (status === 'building')
    return [
      {
        tool: 'get_sandbox_template',
        why: 'Wait until it is built',
        arguments: { template_id: id, wait: 'built', timeout: 50 },
      },
      { tool: 'get_sandbox_template_log', why: 'Read how it goes', arguments: { template_id: id } },
    ]
  if (status === 'failed')
    return [{ tool: 'get_sandbox_template_log', why: 'See why', arguments: { template_id: id } }]
  return [{ tool: 'create_sandbox', why: 'Start a sandbox from it', arguments: { template: name } }]
}

export const sandboxTemplates = {
  createSandboxTemplate: operation({
    method: 'POST',
    path: '/sandbox-templates',
    summary: 'Make a template for sandboxes',
    description:
      'Makes a template for sandboxes of your own from a Dockerfile, a snapshot, or an OCI or Docker image archive. A Dockerfile (FROM base, code-interpreter or a template of yours; ARG, RUN, COPY, ENV, WORKDIR, USER, CMD, ENTRYPOINT) is built in a sandbox that is paid like others, and the answer comes when that has begun. Its sandboxes start with CMD running. An account can have 20.',
    access: 'sandbox',
    rate: 'sandboxes',
    closedTo: ['program'],
    effect: 'spend',
    idempotent: false,
    bodyBytes: 8 * 1024 * 1024,
    anyText: ['files'],
    input: z
      .strictObject({
        name: TemplateName,
        dockerfile: Dockerfile.optional(),
        snapshot_id: Id('snapshot').optional(),
        image: z.boolean().default(false).describe('From an archive of docker save or skopeo, uploaded next'),
        files: Files.default([]).describe('For COPY'),
        upload: z
          .boolean()
          .default(false)
          .describe('An archive of files for COPY is uploaded before the build'),
        args: Environment.default({}).describe('Values of ARG'),
        ready: NoNul.min(1)
          .max(4096)
          .optional()
          .describe('Command that succeeds when CMD is ready; default: it has run for 2 seconds'),
        tariff: z.enum(tariffNames).optional().describe('Default: micro, or that of FROM or the snapshot'),
        timeout: z.number().int().min(10).max(7200).default(1800).describe('Of a build, in seconds'),
        network: NetworkInput.optional().describe('Of a build; default: the internet'),
      })
      .refine(
        ({ dockerfile, snapshot_id, image }) =>
          [dockerfile !== undefined, snapshot_id !== undefined, image].filter(Boolean).length === 1,
        'Expected one of dockerfile, snapshot_id and image',
      ),
    output: z.object({ template: SandboxTemplate }),
    created: ({ template }) => `/sandbox-templates/${(template as { id: string }).id}`,
    errors: [...buildErrors, 'template_exists', 'template_limit'],
    example: {
      name: 'web',
      dockerfile: 'FROM base\nRUN pip install flask\nCOPY app.py /app/\nCMD ["python3", "/app/app.py"]',
      files: [{ path: 'app.py', content: 'print("hello")' }],
    },
    next: followTemplate,
  }),
  listSandboxTemplates: listOperation({
    method: 'GET',
    path: '/sandbox-templates',
    summary: 'List your templates for sandboxes',
    description: 'Lists your own templates for sandboxes, newest first.',
    access: 'sandbox',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging }),
    output: SandboxTemplate,
    errors: [],
    example: {},
  }),
  getSandboxTemplate: operation({
    ...one,
    method: 'GET',
    path: '/sandbox-templates/{id}',
    summary: 'Show a template for sandboxes',
    description:
      'Shows a template for sandboxes and its last build. With wait=built the answer comes when nothing is being built, or after timeout seconds.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      template_id: TemplateId,
      wait: z.literal('built').optional(),
      timeout: WaitSeconds.default(30),
    }),
    output: SandboxTemplate,
    errors: [],
    example,
    next: followTemplate,
  }),
  getSandboxTemplateLog: operation({
    ...one,
    method: 'GET',
    path: '/sandbox-templates/{id}/log',
    summary: 'Read the log of a build',
    description:
      'Reads the log of the last build of a template from after on, and waits up to timeout seconds for more. By REST with Accept: text/event-stream it is followed to its end.',
    streams: true,
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      template_id: TemplateId,
      after: z.coerce.number().int().min(0).default(0).describe('The number of the last line that was read'),
      timeout: z.coerce.number().min(0).max(50).default(0).describe('Seconds'),
    }),
    output: z.object({
      build_id: Id('build').nullable(),
      running: z.boolean(),
      lines: z.array(
        z.object({
          number: z.number().int(),
          at: Timestamp,
          stream: z.enum(['step', 'stdout', 'stderr']),
          text: z.string(),
        }),
      ),
      next: z.number().int().describe('The number to read on after'),
      error: z.string().nullable(),
    }),
    errors: [],
    example,
    next: ({ running, next }, { template_id }) =>
      running
        ? [
            {
              tool: 'get_sandbox_template_log',
              why: 'It goes on: wait for more',
              arguments: { template_id, after: next, timeout: 30 },
            },
          ]
        : [{ tool: 'get_sandbox_template', why: 'See what came of it', arguments: { template_id } }],
  }),
  buildSandboxTemplate: operation({
    ...one,
    method: 'POST',
    path: '/sandbox-templates/{id}/build',
    rate: 'sandboxes',
    closedTo: ['program'],
    summary: 'Build a template for sandboxes again',
    description:
      'Makes a template again in a new sandbox, which is paid like others; instructions whose result is known are taken from the cache. Until it succeeds new sandboxes are made from the build before.',
    effect: 'spend',
    idempotent: false,
    input: z.strictObject({
      template_id: TemplateId,
      dockerfile: Dockerfile.optional().describe('Default: as before'),
      args: Environment.optional().describe('Default: as before'),
      ready: NoNul.min(1).max(4096).nullable().optional().describe('Default: as before; null: none'),
      tariff: z.enum(tariffNames).optional().describe('Default: as before'),
      fresh: z.boolean().default(false).describe('Without the cache'),
    }),
    output: z.object({ template: SandboxTemplate }),
    errors: [...buildErrors, 'template_busy'],
    example,
    next: followTemplate,
  }),
  getSandboxTemplateUploadUrl: operation({
    ...one,
    method: 'POST',
    path: '/sandbox-templates/{id}/upload-url',
    summary: 'Get an upload link for a template',
    description:
      'Creates a link to PUT an archive to, without a token: for a Dockerfile tar or tar.gz with the files for COPY, up to 64 MB, before the build; for an image its archive, up to 2 GB, while it is being built. Use it as curl -T FILE URL.',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      template_id: TemplateId,
      folder: ContextPath.or(z.literal('')).default('').describe('Of the context, in which it is unpacked'),
      expires_in: z.number().int().min(1).max(86_400).default(3600).describe('Seconds'),
    }),
    output: z.object({ url: z.string(), method: z.literal('PUT'), expires_at: Timestamp }),
    errors: ['template_busy', 'sandboxes_unavailable'],
    example,
  }),
  deleteSandboxTemplate: operation({
    ...one,
    method: 'DELETE',
    path: '/sandbox-templates/{id}',
    summary: 'Delete a template for sandboxes',
    description:
      'Deletes a template for sandboxes. Sandboxes made from it live on, a snapshot that it was made from stays, and a build of it ends.',
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject({ template_id: TemplateId }),
    output: z.object({ deleted: TemplateId }),
    errors: ['sandboxes_unavailable'],
    example,
  }),
}
