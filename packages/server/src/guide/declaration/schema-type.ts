/** A JSON Schema (2020-12) as `wireSchema` writes it: the words that become types. */
export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  items?: JsonSchema
  prefixItems?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: JsonSchema | boolean
  description?: string
}

/** A doc comment of one line, with a space after it; empty without a text. */
export const docComment = (text: string | undefined) =>
  text === undefined ? '' : `/** ${text.replaceAll('*/', '*\\/')} */ `

/** What a schema takes, as a TypeScript type on one line. References are types of their last name. */
export function schemaType(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  const several = schema.anyOf ?? schema.oneOf
  if (several) return union(several.map(schemaType))
  if (schema.allOf) return schema.allOf.map((part) => grouped(schemaType(part))).join(' & ')
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => ofOneType({ ...schema, type })))
  return ofOneType(schema)
}

/** The name of what a reference leads to. */
export const nameOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)

function ofOneType(schema: JsonSchema): string {
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      if (schema.prefixItems) return `[${schema.prefixItems.map(schemaType).join(', ')}]`
      return `${grouped(schemaType(schema.items ?? {}))}[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType({ properties = {}, required = [], additionalProperties: others }: JsonSchema): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const optional = required.includes(name) ? '' : '?'
    return `${docComment(schema.description)}${propertyName(name)}${optional}: ${schemaType(schema)}`
  })
  const rest = typeof others === 'object' ? schemaType(others) : 'unknown'
  if (fields.length === 0) return others === false ? 'Record<string, never>' : `Record<string, ${rest}>`
  // An index signature has to hold for the named fields too.
  if (typeof others === 'object') fields.push('[field: string]: unknown')
  return `{ ${fields.join('; ')} }`
}

const propertyName = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name))
const union = (types: string[]) => [...new Set(types)].join(' | ')
const grouped = (type: string) => (/ [|&] /.test(type) && !/^\{.*\}$/.test(type) ? `(${type})` : type)
