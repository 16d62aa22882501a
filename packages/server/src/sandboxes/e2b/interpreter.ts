import {
  CHART_FORM,
  type CodeLanguage,
  type CodeResult,
  DATA_FORM,
  type SandboxChannel,
  type TaskEnd,
  type TaskOffsets,
} from '@coinrack/compute/ports/sandbox-channel.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { OperationError } from '../../platform/errors.ts'
import { headersSoFar } from '../../transport/for-browsers.ts'
import { hungUp } from '../../transport/rest.ts'
import { writeEvent } from '../../transport/write-events.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'
import { enter, type InsideWorld } from './enter.ts'
import { Execute, NewContext, readJson } from './shapes.ts'

const CODE_BYTES = 8 * 1024 ** 2
const WAIT_MS = 5_000
const STUCK_MS = 5 * 60_000
/** While code says nothing. */
const KEEPALIVE_MS = 15_000

/** The languages of E2B's clients, and the interpreter of each. TypeScript runs without its types. */
const languages: Record<string, CodeLanguage> = {
  python: 'python',
  javascript: 'node',
  js: 'node',
  node: 'node',
  typescript: 'node',
  ts: 'node',
  bash: 'bash',
}
const isTypeScript = (language: string) => language === 'typescript' || language === 'ts'
/** A context of TypeScript says so in its id. */
const TYPESCRIPT = /^typescript(-|$)/

type Asked = FastifyRequest<{ Params: { context: string } }>

/** What E2B's clients ask of the interpreters of a sandbox. Contexts are those of the sandbox itself. */
export function registerInterpreter(scope: FastifyInstance, world: InsideWorld): void {
  const { services } = world
  const config = { onMachines: true }
  // Clients send the access text with the first of these calls alone, and the one for traffic with all.
  const inside = async <T>(
    request: FastifyRequest,
    work: (channel: SandboxChannel, id: string) => Promise<T>,
  ) => {
    const { id, row } = await enter(world, request, { inside: true, traffic: true })
    return askSandbox(services, id, row, (channel) => work(channel, id))
  }

  scope.post('/execute', { config, bodyLimit: CODE_BYTES }, async (request, reply) => {
    const asked = readJson(Execute, String(request.body ?? ''))
    await inside(request, async (channel, id) => {
      const { context, language, code } = await codeOf(world, channel, id, asked)
      const taskId = services.newId('task')
      await channel.tasks.start(id, taskId, {
        run: { code, language, context, data: true, quiet: true },
        ...(asked.env_vars && { env: asked.env_vars }),
        overflow: 'follow',
      })
      const gone = AbortSignal.any([hungUp(reply), world.closing])
      await tellRun(channel, { id, taskId }, reply, gone)
    })
    return reply
  })

  scope.get('/contexts', { config }, (request) =>
    inside(request, async ({ contexts }, id) => (await contexts.list(id)).map(contextView)),
  )

  scope.post('/contexts', { config }, (request) => {
    const { language = 'python', cwd } = readJson(NewContext, String(request.body ?? ''))
    return inside(request, async ({ contexts }, id) => {
      const asked = (language ?? 'python').toLowerCase()
      const contextId = `${isTypeScript(asked) ? 'typescript' : demandLanguage(asked)}-${services.newId('task')}`
      await contexts.create(id, contextId, { language: demandLanguage(asked), ...(cwd && { cwd }) })
      const made = (await contexts.list(id)).find((each) => each.contextId === contextId)
      return contextView(made!)
    })
  })

  scope.delete('/contexts/:context', { config }, async (request: Asked, reply) => {
    await inside(request, async (channel, id) => {
      await findContext(channel, id, request.params.context)
      await channel.contexts.remove(id, request.params.context)
    })
    return reply.code(204).send()
  })

  scope.post('/contexts/:context/restart', { config }, async (request: Asked, reply) => {
    await inside(request, ({ contexts }, id) => contexts.restart(id, request.params.context))
    return reply.code(204).send()
  })
}

/** @throws OperationError `unknown_language` */
function demandLanguage(asked: string): CodeLanguage {
  const language = languages[asked]
  if (language) return language
  throw new OperationError(
    'unknown_language',
    `There is no interpreter of ${asked.slice(0, 40)}: python, javascript, typescript and bash are`,
  )
}

