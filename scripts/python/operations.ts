import { basePath, operationList, pathAtOrigin } from '@coinrack/contract/index.ts'
import { type Operation, pathInputs, resourceInput, toolName } from '@coinrack/contract/operation.ts'
import { wireSchema } from '@coinrack/server/transport/wire-schema.ts'
import { line, type PythonTypes, pascal, pythonName, resultName, type Schema } from './types.ts'

/*
 * The operations of the contract as Python: a table of what stands where on the wire, and a class with a method for each.
 */

/** The table, from which any call is made. */
export function pythonTable({ typeOf }: PythonTypes): string {
  const rows = operationList.map(([name, op]) => {
    const answer = typeOf(wireSchema(op.output), resultName(name, op), 'answer')
    const path = pathAtOrigin(op).replace('{id}', op.resource ? `{${resourceInput(op.resource)}}` : '{id}')
    const words = [
      JSON.stringify(toolName(name)),
      JSON.stringify(op.method),
      JSON.stringify(path),
      qualified(answer),
      ...(op.access === 'public' ? ['is_public=True'] : []),
      ...(op.idempotent || op.method === 'GET' ? ['is_repeatable=True'] : []),
      ...(pathsOf(op).length > 0
        ? [
            `in_path=(${pathsOf(op)
              .map((field) => `${JSON.stringify(field)},`)
              .join(' ')})`,
          ]
        : []),
      ...(op.method !== 'GET' && op.query
        ? [`in_query=(${op.query.map((field) => `${JSON.stringify(field)},`).join(' ')})`]
        : []),
    ]
    return `${constant(name)}: Operation[${qualified(answer)}] = Operation(\n    ${words.join(', ')}\n)`
  })
  return `"""What can be asked of the service, as it stands on the wire. Made by \`npm run generate\` from the contract."""

from __future__ import annotations

from typing import Any

from .._operation import Operation
from . import types

BASE_PATH = ${JSON.stringify(basePath)}

${rows.join('\n\n')}
`
}

/** The class with a method for each operation, for code that awaits. */
export function pythonMethods({ typeOf }: PythonTypes): string {
  const methods = operationList.map(([name, op]) => {
    const answer = qualified(typeOf(wireSchema(op.output), resultName(name, op), 'answer'))
    const inputs = inputsOf(op, name, typeOf)
    const hasKey = op.method !== 'GET' && op.access !== 'public'
    const args = [
      ...inputs.filter(({ isRequired }) => isRequired).map(({ name, type }) => `${name}: ${type}`),
      ...inputs
        .filter(({ isRequired }) => !isRequired)
        .map(({ name, type, isNullable }) =>
          isNullable ? `${name}: ${type} | NotGiven = NOT_GIVEN` : `${name}: ${type} | None = None`,
        ),
      ...(hasKey ? ['idempotency_key: str | None = None'] : []),
    ]
    const signature = args.length > 0 ? `self, *, ${args.join(', ')}` : 'self'
    const sent = inputs.map(
      ({ field, name, isNullable, isRequired }) =>
        `${JSON.stringify(field)}: ${isNullable || isRequired ? name : `given(${name})`}`,
    )
    const call = `operations.${constant(name)}, {${sent.join(', ')}}${hasKey ? ', idempotency_key' : ''}`
    const docstring = docstringOf(op, inputs)
    return op.list
      ? `    def ${toolName(name)}(${signature}) -> AsyncListing[${answer}]:\n${docstring}\n        return self._list(${call})`
      : `    async def ${toolName(name)}(${signature}) -> ${answer}:\n${docstring}\n        return await self._call(${call})`
  })
  return `"""A method for each operation. Made by \`npm run generate\` from the contract."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from .._operation import NOT_GIVEN, NotGiven, given
from .._async.caller import AsyncCaller
from .._async.listing import AsyncListing
from . import operations, types


class AsyncOperations(AsyncCaller):
    """Every operation as a method. All raise \`CoinrackError\` for a refusal and \`ConnectionError\` when no answer came."""

${methods.join('\n\n')}
`
}

const constant = (name: string) => toolName(name).toUpperCase()
const pathsOf = (op: Operation) => [
  ...(op.resource && op.path.includes('{id}') ? [resourceInput(op.resource)] : []),
  ...pathInputs(op),
]

const BUILT_IN = new Set([
  'str',
  'int',
  'float',
  'bool',
  'None',
  'Any',
  'dict',
  'list',
  'tuple',
  'Literal',
  'datetime',
])
/** A type as another module names it. */
const qualified = (type: string) =>
  type.replace(/"[^"]*"|\b[A-Za-z_]\w*\b/g, (word) =>
    word.startsWith('"') || BUILT_IN.has(word)
      ? word
      : word === 'True' || word === 'False'
        ? word
        : `types.${word}`,
  )

interface Argument {
  field: string
  name: string
  type: string
  isRequired: boolean
  isNullable: boolean
  description: string | undefined
}

function inputsOf(op: Operation, name: string, typeOf: PythonTypes['typeOf']): Argument[] {
  const { properties = {}, required = [] } = wireSchema(op.input) as Schema
  return (Object.entries(properties) as [string, Schema][]).map(([field, schema]) => {
    const type = qualified(typeOf(schema, pascal(name) + pascal(field), 'input'))
    const isRequired =
      pathsOf(op).includes(field) || (required.includes(field) && schema.default === undefined)
    return {
      field,
      name: pythonName(field),
      type,
      isRequired,
      isNullable: /(^|\| )None$/.test(type),
      description: schema.description,
    }
  })
}

function docstringOf(op: Operation, inputs: Argument[]): string {
  const described = inputs.flatMap(({ name, description }) =>
    description ? [`        :param ${name}: ${line(description)}`] : [],
  )
  const text = line(op.description)
  return described.length === 0
    ? `        """${text}"""`
    : `        """${text}\n\n${described.join('\n')}\n        """`
}
