import { z } from 'zod'
import { cut, Environment, ended, maxOutput, NoNul, readCutOn } from './guest-shapes.ts'
import { listOperation, operation } from './operation.ts'
import { SandboxId, sandboxExample } from './sandboxes.ts'
import { paging, Timestamp, WaitSeconds } from './wire.ts'

export const codeLanguages = ['python', 'node', 'bash'] as const
export const taskSignals = [
  'SIGINT',
  'SIGTERM',
  'SIGKILL',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
] as const

const sandbox = { sandbox_id: SandboxId }
const work = { access: 'sandbox', rate: 'default', resource: 'sandbox' } as const
const Timeout = z.number().positive().max(86_400)
const User = z.string().regex(/^[a-z_][a-z0-9_-]{0,31}$/)
const TaskId = z.string().regex(/^[\w-]{1,64}$/, 'Expected up to 64 letters, digits, _ and -')

const Result = z.object({
  data: z.record(z.string(), z.string()).describe('By media type; text/plain is always there'),
  is_main: z.boolean().describe('The last expression, not a display'),
})
const CodeError = z.object({ name: z.string(), value: z.string(), traceback: z.string() })

const Terminal = z.strictObject({
  columns: z.number().int().min(1).max(1000),
  rows: z.number().int().min(1).max(1000),
})

/** The field by which work in the background is read. */
const background = {
  task_id: TaskId.nullable().describe('Task in the background; see get_task'),
}

const Offset = z.coerce.number().int().min(0).default(0)
const Offsets = z.object({ stdout: z.number().int(), stderr: z.number().int() })

const Task = z.object({
  id: z.string(),
  title: z.string(),
  running: z.boolean(),
  started_at: Timestamp,
})

const Context = z.object({ id: z.string(), language: z.enum(codeLanguages), cwd: z.string() })
const context = { ...sandbox, context: TaskId }

const taskExample = { ...sandboxExample, task_id: 'tsk_01kabcdefghjkmnpqrstvwxyz0' }
const inside = ['sandbox_not_running', 'sandbox_unreachable', 'sandboxes_unavailable'] as const
const started = [...inside, 'sandbox_limit', 'task_refused'] as const

const leadOn = (answer: Record<string, unknown>, { sandbox_id }: Record<string, unknown>) =>
  typeof answer.task_id === 'string'
    ? [
        {
          tool: 'get_task',
          why: 'Read what it wrote',
          arguments: { sandbox_id, task_id: answer.task_id, timeout: 30 },
        },
      ]
    : readCutOn('read_file', answer, { sandbox_id })

/** There is more of a task while it runs, and after what was cut. */
const readTaskOn = (answer: Record<string, unknown>, { sandbox_id, task_id }: Record<string, unknown>) => {
  const { running, next } = answer as { running?: boolean; next?: z.input<typeof Offsets> }
  const cuts = (answer.cut ?? []) as { part: string }[]
  const isCut = cuts.some(({ part }) => part === 'stdout' || part === 'stderr')
  return [
    ...(isCut ? [{ tool: 'get_task', why: 'Read on', arguments: { sandbox_id, task_id, ...next } }] : []),
    ...(running && !isCut
      ? [
          {
            tool: 'get_task',
            why: 'It goes on: wait for more',
            arguments: { sandbox_id, task_id, ...next, timeout: 30 },
          },
        ]
      : []),
    ...readCutOn('read_file', answer, { sandbox_id }),
  ]
}