/** What is to run, and in which context: of a language alone, in the one that there is for it. */
async function codeOf(
  { services }: InsideWorld,
  channel: SandboxChannel,
  id: string,
  {
    code,
    context_id,
    language: asked,
  }: { code: string; context_id?: string | null; language?: string | null },
) {
  if (context_id != null && asked != null)
    throw new OperationError('invalid_input', 'Only one of context_id and language can be given')
  const stripped = async (isTyped: boolean) => (isTyped ? services.typeStripper.strip(code) : code)
  if (context_id != null) {
    const { language } = await findContext(channel, id, context_id)
    return { context: context_id, language, code: await stripped(TYPESCRIPT.test(context_id)) }
  }
  const name = (asked ?? 'python').toLowerCase()
  const language = demandLanguage(name)
  if (!isTypeScript(name)) return { context: language, language, code }
  await channel.contexts.create(id, 'typescript', { language })
  return { context: 'typescript', language, code: await stripped(true) }
}

async function findContext({ contexts }: SandboxChannel, id: string, contextId: string) {
  const found = (await contexts.list(id)).find((each) => each.contextId === contextId)
  if (!found) throw new OperationError('unknown_context', `Context ${contextId.slice(0, 64)} not found`)
  return found
}

const contextView = ({
  contextId,
  language,
  cwd,
}: {
  contextId: string
  language: CodeLanguage
  cwd: string
}) => ({
  id: contextId,
  language: TYPESCRIPT.test(contextId) ? 'typescript' : language === 'node' ? 'javascript' : language,
  cwd,
})

/** Tells what code prints and shows while it runs, a JSON in a line each. When its client hangs up, it is interrupted. */
async function tellRun(
  { tasks }: SandboxChannel,
  { id, taskId }: { id: string; taskId: string },
  reply: FastifyReply,
  gone: AbortSignal,
): Promise<void> {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, {
    ...headersSoFar(reply),
    'content-type': 'application/x-ndjson',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  raw.flushHeaders()
  const say = (message: object) => writeEvent(raw, `${JSON.stringify(message)}\n`, gone, STUCK_MS)
  const timer = setInterval(() => {
    if (!raw.writableNeedDrain) void say({ type: 'keepalive' })
  }, KEEPALIVE_MS)
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  let end: TaskEnd | undefined
  try {
    for (let from: TaskOffsets = { stdout: 0, stderr: 0, results: 0 }; !gone.aborted && !end; ) {
      const output = await tasks.read(id, taskId, from, { waitMs: WAIT_MS, reader: taskId })
      end = output.end
      for (const name of ['stdout', 'stderr'] as const) {
        const text = decoders[name].decode(output[name], { stream: end === undefined })
        if (text !== '') await say({ type: name, text, timestamp: 0 })
      }
      for (const result of output.results ?? []) await say(resultView(result))
      from = output.next
    }
    if (!end) return
    for (const message of endViews(end)) await say(message)
    raw.end()
  } catch (error) {
    // The sandbox was lost, or ended: a stream that breaks off makes clients ask whether it runs.
    raw.destroy(error as Error)
  } finally {
    clearInterval(timer)
    if (end) tasks.remove(id, taskId).catch(() => {})
    else tasks.signal(id, taskId, 'SIGINT').catch(() => {})
  }
}

function endViews({ error, exitCode, signal, count, timedOut }: TaskEnd): object[] {
  const lost = signal ?? (exitCode !== 0 && !error ? `exit code ${exitCode}` : undefined)
  return [
    ...(count === undefined ? [] : [{ type: 'number_of_executions', execution_count: count }]),
    ...(error ? [{ type: 'error', ...error }] : []),
    ...(lost !== undefined && !timedOut
      ? [{ type: 'error', name: 'Ended', value: `The code ended with ${lost}`, traceback: '' }]
      : []),
    { type: 'end_of_execution' },
  ]
}

const forms: Record<string, string> = {
  'text/plain': 'text',
  'text/html': 'html',
  'text/markdown': 'markdown',
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'application/pdf': 'pdf',
  'text/latex': 'latex',
  'application/json': 'json',
  'application/javascript': 'javascript',
  [DATA_FORM]: 'data',
  [CHART_FORM]: 'chart',
}
const PARSED = new Set(['json', 'data', 'chart'])

/** A result by the names that E2B's clients have for its forms. */
function resultView({ data, isMain }: CodeResult): object {
  const shown: Record<string, unknown> = {}
  for (const [form, content] of Object.entries(data)) {
    const name = forms[form] ?? form
    shown[name] = PARSED.has(name) ? parsed(content) : name === 'text' ? bare(content) : content
  }
  return { type: 'result', ...shown, is_main_result: isMain }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A string is shown as its text, and not as it is written in code. */
const bare = (text: string) =>
  text.length >= 2 && text.startsWith("'") && text.endsWith("'") ? text.slice(1, -1) : text
