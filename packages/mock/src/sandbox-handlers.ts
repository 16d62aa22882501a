import type { TariffName } from '@coinrack/contract/sandbox-tariffs.ts'
import { mine, newestFirst } from './account-handlers.ts'
import {
  absolute,
  contentOf,
  demandFile,
  demandFolder,
  listFolder,
  makeFolder,
  move,
  readPart,
  remove,
} from './files.ts'
import { type Call, type Handlers, waitUntil } from './handler.ts'
import { Refusal } from './refusal.ts'
import { copyOf, demandRunning, end, makeSandbox, pause, run, setEnds, settleSandbox } from './sandboxes.ts'
import type { MockSandbox, State } from './state.ts'
import { beginTask, demandTask, killTask, readTask, runProgram, typeInto } from './tasks.ts'

const TEMPLATES = ['base', 'code-interpreter']

/** The sandbox of a call, which runs and is used by it. */
function used(state: State, id: string): MockSandbox {
  const sandbox = state.sandboxes.get(id)!
  demandRunning(sandbox)
  setEnds(sandbox, sandbox.endsAt, state.now().getTime())
  return sandbox
}

const paid = (state: State, { view, accountId }: MockSandbox) => ({
  ...view,
  ...state.runway(state.accounts.get(accountId)!),
})

