import { errors } from '@coinrack/contract/errors.ts'
import { operationList } from '@coinrack/contract/index.ts'
import { pathInputs, resourceInput } from '@coinrack/contract/operation.ts'
import type { JsonSchema } from '@coinrack/server/guide/declaration/schema-type.ts'
import { namedSchemas, wireSchema } from '@coinrack/server/transport/wire-schema.ts'

/*
 * The shapes of the contract as Python: what is answered is a dataclass, what is sent inside an input is a TypedDict, and money and times
 * have types of their own.
 */

export type Schema = JsonSchema & { format?: string; default?: unknown }

/** Whether a shape comes back or is sent. */
type Way = 'answer' | 'input'

/** Python's own words, which no name can be. */
const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
)

/** A field or an argument as Python names it: `from` is `from_`. */
export const pythonName = (name: string) => (KEYWORDS.has(name) ? `${name}_` : name)

export const pascal = (name: string) =>
  name.replace(/(^|_)([a-z])/g, (_, _line, letter: string) => letter.toUpperCase())

/** Text of a docstring or comment on one line. */
export const line = (text: string) =>
  text.trim().replace(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '\\"')

/** Names for shapes that would otherwise be named by where they are met first. */
const NAMES: Record<string, string> = {
  ExecCommandTerminal: 'TerminalSize',
  InvoicePaymentOptionNetwork: 'PaymentNetwork',
  InvoicePaymentOptionToken: 'PaymentToken',
  KillTaskResultSignal: 'TaskSignal',
  ListDelegatedToMeResult: 'DelegatedVps',
  PaidSandboxMode: 'SandboxMode',
  PaidSandboxNetwork: 'NetworkRules',
  PaidSandboxReason: 'SandboxReason',
  PaidSandboxState: 'SandboxState',
  PaidSandboxTariff: 'SandboxTariff',
  PowerVpsAction: 'PowerAction',
  PowerVpsResult: 'ChangeResult',
  CreateSandboxNetwork: 'SandboxNetwork',
  RunCodeLanguage: 'CodeLanguage',
  RunCodeResultError: 'CodeError',
  RunCodeResultResult: 'CodeResult',
  RunOnVpsResultCut: 'Cut',
  RunProgramResultLeftOut: 'OutputBytes',
  WatchFolderResultChange: 'FileChange',
}

/** The module of types, and how any schema is written with them. */
export interface PythonTypes {
  text: string
  /** The type of a schema; a shape that has no name yet is named `name`. */
  typeOf(schema: Schema, name: string, way: Way): string
}

interface Pool {
  /** Declarations, by the name that each declares. */
  declared: Map<string, string>
  /** The names of shapes that were seen, by what they are. */
  names: Map<string, string>
}

/** Declares every shape of the contract, in the order in which they are met. */
export function pythonTypes(): PythonTypes {
  const pool: Pool = { declared: new Map(), names: new Map() }
  const typeOf: PythonTypes['typeOf'] = (schema, name, way) => pythonType(pool, schema, name, way)
  const named = namedSchemas() as Record<string, Schema>
  for (const [name, schema] of Object.entries(named)) typeOf(schema, name, 'answer')
  for (const [name, op] of operationList) {
    typeOf(wireSchema(op.output), resultName(name, op), 'answer')
    const { properties = {} } = wireSchema(op.input) as Schema
    const inPath = [...pathInputs(op), ...(op.resource ? [resourceInput(op.resource)] : [])]
    for (const [field, schema] of Object.entries(properties))
      if (!inPath.includes(field)) typeOf(schema, pascal(name) + pascal(field), 'input')
  }
  const codes = literal(Object.keys(errors))
  const text = `${HEAD}
${[...pool.declared.values(), `ErrorCode = ${codes}\n"""The codes of refusals."""`].join('\n\n\n')}
`
  return { text, typeOf }
}

/** The name of an operation's answer where the contract gives it none. */
export const resultName = (operation: string, { list }: { list: boolean }) => {
  const item = list && /^list([A-Z]\w*)s$/.exec(operation)?.[1]
  return item || `${pascal(operation)}Result`
}

const HEAD = `"""The shapes of the service's answers and inputs. Made by \`npm run generate\` from the contract."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypedDict

Usd = Decimal | int | float | str
"""US dollars as they are sent: at most 6 decimals. Answers have \`Decimal\`."""

`

