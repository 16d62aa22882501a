/**
 * The columns and parameters of an insert, `(a, b) values ($1, $2)`, for the values of the row in the same order.
 * @param row its keys are names of columns, never input
 */
export function insertion(row: object): string {
  const names = Object.keys(row)
  return `(${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`
}

/**
 * The assignments of an update, `a = $2, b = $3`, for the values of the change in the same order.
 * @param change its keys are names of columns, never input
 * @param first the number of the first parameter
 */
export const assignments = (change: object, first: number): string =>
  Object.keys(change)
    .map((name, index) => `${name} = $${first + index}`)
    .join(', ')