/** Life, snapshots, programs, files and ports of sandboxes. */
export const sandboxHandlers: Handlers = {
  createSandbox({ input, account, state }) {
    const { template, tariff, mode, timeout, idle_timeout, metadata, network } = input
    const snapshot = state.snapshots.get(template)
    if (!TEMPLATES.includes(template) && snapshot?.accountId !== account.id)
      throw new Refusal('unknown_template', `There is no template ${template}`)
    const sandbox = makeSandbox(state, account, {
      ...{
        template,
        mode,
        timeout,
        idle_timeout,
        metadata,
        tariff: tariff ?? snapshot?.view.tariff ?? 'micro',
      },
      network: network ?? { allow_internet: true, allow_out: [], deny_out: [] },
    })
    if (snapshot) Object.assign(sandbox, copyOf(snapshot.inside))
    return paid(state, sandbox)
  },
  listSandboxes: ({ input, account, state }) =>
    newestFirst(mine(state.sandboxes, account)).filter((view) =>
      input.state === undefined ? view.ended_at === null : view.state === input.state,
    ),
  getSandbox({ input, state }) {
    const sandbox = state.sandboxes.get(input.sandbox_id)!
    const isSo = () => {
      settleSandbox(state, sandbox)
      return sandbox.view.state === input.wait || sandbox.view.state === 'ended'
    }
    if (input.wait) waitUntil(state, input.timeout, isSo)
    return sandbox.view
  },
  killSandbox({ input, state }) {
    const sandbox = state.sandboxes.get(input.sandbox_id)!
    if (sandbox.view.ended_at === null) end(state, sandbox)
    return paid(state, sandbox)
  },
  setSandboxTimeout({ input, state }) {
    const sandbox = state.sandboxes.get(input.sandbox_id)!
    demandRunning(sandbox)
    Object.assign(sandbox.view, {
      timeout: input.timeout ?? sandbox.view.timeout,
      idle_timeout: input.idle_timeout ?? sandbox.view.idle_timeout,
    })
    const now = state.now().getTime()
    if (input.timeout !== undefined) sandbox.endsAt = now + input.timeout * 1000
    setEnds(sandbox, sandbox.endsAt, now)
    return sandbox.view
  },
  setSandboxNetwork({ input, state }) {
    const sandbox = used(state, input.sandbox_id)
    const { allow_internet, allow_out, deny_out } = input
    sandbox.view.network = { allow_internet, allow_out, deny_out }
    return sandbox.view
  },
  pauseSandbox({ input, state }) {
    const sandbox = state.sandboxes.get(input.sandbox_id)!
    demandRunning(sandbox, ['running', 'paused'])
    if (sandbox.view.state === 'running') pause(state, sandbox)
    return paid(state, sandbox)
  },
  resumeSandbox({ input, state }) {
    const sandbox = state.sandboxes.get(input.sandbox_id)!
    demandRunning(sandbox, ['running', 'paused'])
    if (input.timeout !== undefined) sandbox.view.timeout = input.timeout
    if (sandbox.view.state === 'paused') run(state, sandbox)
    return paid(state, sandbox)
  },
  forkSandbox({ input, account, state }) {
    const from = used(state, input.sandbox_id)
    const { template, tariff, mode, idle_timeout, network } = from.view
    const sandbox = makeSandbox(state, account, {
      ...{ template, mode, idle_timeout, network, tariff: tariff as TariffName, parent_id: from.view.id },
      ...{ timeout: input.timeout ?? from.view.timeout, metadata: input.metadata ?? from.view.metadata },
    })
    Object.assign(sandbox, copyOf(from))
    return paid(state, sandbox)
  },
  createSandboxSnapshot({ input, account, state }) {
    const sandbox = state.sandboxes.get(input.sandbox_id)!
    demandRunning(sandbox, ['running', 'paused'])
    const { tariff, template, id: sandbox_id } = sandbox.view
    const view = {
      ...{
        id: state.id('snapshot'),
        sandbox_id,
        name: input.name ?? template,
        status: 'ready' as const,
        tariff,
      },
      ...{ size_mb: 64, created_at: state.now() },
    }
    state.snapshots.set(view.id, { accountId: account.id, view, inside: copyOf(sandbox) })
    return { snapshot: view }
  },
  listSandboxSnapshots: ({ account, state }) => newestFirst(mine(state.snapshots, account)),
  runCode({ input, ...call }) {
    const { code: text, language, context, ...rest } = input
    if (context !== undefined) contextFor(used(call.state, input.sandbox_id), context, language)
    return work({ ...call, input }, { text, language, typed: '', ...rest }, call.programs.code)
  },
  execCommand({ input, ...call }) {
    const { command: text, input: typed = '', ...rest } = input
    const ended = work({ ...call, input }, { text, typed, ...rest }, call.programs.command)
    const { results: _results, error: _error, ...answer } = ended
    return answer
  },
  listTasks: ({ input, state }) =>
    [...used(state, input.sandbox_id).tasks.values()].map(({ id, title, end, startedAt }) => ({
      ...{ id, title, running: end === undefined, started_at: startedAt },
    })),
  getTask: ({ input, state }) => readTask(demandTask(used(state, input.sandbox_id), input.task_id), input),
  killTask({ input, state }) {
    killTask(demandTask(used(state, input.sandbox_id), input.task_id), input.signal)
    return { task_id: input.task_id, signal: input.signal }
  },
  sendInput({ input, state }) {
    const task = demandTask(used(state, input.sandbox_id), input.task_id)
    if (input.input !== '' || input.end) typeInto(task, input.input, input.end)
    return { task_id: task.id }
  },
  writeFile({ input, state }) {
    const bytes = contentOf(input)
    used(state, input.sandbox_id).files.set(absolute(input.path), bytes)
    return { path: input.path, size: bytes.length }
  },
  readFile({ input, state }) {
    const bytes = demandFile(used(state, input.sandbox_id).files, absolute(input.path))
    return readPart(input.path, bytes, input.offset, input.length)
  },
  listFiles: ({ input, state }) =>
    listFolder(used(state, input.sandbox_id), absolute(input.path), input.depth, state.now()),
  deleteFile({ input, state }) {
    remove(used(state, input.sandbox_id), absolute(input.path))
    return { deleted: input.path }
  },
  makeFolder: ({ input, state }) => ({
    path: input.path,
    created: makeFolder(used(state, input.sandbox_id), absolute(input.path)),
  }),
  moveFile({ input, state }) {
    move(used(state, input.sandbox_id), absolute(input.path), absolute(input.to))
    return { path: input.to }
  },
  watchFolder({ input, state }) {
    demandFolder(used(state, input.sandbox_id), absolute(input.path))
    state.pass(input.timeout * 1000)
    return { changes: [] }
  },
  createContext({ input, state }) {
    const { context, language, cwd } = input
    const { contexts } = used(state, input.sandbox_id)
    const made = contexts.get(context) ?? { id: context, language, cwd: absolute(cwd ?? '.') }
    if (made.language !== language)
      throw new Refusal('task_refused', `There is a context ${context} of another language`)
    contexts.set(context, made)
    return { context, language, cwd: made.cwd }
  },
  listContexts: ({ input, state }) =>
    [...used(state, input.sandbox_id).contexts.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  restartContext({ input, state }) {
    if (!used(state, input.sandbox_id).contexts.has(input.context))
      throw new Refusal('unknown_context', `There is no context ${input.context}`)
    return { context: input.context }
  },
  deleteContext({ input, state }) {
    used(state, input.sandbox_id).contexts.delete(input.context)
    return { context: input.context }
  },
  exposePort({ input, state }) {
    const sandbox = used(state, input.sandbox_id)
    const url = `${state.url}/preview/${sandbox.view.id}/${input.port}/`
    const token = input.access === 'token' ? `prv_${state.id('token')}` : null
    const { port, access } = input
    const made = { port, access, url, path_url: url, token, created_at: state.now(), blocked: null }
    const known = sandbox.ports.get(port)
    const view = known?.access === access ? known : made
    sandbox.ports.set(port, view)
    return view
  },
  exposeAllPorts({ input, state }) {
    const { view } = state.sandboxes.get(input.sandbox_id)!
    const { access } = input
    if (access === 'none') return { access, url: null, path_url: null, token: null }
    const url = `${state.url}/preview/${view.id}/{port}/`
    return { access, url, path_url: url, token: access === 'token' ? `prv_${state.id('token')}` : null }
  },
  listExposedPorts: ({ input, state }) => [...state.sandboxes.get(input.sandbox_id)!.ports.values()],
  unexposePort({ input, state }) {
    state.sandboxes.get(input.sandbox_id)!.ports.delete(input.port)
    return { port: input.port }
  },
}

/** The context of code, which is made when it is new. @throws Refusal `unknown_context` when it is of another language */
function contextFor(
  { contexts }: MockSandbox,
  id: string,
  language: Call<'runCode'>['input']['language'],
): void {
  const context = contexts.get(id) ?? { id, language, cwd: absolute('.') }
  if (context.language !== language)
    throw new Refusal('unknown_context', `The context ${id} is none of ${language}`)
  contexts.set(id, context)
}

interface Work {
  text: string
  language?: string
  typed: string
  env?: Record<string, string> | undefined
  timeout?: number | undefined
  background: boolean
}

function work(
  { input, state }: Pick<Call<'runCode' | 'execCommand'>, 'input' | 'state'>,
  { text, language, typed, env = {}, timeout, background }: Work,
  programs: Call<'runCode'>['programs']['code'],
) {
  const sandbox = used(state, input.sandbox_id)
  const asked = { text, id: sandbox.view.id, input: typed, env, files: sandbox.files }
  const run = language === undefined ? asked : { ...asked, language }
  if (!background) {
    const { program: _program, ...ended } = runProgram(state, programs, run, timeout)
    return ended
  }
  const { id } = beginTask(state, sandbox, programs, run)
  return {
    ...{
      stdout: '',
      stderr: '',
      exit_code: null,
      timed_out: false,
      truncated: false,
      duration_ms: 0,
      task_id: id,
    },
    ...{ results: [], error: null },
  }
}