function pythonType(pool: Pool, schema: Schema, name: string, way: Way): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  if (schema.format === 'decimal') return way === 'input' ? 'Usd' : 'Decimal'
  if (schema.format === 'date-time') return 'datetime'
  if (schema.const !== undefined) return literal([schema.const])
  if (schema.enum) return named(pool, literal(schema.enum), name, (own, type) => `${own} = ${type}`)
  const several = schema.anyOf ?? schema.oneOf
  if (several) return union(several.map((part) => pythonType(pool, part as Schema, name, way)))
  // Parts of a text's shape alone, which Python leaves to the service.
  if (schema.allOf) return 'str'
  if (Array.isArray(schema.type)) {
    // A flag that may come from a query.
    const types = schema.type.includes('boolean')
      ? schema.type.filter((type) => type !== 'string')
      : schema.type
    return union(types.map((type) => pythonType(pool, { ...schema, type }, name, way)))
  }
  switch (schema.type) {
    case 'string':
      return 'str'
    case 'boolean':
      return 'bool'
    case 'null':
      return 'None'
    case 'integer':
      return 'int'
    case 'number':
      return 'float'
    case 'array':
      if (schema.prefixItems)
        return `tuple[${schema.prefixItems.map((part) => pythonType(pool, part as Schema, name, way)).join(', ')}]`
      return `list[${pythonType(pool, (schema.items ?? {}) as Schema, singular(name), way)}]`
    case 'object':
      return objectType(pool, schema, name, way)
    default:
      return 'Any'
  }
}

const singular = (name: string) => name.replace(/(?<!s)s$/, '')
const union = (types: string[]) => [...new Set(types)].join(' | ')
const literal = (values: unknown[]) =>
  `Literal[${values.map((value) => (typeof value === 'boolean' ? pascal(String(value)) : JSON.stringify(value))).join(', ')}]`

/** Gives what is the same one name: that of the first who had it. */
function named(
  pool: Pool,
  key: string,
  place: string,
  declare: (name: string, key: string) => string,
): string {
  const known = pool.names.get(key)
  if (known !== undefined) return known
  const name = NAMES[place] ?? place
  if (pool.declared.has(name)) throw new Error(`Two shapes are named ${name}`)
  pool.names.set(key, name)
  pool.declared.set(name, declare(name, key))
  return name
}

function objectType(pool: Pool, schema: Schema, name: string, way: Way): string {
  const fields = Object.entries(schema.properties ?? {}) as [string, Schema][]
  if (fields.length === 0) {
    const others = schema.additionalProperties
    const value = typeof others === 'object' ? pythonType(pool, others as Schema, singular(name), way) : 'Any'
    return `dict[str, ${value}]`
  }
  const { description: _, ...shape } = schema
  const key = `${way} ${JSON.stringify(shape)}`
  const known = pool.names.get(key)
  if (known !== undefined) return known
  // Those inside are declared before it.
  const types = fields.map(([field, inner]) => ({
    field,
    inner,
    type: pythonType(pool, inner, name + pascal(field), way),
    isRequired: schema.required?.includes(field) === true && inner.default === undefined,
  }))
  const declare = way === 'answer' ? dataclass : typedDict
  return named(pool, key, name, (own) => declare(own, types))
}

interface Field {
  field: string
  inner: Schema
  type: string
  isRequired: boolean
}

const doc = ({ inner }: Field) => (inner.description ? `\n    """${line(inner.description)}"""` : '')
const optional = (type: string) => (/(^|\| )None$/.test(type) ? type : `${type} | None`)

function dataclass(name: string, fields: Field[]): string {
  const lines = fields.map((each) => {
    const type = each.isRequired ? each.type : `${optional(each.type)} = None`
    return `    ${pythonName(each.field)}: ${type}${doc(each)}`
  })
  return `@dataclass(frozen=True, kw_only=True)\nclass ${name}:\n${lines.join('\n')}`
}

/** In two parts, as a TypedDict of Python 3.10 is required or not as a whole. */
function typedDict(name: string, fields: Field[]): string {
  const lines = (some: Field[]) =>
    some.map((each) => `    ${each.field}: ${each.type}${doc(each)}`).join('\n')
  const required = fields.filter(({ isRequired }) => isRequired)
  const rest = fields.filter(({ isRequired }) => !isRequired)
  if (rest.length === 0) return `class ${name}(TypedDict):\n${lines(required)}`
  if (required.length === 0) return `class ${name}(TypedDict, total=False):\n${lines(rest)}`
  return `class _${name}(TypedDict):\n${lines(required)}\n\n\nclass ${name}(_${name}, total=False):\n${lines(rest)}`
}
