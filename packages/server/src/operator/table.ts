/** Rows in columns, under their names; what is null stays empty. */
export function table<K extends string>(columns: readonly K[], rows: Record<K, unknown>[]): string {
  if (rows.length === 0) return 'None.'
  const cells = [columns.map((name) => name.replaceAll('_', ' ').toUpperCase()), ...rows.map(cellsOf)]
  const widths = columns.map((_name, index) => Math.max(...cells.map((row) => row[index]!.length)))
  return cells
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')

  function cellsOf(row: Record<K, unknown>): string[] {
    return columns.map((name) => oneLine(row[name]))
  }
}

/** Text that customers wrote must not break the table, nor steer the terminal. */
const oneLine = (value: unknown) =>
  value === null || value === undefined ? '' : String(value).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