export const sandboxWork = {
  runCode: operation({
    ...work,
    method: 'POST',
    path: '/sandboxes/{id}/run',
    streams: true,
    everyday: true,
    summary: 'Run code in a sandbox',
    description:
      'Runs code in a sandbox and answers when it has ended, with its outputs and the values that it showed. A context (python, node, bash, or any new name) keeps variables from one run to the next. With background it answers a task_id at once. By REST with Accept: text/event-stream the outputs are streamed, and each value as an event result when it is shown.',
    onMachine: true,
    effect: 'destructive',
    idempotent: false,
    input: z.strictObject({
      ...sandbox,
      language: z.enum(codeLanguages).default('python'),
      code: NoNul.min(1).max(900_000),
      context: TaskId.optional(),
      env: Environment.optional(),
      timeout: Timeout.optional().describe(
        'Seconds; default 30, at most 50 unless streamed or in background',
      ),
      background: z.boolean().default(false),
      ...maxOutput,
    }),
    shows: 'output',
    output: z.object({
      ...ended,
      ...background,
      results: z.array(Result),
      error: CodeError.nullable(),
      ...cut,
    }),
    errors: [...started, 'unknown_context', 'unknown_language'],
    example: { ...sandboxExample, language: 'python', code: 'print(6 * 7)' },
    next: leadOn,
  }),
  execCommand: operation({
    ...work,
    method: 'POST',
    path: '/sandboxes/{id}/exec',
    streams: true,
    everyday: true,
    summary: 'Run a command in a sandbox',
    description:
      'Runs a command in a sandbox by /bin/bash -c and answers when it has ended. With background it answers a task_id at once, and send_input types into it. By REST with Accept: text/event-stream the outputs are streamed.',
    onMachine: true,
    effect: 'destructive',
    idempotent: false,
    input: z.strictObject({
      ...sandbox,
      command: NoNul.min(1).max(65_536),
      cwd: NoNul.max(4096).optional(),
      env: Environment.optional(),
      user: User.optional().describe('Default user, who may sudo; or root'),
      input: NoNul.max(262_144).optional().describe('Standard input'),
      timeout: Timeout.optional().describe(
        'Seconds; default 30, at most 50 unless streamed or in background',
      ),
      background: z.boolean().default(false),
      terminal: Terminal.optional().describe('In the background'),
      ...maxOutput,
    }),
    shows: 'output',
    output: z.object({ ...ended, ...background, ...cut }),
    errors: started,
    example: { ...sandboxExample, command: 'uname -a' },
    next: leadOn,
  }),
  createContext: operation({
    ...work,
    method: 'POST',
    path: '/sandboxes/{id}/contexts',
    summary: 'Create a context for code',
    description:
      'Creates an interpreter that keeps what code defines from one run to the next, in a folder of your choice. Code that is run in a new context makes it as well, in the home folder.',
    onMachine: true,
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      ...sandbox,
      context: TaskId,
      language: z.enum(codeLanguages).default('python'),
      cwd: NoNul.max(4096).optional().describe('Default: the home folder'),
    }),
    output: z.object({ context: TaskId, language: z.enum(codeLanguages), cwd: z.string() }),
    errors: [...started, 'unknown_language'],
    example: { ...sandboxExample, context: 'second', language: 'python' },
  }),
  listContexts: listOperation({
    ...work,
    method: 'GET',
    path: '/sandboxes/{id}/contexts',
    summary: 'List the contexts of a sandbox',
    description:
      'Lists the contexts that keep what code defines. There is one for each language from the beginning.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...sandbox, ...paging }),
    output: Context,
    errors: inside,
    example: sandboxExample,
  }),
  restartContext: operation({
    ...work,
    method: 'POST',
    path: '/sandboxes/{id}/contexts/{context}/restart',
    summary: 'Empty a context',
    description:
      'Ends the code that runs in a context and forgets all that was defined in it. The next code in it begins anew.',
    onMachine: true,
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject(context),
    output: z.object({ context: TaskId }),
    errors: [...inside, 'unknown_context'],
    example: { ...sandboxExample, context: 'python' },
  }),
  deleteContext: operation({
    ...work,
    method: 'DELETE',
    path: '/sandboxes/{id}/contexts/{context}',
    summary: 'Delete a context',
    description: 'Deletes a context with all that was defined in it. One that is not there is no error.',
    onMachine: true,
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject(context),
    output: z.object({ context: TaskId }),
    errors: inside,
    example: { ...sandboxExample, context: 'second' },
  }),
  listTasks: listOperation({
    ...work,
    method: 'GET',
    path: '/sandboxes/{id}/tasks',
    summary: 'List the background tasks of a sandbox',
    description: 'Lists the tasks that run in the background of a sandbox, and those that ended last.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...sandbox, ...paging }),
    output: Task,
    errors: inside,
    example: sandboxExample,
  }),
  getTask: operation({
    ...work,
    method: 'GET',
    path: '/sandboxes/{id}/tasks/{task_id}',
    streams: true,
    summary: 'Read a background task of a sandbox',
    description:
      'Reads what a background task of a sandbox wrote, from the given offsets on. Send the "next" of an answer as the offsets of the next call and nothing is lost, except the oldest beyond 1 MiB of each output. It waits up to timeout seconds for more, or for the end of the task. By REST with Accept: text/event-stream it is streamed to its end, with each value that code showed.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      ...sandbox,
      task_id: TaskId,
      stdout: Offset.describe('Offset in bytes'),
      stderr: Offset.describe('Offset in bytes'),
      results: Offset.describe('In a stream: how many results were read before'),
      timeout: WaitSeconds.default(0),
      ...maxOutput,
    }),
    shows: 'output',
    output: z.object({
      task_id: TaskId,
      running: z.boolean(),
      stdout: z.string(),
      stderr: z.string(),
      from: Offsets.describe('Later than asked for when the oldest was dropped'),
      next: Offsets,
      exit_code: z.number().int().nullable(),
      signal: z.string().nullable(),
      timed_out: z.boolean(),
      duration_ms: z.number().int().nullable(),
      results: z.array(Result),
      error: CodeError.nullable(),
      ...cut,
    }),
    errors: inside,
    example: taskExample,
    next: readTaskOn,
  }),
  killTask: operation({
    ...work,
    method: 'POST',
    path: '/sandboxes/{id}/tasks/{task_id}/kill',
    summary: 'Signal a background task of a sandbox',
    description:
      'Sends a signal to a background task of a sandbox and to all that it started. SIGINT stops code in a context without losing the context.',
    onMachine: true,
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject({ ...sandbox, task_id: TaskId, signal: z.enum(taskSignals).default('SIGKILL') }),
    output: z.object({ task_id: TaskId, signal: z.enum(taskSignals) }),
    errors: inside,
    example: { ...taskExample, signal: 'SIGTERM' },
  }),
  sendInput: operation({
    ...work,
    method: 'POST',
    path: '/sandboxes/{id}/tasks/{task_id}/input',
    summary: 'Type into a background task of a sandbox',
    description:
      'Sends input to a background task of a sandbox. With end its input is closed, and terminal gives its terminal another size.',
    anyText: ['input'],
    onMachine: true,
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      ...sandbox,
      task_id: TaskId,
      input: z.string().max(262_144).default(''),
      end: z.boolean().default(false),
      terminal: Terminal.optional(),
    }),
    output: z.object({ task_id: TaskId }),
    errors: [...inside, 'task_ended'],
    example: { ...taskExample, input: 'yes\n' },
  }),
}
