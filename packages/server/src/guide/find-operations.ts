import type { FoundOperation } from '@coinrack/contract/guide.ts'
import { type OperationName, operationList, operations } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import type { Subject } from '@coinrack/contract/subjects.ts'
import type { Handler } from '../dispatch/handler.ts'
import { searchOperations } from '../dispatch/operation-index.ts'
import { wireSchema } from '../transport/wire-schema.ts'
import { declareOperations } from './declaration/declare-operations.ts'

/** How many are shown when nothing is said. */
const SHOWN = { list: 20, schema: 5, typescript: 200 }
/** However many are asked for, an answer has at most so many characters of JSON. */
const MOST_CHARACTERS = 24_000

export const findOperations: Handler<'findOperations'> = async ({ input, fail }) => {
  const { format } = input
  const found = wanted(input.query, input.subject)
  const from = input.cursor === undefined ? 0 : found.findIndex((name) => toolName(name) === input.cursor)
  if (from < 0) {
    const message = 'Expected the next_cursor of an answer to the same query, subject and format'
    fail('invalid_input', `cursor: ${message}`, { fields: { details: [{ path: 'cursor', message }] } })
  }
  const rest = found.slice(from, from + (input.limit ?? SHOWN[format]))
  const { count, ...part } =
    format === 'typescript'
      ? { operations: [], ...declareOperations(rest, found.slice(0, from), MOST_CHARACTERS) }
      : described(rest, format === 'schema')
  const next = found[from + count]
  return { ...part, total: found.length, ...(next === undefined ? {} : { next_cursor: toolName(next) }) }
}

function wanted(query: string | undefined, subject: Subject | undefined): OperationName[] {
  const found = query?.trim() ? searchOperations(query) : operationList.map(([name]) => name)
  return found.filter(
    (name) => name !== 'callOperation' && (subject === undefined || operations[name].subject === subject),
  )
}

/** As many as fit into an answer, and always one. */
function described(found: OperationName[], withSchema: boolean) {
  const shown: FoundOperation[] = []
  let characters = 0
  for (const name of found) {
    const each = describeOperation(name, withSchema)
    characters += JSON.stringify(each).length
    if (shown.length > 0 && characters > MOST_CHARACTERS) break
    shown.push(each)
  }
  return { operations: shown, count: shown.length }
}

function describeOperation(name: OperationName, withSchema: boolean): FoundOperation {
  const op: Operation = operations[name]
  return {
    name: toolName(name),
    title: op.summary,
    description: withSchema ? op.description : op.description.split(/(?<=\.) /)[0]!,
    rest: `${op.method} ${op.path}`,
    effect: op.effect,
    ...(withSchema ? { input_schema: wireSchema(op.input) } : {}),
  }
}
