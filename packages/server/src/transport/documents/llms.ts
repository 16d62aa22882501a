import { accountErrors, commonErrors, resourceErrors } from '@coinrack/contract/common-errors.ts'
import { errors } from '@coinrack/contract/errors.ts'
import { basePath, type OperationName, pathAtOrigin } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import { mcpAddresses } from '../mcp/addresses.ts'
import { wireSchema } from '../wire-schema.ts'
import { about } from './about.ts'
import { serverCardPath } from './ai-catalog.ts'
import { bySubject } from './by-subject.ts'

const head = (origin: string) => `# ${about.title}

> ${about.description}. No identity check, no human step.

- Agent endpoint (MCP, Streamable HTTP): ${origin}${mcpAddresses[0]!.path}
- REST: ${origin}${basePath}

Begin with the tool get_started, or register_account. A token is needed for all but the public operations:
"Authorization: Bearer <token>", or the tool input access_token. Every error says in "fix" what to do.
`

/** The facts that an agent needs in order to begin, and where the rest is (https://llmstxt.org). */
export const llmsText = (origin: string): string => `${head(origin)}
## Documents

${[
  ['Everything in one text', '/llms-full.txt', 'inputs, answers and errors of every operation'],
  ['Skill', '/skill.md', 'how to use the service, for agents that load skills'],
  ['OpenAPI 3.1', '/openapi.json', 'the REST interface'],
  ['Documentation', '/docs', 'the same for people'],
  ['Server card', serverCardPath, 'how MCP clients connect'],
  [
    'Payments by signature',
    '/.well-known/x402',
    'what can be paid without an account, and with which tokens',
  ],
]
  .map(([title, path, note]) => `- [${title}](${origin}${path}): ${note}`)
  .join('\n')}

${bySubject
  .map(
    ({ subject, about: what, all }) => `## ${subject}

${what}.

${all
  .map(
    ([name, op]) =>
      `- [${toolName(name)}](${origin}/docs#${name}): ${op.summary} (${op.method} ${pathAtOrigin(op)})`,
  )
  .join('\n')}
`,
  )
  .join('\n')}`

/** Every operation with its inputs, answer and errors, as one text for a model that reads it whole. */
export const llmsFullText = (origin: string): string => `${head(origin)}
## Agent addresses

Every tool can be called at each of them; they differ in what they list.

${mcpAddresses.map(({ path }) => `- ${origin}${path}`).join('\n')}

${bySubject
  .map(
    ({ subject, about: what, all }) => `## ${subject}

${what}.

${all.map(([name, op]) => entry(name, op)).join('\n')}`,
  )
  .join('\n')}
## Errors

An error is {message, code, fix, next_steps, request_id}. Any operation may answer ${list(commonErrors)}; with a token also
${list(accountErrors)}; about one thing also ${list(resourceErrors)}.

${Object.entries(errors)
  .map(([code, { status, fix }]) => `- ${code} (${status}): ${fix}`)
  .join('\n')}
`

const list = (names: readonly string[]) => names.join(', ')

function entry(name: OperationName, op: Operation): string {
  const access = op.access === 'public' ? 'public' : `scope ${op.access}`
  return `### ${[toolName(name), ...(op.tools ?? [])].join(', ')}

${op.method} ${pathAtOrigin(op)} (${access}; ${op.effect}${op.idempotent ? ', idempotent' : ''})

${op.description}

${fields('Inputs', wireSchema(op.input))}${fields(op.list ? 'Answers a list of' : 'Answers', wireSchema(op.output))}Example: ${JSON.stringify(op.example)}
${op.errors.length > 0 ? `Errors: ${list(op.errors)}\n` : ''}`
}

interface Schema {
  type?: string | string[]
  $ref?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
}

/** The fields of an object, a line for each; for a shape with a name of its own, that. */
function fields(title: string, schema: Schema): string {
  if (schema.$ref) return `${title}: ${typeOf(schema)}\n`
  const lines = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const isNeeded = schema.required?.includes(name) && field.default === undefined
    const about = [typeOf(field), isNeeded ? 'required' : 'optional']
    if (field.default !== undefined) about.push(`default ${JSON.stringify(field.default)}`)
    return `- ${name} (${about.join(', ')})${field.description ? `: ${field.description}` : ''}`
  })
  return lines.length > 0 ? `${title}:\n${lines.join('\n')}\n` : ''
}

function typeOf({ type, $ref, enum: values, const: value, anyOf, items }: Schema): string {
  if ($ref) return $ref.split('/').at(-1)!
  if (value !== undefined) return JSON.stringify(value)
  if (values) return values.map((each) => JSON.stringify(each)).join(' or ')
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (type === 'array') return `list of ${items ? typeOf(items) : 'any'}`
  return [type ?? 'any'].flat().join(' or ')
}
