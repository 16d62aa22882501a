import { type OperationName, operationList } from '@coinrack/contract/index.ts'
import { toolName } from '@coinrack/contract/operation.ts'

/** One call of an operation, as a program sends it: a line of JSON. */
export interface ProgramCall {
  /** By which the program knows its answer. */
  id: number
  /** The operation that it asked for, unchecked. */
  name: string
  input: Record<string, unknown>
  /** Its idempotency key, unread. */
  key: unknown
}

/** The longest name that is repeated in a refusal. */
const NAME_LENGTH = 100

/**
 * Reads a line that a program sent, of which nothing is believed.
 * @returns undefined for what the client of a program never sends
 */
export function readCall(line: string): ProgramCall | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  const { id, name, input, key, ...more } = value
  if (!Number.isSafeInteger(id) || typeof name !== 'string' || Object.keys(more).length > 0) return undefined
  if (!isObject(input)) return undefined
  return { id: id as number, name: name.slice(0, NAME_LENGTH), input, key }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * What a program can call, by the name of the method and by that of the tool: what lies below the base path, each by its own
 * name. Whether it is open to programs is said of each operation, and checked where it is called.
 */
const callable = new Map<string, OperationName>(
  operationList
    .filter(([name, op]) => !op.atOrigin && name !== 'callOperation')
    .flatMap(([name, op]) =>
      [name, toolName(name), ...(op.tools ?? [])].map((text): [string, OperationName] => [text, name]),
    ),
)

export const operationOf = (name: string): OperationName | undefined => callable.get(name)
