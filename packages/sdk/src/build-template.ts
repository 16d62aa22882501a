import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import { type CallOptions, type Client, type ClientOptions, createClient } from './client.ts'
import { CoinrackError, ConnectionError } from './errors.ts'
import { realWorld } from './world.ts'

type Template = Output<Operations['getSandboxTemplate']>
type LogLine = Output<Operations['getSandboxTemplateLog']>['lines'][number]

export interface BuildTemplateOptions extends CallOptions {
  /** An archive that is uploaded first: tar or tar.gz with the files for COPY, or that of an image. */
  archive?: Uint8Array | ReadableStream<Uint8Array>
  /** Called with each line of the log, in order. */
  onLog?: (line: LogLine) => void | Promise<void>
}

/** A template could not be built; `message` says why. What was built under its name before stays. */
export class TemplateBuildError extends Error {
  override readonly name = 'TemplateBuildError'
  readonly template: Template

  constructor(template: Template) {
    super(template.build?.error ?? 'The template could not be built')
    this.template = template
  }
}

/** How long one question for more of the log waits, in seconds. */
const WAIT_S = 30

/**
 * Makes a template, and resolves when it is built: `name` is the template of new sandboxes then.
 * @throws CoinrackError, ConnectionError, TemplateBuildError
 */
export async function buildTemplate(
  options: ClientOptions,
  input: NonNullable<Parameters<Client['createSandboxTemplate']>[0]>,
  { archive, onLog, ...call }: BuildTemplateOptions = {},
): Promise<Template> {
  const client = createClient(options)
  const wish = { ...input, ...(archive && !input.image && { upload: true }) }
  const { template } = await client.createSandboxTemplate(wish, call)
  const { id: template_id } = template
  if (archive) {
    // The archive of an image goes straight into the sandbox.
    if (input.image)
      await client.getSandbox({ sandbox_id: template.build!.sandbox_id, wait: 'running', timeout: WAIT_S })
    const { url } = await client.getSandboxTemplateUploadUrl({ template_id })
    await upload(options, url, archive)
    if (!input.image) await client.buildSandboxTemplate({ template_id })
  }
  for (let after = 0; ; ) {
    const { lines, next, running } = await client.getSandboxTemplateLog({
      template_id,
      after,
      timeout: WAIT_S,
    })
    for (const line of lines) await onLog?.(line)
    after = next
    if (!running) break
  }
  const built = await client.getSandboxTemplate({ template_id })
  if (built.build?.status === 'failed') throw new TemplateBuildError(built)
  return built
}

async function upload(
  options: ClientOptions,
  url: string,
  archive: NonNullable<BuildTemplateOptions['archive']>,
): Promise<void> {
  const world = { ...realWorld, ...options }
  const headers = { 'content-type': 'application/octet-stream' }
  const init: RequestInit & { duplex: 'half' } = {
    method: 'PUT',
    headers,
    body: archive as BodyInit,
    duplex: 'half',
  }
  const response = await world.fetch(url, init).catch((error: unknown) => {
    throw new ConnectionError(url.split('?')[0]!, error)
  })
  if (!response.ok) throw new CoinrackError(response.status, await response.json().catch(() => ({})))
  await response.body?.cancel()
}
