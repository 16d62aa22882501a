import { accountErrors, commonErrors, resourceErrors } from '@coinrack/contract/common-errors.ts'
import { type ErrorCode, errors } from '@coinrack/contract/errors.ts'
import { basePath, type OperationName, operationList } from '@coinrack/contract/index.ts'
import { type Operation, pathInputs, resourceInput, toolName } from '@coinrack/contract/operation.ts'
import { type Subject, subjects } from '@coinrack/contract/subjects.ts'
import { ErrorBody } from '@coinrack/contract/wire.ts'
import { headersOf, refer, responseHeaders } from './openapi-headers.ts'
import { describeWebhooks } from './openapi-webhooks.ts'
import { namedSchemas, wireSchema } from './wire-schema.ts'

/** The version of the interface, not of the software: it changes when a client would notice. */
const INTERFACE_VERSION = '1.0.0'

type Json = Record<string, unknown>

/**
 * The contract as an OpenAPI 3.1 document.
 * @param origin of the service; without it addresses are below wherever it is
 */
export function openapi(origin = ''): Json {
  const paths: Record<string, Json> = {}
  for (const [name, op] of operationList) {
    for (const [index, path] of [op.path, ...(op.aliases ?? [])].entries()) {
      paths[path] ??= {}
      paths[path][op.method.toLowerCase()] = {
        ...describe(index === 0 ? name : `${name}Alias`, name, op),
        ...(op.atOrigin ? { servers: [{ url: origin || '/' }] } : {}),
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Coinrack',
      version: INTERFACE_VERSION,
      summary: 'Virtual servers, prepaid in stablecoins, for developers and agents',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: origin + basePath,
        ...(origin ? {} : { description: 'Below the address of the service' }),
      },
    ],
    tags: Object.entries(subjects).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: describeWebhooks(),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      headers: responseHeaders,
      schemas: { Error: wireSchema(ErrorBody), ...namedSchemas() },
    },
  }
}

function describe(operationId: string, name: OperationName, op: Operation & { subject: Subject }): Json {
  const { properties, required } = wireSchema(op.input) as {
    properties: Record<string, Json>
    required?: string[]
  }
  const idName = op.resource && resourceInput(op.resource)
  const inPath = pathInputs(op)
  const names = Object.keys(properties).filter((field) => field !== idName && !inPath.includes(field))
  const isRead = op.method === 'GET'
  const inQuery = isRead ? names : names.filter((field) => op.query?.includes(field))
  const inBody = names.filter((field) => !inQuery.includes(field))
  const parameters = [
    ...(idName ? [{ name: 'id', in: 'path', required: true, schema: properties[idName] }] : []),
    ...inPath.map((name) => ({ name, in: 'path', required: true, schema: properties[name] })),
    ...inQuery.map((field) => queryParameter(field, properties[field]!, required)),
    ...(!isRead && (op.access !== 'public' || op.x402) ? [idempotencyParameter] : []),
  ]
  return {
    operationId,
    summary: op.summary,
    description: `${op.description}\n\nAs a tool: \`${toolName(name)}\`.`,
    tags: [op.subject],
    security: op.access === 'public' ? [] : [{ token: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(inBody.length > 0 ? { requestBody: body(op, properties, inBody, required) } : {}),
    responses: { 200: success(op), ...(op.method === 'GET' ? unchanged : {}), ...failures(op) },
  }
}

const idempotencyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Repeat a request with the same key, and it has the effect of one',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const queryParameter = (name: string, schema: Json, required: string[] = []): Json => ({
  name,
  in: 'query',
  required: required.includes(name) && schema.default === undefined,
  schema,
})

function body(op: Operation, properties: Json, names: string[], required: string[] = []): Json {
  const needed = required.filter((field) => names.includes(field))
  const example = Object.fromEntries(
    names.filter((field) => field in op.example).map((field) => [field, op.example[field]]),
  )
  const schema = {
    type: 'object',
    properties: Object.fromEntries(names.map((field) => [field, properties[field]])),
    ...(needed.length > 0 ? { required: needed } : {}),
    additionalProperties: false,
  }
  return { required: needed.length > 0, content: { 'application/json': { schema, example } } }
}

function success(op: Operation): Json {
  const item = wireSchema(op.output)
  return {
    description: op.list ? 'A page; the next one is in the Link header' : 'Success',
    headers: headersOf(op),
    content: { 'application/json': { schema: op.list ? { type: 'array', items: item } : item } },
  }
}

/** The answer to a read that is repeated with the ETag of the last one. */
const unchanged = {
  304: { description: 'Nothing has changed since the answer with this ETag', headers: refer('ETag') },
}

/** One response for each status: codes that share one are named together. */
function failures(op: Operation): Json {
  const codes: ErrorCode[] = [
    ...commonErrors,
    ...(op.access === 'public' ? [] : accountErrors),
    // A token that is not good is never passed over.
    ...(op.x402 === 'always' ? (['unauthorized'] as const) : []),
    ...(op.resource ? resourceErrors : []),
    ...op.errors,
  ]
  const byStatus = Map.groupBy(new Set(codes), (code) => errors[code].status)
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, group]) => [
        status,
        {
          ...(status === 429 || status === 503 ? { headers: refer('Retry-After') } : {}),
          description: group.map((code) => `\`${code}\`: ${errors[code].fix}`).join('\n'),
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      ]),
  )
}
