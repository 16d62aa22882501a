import { type OperationName, operations } from '@coinrack/contract/index.ts'
import type { Operation } from '@coinrack/contract/operation.ts'
import { namedSchemas, wireSchema } from '../../transport/wire-schema.ts'
import { docComment, type JsonSchema, nameOf, schemaType } from './schema-type.ts'

/** TypeScript that declares some operations, and the shapes that they share. */
export interface DeclarationPart {
  declaration: string
  /** How many of the operations are in it, from the first on. */
  count: number
}

const HEAD = `/**
 * The service: a method for each operation. Amounts are decimal strings of USD, and times are RFC 3339.
 * A call that is refused throws an Error with code, fix and next_steps beside its message.
 */
declare const coinrack: Coinrack.Client
declare namespace Coinrack {
  interface Page<T> { items: T[]; next_cursor?: string }
  /** A write that is repeated with the same key has the effect of one. */
  interface Options { idempotencyKey?: string }
}
`

const shapes = namedSchemas() as Record<string, JsonSchema>

/**
 * Declares the global `coinrack` with a method for each of these operations. The parts of one list, one after another, are
 * one file: interfaces of a namespace are merged.
 * @param before the operations of the list that earlier parts have declared
 * @param most characters that the JSON text of a part may have; one operation is always in it
 */
export function declareOperations(
  names: OperationName[],
  before: OperationName[],
  most: number,
): DeclarationPart {
  const declared = new Set(before.flatMap((name) => shapesOf(name)))
  const methods: string[] = []
  const types: string[] = []
  const head = before.length === 0 ? HEAD : ''
  let length = lengthOf(head) + 100
  for (const name of names) {
    const method = methodOf(name)
    const added = shapesOf(name).filter((shape) => !declared.has(shape))
    const texts = added.map((shape) => `  interface ${shape} ${schemaType(shapes[shape]!)}\n`)
    length += lengthOf(method) + texts.reduce((sum, text) => sum + lengthOf(text), 0)
    if (methods.length > 0 && length > most) break
    methods.push(method)
    types.push(...texts)
    for (const shape of added) declared.add(shape)
  }
  const inside = `${types.join('')}  interface Client {\n${methods.join('')}  }\n`
  return { declaration: `${head}declare namespace Coinrack {\n${inside}}\n`, count: methods.length }
}

const lengthOf = (text: string) => JSON.stringify(text).length

function methodOf(name: OperationName): string {
  const op: Operation = operations[name]
  const input = wireSchema(op.input) as JsonSchema
  const answer = schemaType(wireSchema(op.output) as JsonSchema)
  const isNeeded = (input.required ?? []).length > 0
  const given = Object.keys(input.properties ?? {}).length > 0
  const type = given ? schemaType(input) : 'Record<string, never>'
  const parameters = [
    `input${isNeeded ? '' : '?'}: ${type}`,
    ...(op.method === 'GET' ? [] : ['options?: Options']),
  ]
  return `    ${docComment(op.description)}\n    ${name}(${parameters.join(', ')}): Promise<${op.list ? `Page<${answer}>` : answer}>\n`
}

/** The named shapes in the input and the answer of an operation, and those in them. */
function shapesOf(name: OperationName): string[] {
  const { input, output } = operations[name]
  const found = new Set<string>()
  const look = (schema: unknown) => {
    for (const ref of JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)) {
      const shape = nameOf(ref[1]!)
      if (found.has(shape)) continue
      found.add(shape)
      look(shapes[shape])
    }
  }
  look([wireSchema(input), wireSchema(output)])
  return [...found]
}
