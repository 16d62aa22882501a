import type { NextStep } from '@coinrack/contract/wire.ts'

type Body = Record<string, unknown>

/** Fields that stand as they are, below the others: what a program wrote, and what is in a file. */
const OUTPUTS = ['stdout', 'stderr', 'content', 'content_base64'] as const
/** Fields with a rendering of their own. */
const APART: readonly string[] = [...OUTPUTS, 'next_steps', 'results', 'cut', 'error']

/**
 * An answer as a short text for people and models: each fact in a line, then outputs as they are, then the steps that lead
 * on. Nothing is left out but what is empty.
 */
export function textOf(body: Body): string {
  const facts = Object.entries(body).filter(([name]) => !APART.includes(name))
  const isOutput = OUTPUTS.some((name) => name in body)
  return [
    ...facts.flatMap(([name, value]) => (isOutput && isQuiet(value) ? [] : linesOf(name, value, ''))),
    ...outputsOf(body),
    ...resultsOf(body),
    ...errorOf(body),
    ...cutsOf(body),
    ...stepsOf(body),
  ].join('\n')
}

/** A program that ran as programs do. */
const isQuiet = (value: unknown) => value === false

const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null
const isScalar = (value: unknown) => !isObject(value)

function linesOf(name: string, value: unknown, indent: string): string[] {
  if (isEmpty(value)) return []
  if (Array.isArray(value)) return listOf(name, value, indent)
  if (isObject(value)) {
    const inside = Object.entries(value).filter(([, part]) => !isEmpty(part))
    return inside.every(([, part]) => isScalar(part))
      ? [`${indent}${name}: ${inside.map(([key, part]) => `${key} ${inline(part)}`).join(', ')}`]
      : [`${indent}${name}:`, ...inside.flatMap(([key, part]) => linesOf(key, part, `${indent}  `))]
  }
  const text = String(value)
  return text.includes('\n')
    ? [
        `${indent}${name}:`,
        ...text
          .trimEnd()
          .split('\n')
          .map((line) => `${indent}  ${line}`),
      ]
    : [`${indent}${name}: ${text}`]
}

/** One line for each item; things of one kind as a table, whose columns are named once. */
function listOf(name: string, items: unknown[], indent: string): string[] {
  if (items.every(isScalar)) return [`${indent}${name}: ${items.map(inline).join(', ')}`]
  const objects = items as Body[]
  const columns = [...new Set(objects.flatMap((item) => Object.keys(item)))].filter((column) =>
    objects.some((item) => !isEmpty(item[column])),
  )
  const common = objects.length > 1 ? columns.filter((column) => isSame(objects, column)) : []
  const own = columns.filter((column) => !common.includes(column))
  if (own.length === 0) return [`${indent}${name}: ${items.length} times ${inline(items[0])}`]
  return [
    `${indent}${name} (${own.join(' | ')}):`,
    ...objects.map((item) => `${indent}- ${own.map((column) => inline(item[column])).join(' | ')}`),
    ...(common.length > 0 ? [`${indent}  each of them:`] : []),
    ...common.flatMap((column) => linesOf(column, objects[0]![column], `${indent}    `)),
  ]
}

const isSame = (items: Body[], column: string) => {
  const first = JSON.stringify(items[0]![column])
  return items.every((item) => JSON.stringify(item[column]) === first)
}

/** A value within a line. */
function inline(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(inline).join('; ')
  if (!isObject(value))
    return typeof value === 'string' && value.includes('\n') ? JSON.stringify(value) : String(value)
  const inside = Object.entries(value).filter(([, part]) => !isEmpty(part))
  return inside.map(([key, part]) => `${key} ${inline(part)}`).join(', ') || '-'
}

function outputsOf(body: Body): string[] {
  return OUTPUTS.flatMap((name) => {
    const value = body[name]
    return typeof value !== 'string' || value === '' ? [] : [`${name}:`, value.replace(/\n$/, '')]
  })
}

/** The plainest form of what code showed; pictures are blocks beside the text. */
function resultsOf({ results }: Body): string[] {
  return ((results ?? []) as { data: Record<string, string>; is_main: boolean }[]).flatMap(
    ({ data, is_main }) => {
      const [type, text] = Object.entries(data).sort(
        ([a], [b]) => Number(b === 'text/plain') - Number(a === 'text/plain'),
      )[0] ?? ['', '']
      const others = Object.keys(data).filter((other) => other !== type)
      const also = others.length > 0 ? ` (also as ${others.join(', ')})` : ''
      return text === '' ? [] : [`${is_main ? 'result' : 'shown'}${also}:`, text]
    },
  )
}

function errorOf({ error }: Body): string[] {
  if (isEmpty(error)) return []
  if (!isObject(error) || !('traceback' in error)) return linesOf('error', error, '')
  return [`error: ${error.name}: ${error.value}`, String(error.traceback)]
}

function cutsOf({ cut }: Body): string[] {
  return ((cut ?? []) as { part: string; bytes: number; shown: number; path: string | null }[]).map(
    ({ part, bytes, shown, path }) =>
      `[${part}: ${shown} of ${bytes} bytes are shown${path === null ? '' : `; all of it is in ${path}`}]`,
  )
}

function stepsOf({ next_steps }: Body): string[] {
  const steps = (next_steps ?? []) as NextStep[]
  if (steps.length === 0) return []
  return [
    'Next:',
    ...steps.map(({ tool, why, arguments: given }) =>
      given === undefined ? `- ${tool}: ${why}` : `- ${tool} ${JSON.stringify(given)}: ${why}`,
    ),
  ]
}
