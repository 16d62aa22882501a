import { formatUsd } from '@coinrack/sdk/index.ts'

/** Rows in columns as wide as what is in them; the last one is as long as it is. */
export function table(
  head: string[],
  rows: (string | number | bigint | Date | null | undefined)[][],
): string[] {
  const texts = [head, ...rows.map((row) => row.map(cell))]
  const widths = head.map((_, column) => Math.max(...texts.map((row) => (row[column] ?? '').length)))
  return texts.map((row) =>
    row
      .map((text, column) => (column === row.length - 1 ? text : text.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
}

/** Names and values, one below the other. */
export const facts = (pairs: [string, string | number | bigint | Date | null | undefined][]): string[] => {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`.trimEnd())
}

function cell(value: string | number | bigint | Date | null | undefined): string {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'bigint') return formatUsd(value)
  if (value instanceof Date) return value.toISOString().replace(/\.\d+Z$/, 'Z')
  return String(value)
}
