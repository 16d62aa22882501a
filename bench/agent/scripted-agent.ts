import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { chooseTool, type ListedTool } from './choose-tool.ts'
import { type DeclaredMethod, declaredMethods } from './declared-method.ts'
import { keep, type Memory, placeOf } from './memory.ts'
import type { Step, Task } from './tasks.ts'

export const modes = ['list', 'find and call', 'code'] as const
export type Mode = (typeof modes)[number]

/** What came of a task. */
export interface Outcome {
  isSolved: boolean
  /** Bytes that came into the context: the list, what was called and answered. */
  bytes: number
  /** The part of these bytes that is the list. */
  listBytes: number
  calls: number
  /** The last answer. */
  last: string
}

/** Programs of a task may spend so many USD. */
const BUDGET = 15
const ROUNDS = 5

/**
 * An agent that knows the addresses, and of the service nothing that lists and answers do not say. In mode `list` it reads
 * all tools and calls them; else it reads the list of `/mcp`, and finds what is not in it. In mode `code` it reads the
 * declarations of the methods that it needs and writes one program.
 * @param pay pays for what was asked for, as its owner would
 */
export async function solve(
  { goal, steps, shows }: Task,
  mode: Mode,
  { origin, token, pay }: { origin: string; token: string | undefined; pay(token: string): Promise<void> },
): Promise<Outcome> {
  const client = new Client({ name: 'scripted', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const transport = new StreamableHTTPClientTransport(new URL(mode === 'list' ? '/mcp/all' : '/mcp', origin))
  await client.connect(transport)
  const tools = (await client.listTools()).tools as ListedTool[]
  const seen = tools.map(({ name, title, description, inputSchema }: ListedTool & { title?: string }) => ({
    ...{ name, title, description },
    inputSchema,
  }))
  const listBytes = size(seen)
  const memory: Memory = {}
  let credential = token
  const outcome: Outcome = { isSolved: false, bytes: listBytes + size(goal), listBytes, calls: 0, last: '' }

  /** Calls a tool, and keeps what it answers. */
  async function call(name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
    const known = tools.find((tool) => tool.name === name)
    const takesToken = known?.inputSchema.properties?.access_token !== undefined
    const presented = takesToken && credential !== undefined && { access_token: credential }
    const params = { name, arguments: { ...input, ...presented } }
    const result = await client.callTool(params, { timeout: 90_000 })
    const text = result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    const data = (result.structuredContent ?? (result.isError ? JSON.parse(text) : {})) as Record<
      string,
      unknown
    >
    outcome.bytes += size(params) + (result.structuredContent ? size(data) : Buffer.byteLength(text))
    outcome.calls++
    outcome.last = result.structuredContent ? JSON.stringify(data) : text
    if (!result.isError) keep(memory, data)
    if (data.token_type === 'Bearer') credential ??= String(data.token)
    return result.isError ? { refused: data } : data
  }

  /** Fills in what a tool needs: what the user said, else what answers have said. */
  function fill(schema: ListedTool['inputSchema'], said: Step['said'] = {}): Record<string, unknown> {
    const filled: Record<string, unknown> = { ...said }
    for (const [field, { description }] of Object.entries(schema.properties ?? {})) {
      const isNeeded = schema.required?.includes(field) || field.endsWith('_id')
      const value = memory[placeOf(field, description)] ?? memory[field]
      if (!(field in filled) && isNeeded && value !== undefined) filled[field] = value
    }
    return filled
  }

  async function takeStep({ want, said }: Step): Promise<void> {
    const listed = chooseTool(tools, want)
    const found = listed
      ? undefined
      : await call('find_operations', { query: want, format: 'schema', limit: 1 })
    const [first] = (found?.operations ?? []) as { name: string; input_schema: ListedTool['inputSchema'] }[]
    const schema = listed?.inputSchema ?? first!.input_schema
    const name = listed?.name ?? first!.name
    let input = fill(schema, said)
    for (let round = 0; round < ROUNDS; round++) {
      const answer = await call(
        ...(listed ? ([name, input] as const) : (['call_operation', { name, arguments: input }] as const)),
      )
      const refused = answer.refused as { fix?: string } | undefined
      const asked = /^Send "(\w+)" with true/.exec(refused?.fix ?? '')?.[1]
      if (asked) input = { ...input, [asked]: true }
      else if (refused || !isToBeRepeated(name, answer)) return
    }
  }

  async function runProgram(wanted: Step[]): Promise<void> {
    const methods = new Map<string, DeclaredMethod>()
    for (const { want } of wanted) {
      if (methods.has(want)) continue
      const { declaration } = await call('find_operations', { query: want, format: 'typescript', limit: 1 })
      methods.set(want, declaredMethods(String(declaration))[0]!)
    }
    const lines = wanted.map(({ want, said = {} }) => lineOf(methods.get(want)!, said))
    const code = `const seen: any = {}\n${keep.toString()}\nlet last: any\n${lines.join('\n')}\nconsole.log(JSON.stringify(last))`
    await call('run_program', { code, budget: BUDGET })
  }

  const direct = mode === 'code' ? steps.filter(({ before }) => before) : steps
  for (const step of direct) {
    await takeStep(step)
    if (memory.checkout_url !== undefined) {
      delete memory.checkout_url
      await pay(credential!)
    }
  }
  const rest = steps.filter((step) => !direct.includes(step))
  if (rest.length > 0) await runProgram(rest)
  await client.close()
  return {
    ...outcome,
    isSolved: shows.test(outcome.last.replaceAll('\\"', '"')) && !outcome.last.includes('"code":'),
  }
}

/** A line of a program: the call, and what is kept of its answer. */
function lineOf({ name, inputs }: DeclaredMethod, said: Record<string, unknown>): string {
  const given = Object.entries(said).map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
  const needed = inputs
    .filter((input) => !(input.name in said) && (input.isNeeded || input.name.endsWith('_id')))
    .map(({ name: field, description }) => `${field}: seen.${placeOf(field, description)} ?? seen.${field}`)
  return `keep(seen, (last = await coinrack.${name}({ ${[...given, ...needed].join(', ')} })))`
}

/** The next step of an answer may be to wait on, by the same call. */
function isToBeRepeated(name: string, { next_steps }: Record<string, unknown>): boolean {
  const [first] = (next_steps ?? []) as { tool: string; arguments?: Record<string, unknown> }[]
  return first?.tool === name && first.arguments?.wait !== undefined
}

const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
