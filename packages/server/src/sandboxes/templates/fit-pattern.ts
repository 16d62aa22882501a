/*
 * Patterns of COPY and `.dockerignore`. They are not those of Node.js's `matchesGlob`, which knows braces and other extensions,
 * and takes a time for hostile patterns that has no bound worth the name; this takes at most the product of both lengths.
 * Source: pkg.go.dev/path/filepath, "Match"; docs.docker.com/build/concepts/context, "Pattern matching"
 */

export const isPattern = (text: string) => /[*?[]/.test(text)

/** Whether a path fits a pattern, both of parts with `/` between: `*`, `?` and `[a-z]` within a part, `**` any number of parts. */
export function fitsPattern(path: string, pattern: string): boolean {
  const parts = path.split('/')
  const wanted = pattern.split('/')
  // After each part of the pattern: which beginnings of the path fit so far, by their number of parts.
  let fits = new Set([0])
  for (const part of wanted) {
    const next = new Set<number>()
    for (const at of fits) {
      if (part === '**') for (let to = at; to <= parts.length; to++) next.add(to)
      else if (at < parts.length && fitsPart(parts[at]!, part)) next.add(at + 1)
    }
    if (next.size === 0) return false
    fits = next
  }
  return fits.has(parts.length)
}

/** Only the last of several stars has to be tried again: what an earlier one could take more, it can take too. */
function fitsPart(text: string, pattern: string): boolean {
  let [at, from] = [0, 0]
  let star: { at: number; from: number } | undefined
  while (at < text.length) {
    if (pattern[from] === '*') {
      star = { at, from: ++from }
      continue
    }
    const step = from < pattern.length ? fitsOne(text[at]!, pattern, from) : undefined
    if (step !== undefined) {
      at++
      from = step
    } else if (star) {
      star.at++
      at = star.at
      from = star.from
    } else return false
  }
  while (pattern[from] === '*') from++
  return from === pattern.length
}

/** Where the pattern goes on after one letter; undefined when that does not fit. */
function fitsOne(letter: string, pattern: string, from: number): number | undefined {
  const sign = pattern[from]!
  if (sign === '?') return from + 1
  if (sign === '\\' && from + 1 < pattern.length) return pattern[from + 1] === letter ? from + 2 : undefined
  if (sign !== '[') return sign === letter ? from + 1 : undefined
  const end = pattern.indexOf(']', from + 2)
  if (end < 0) return letter === '[' ? from + 1 : undefined
  const isNot = pattern[from + 1] === '^' || pattern[from + 1] === '!'
  const list = pattern.slice(from + (isNot ? 2 : 1), end)
  let isIn = false
  for (let index = 0; index < list.length; index++) {
    const low = list[index]!
    const high = list[index + 1] === '-' && index + 2 < list.length ? list[index + 2]! : low
    if (high !== low) index += 2
    if (low <= letter && letter <= high) isIn = true
  }
  return isIn !== isNot ? end + 1 : undefined
}
