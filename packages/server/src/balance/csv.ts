/** A value of ours as it is, or text that a customer wrote. */
export type Cell = string | { text: string }

/**
 * A table as CSV (RFC 4180): a line of names and a line for each row, ended by CRLF. Text that a spreadsheet would take
 * for a formula begins with an apostrophe.
 */
export const csvOf = (names: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [names, ...rows].map((row) => `${row.map(write).join(',')}\r\n`).join('')

function write(cell: Cell): string {
  const text = typeof cell === 'string' ? cell : cell.text.replace(/^(?=[=+\-@\t\r])/, "'")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
