/*
 * Words of a Dockerfile: quotes, escapes and variables, as its reference describes them.
 * Source: docs.docker.com/reference/dockerfile, "Environment replacement"
 */

/** A word that cannot be read; the message says why. */
export class BadWord extends Error {}

export type Variables = Readonly<Record<string, string>>

const NAME = /^[A-Za-z_][A-Za-z0-9_]*/

/**
 * Takes the quotes and escapes off a word and replaces its variables: `$name`, `${name}`, and with `:-` or `-` a default,
 * with `:+` or `+` what stands for one that is set. Unknown ones are empty.
 * @param mark the character of the file that escapes others
 * @throws BadWord
 */
export function expandWord(word: string, variables: Variables, mark = '\\'): string {
  const reader = { word, at: 0 }
  const text = expandUntil(reader, variables, mark, undefined)
  return text
}

interface Reader {
  word: string
  at: number
}

function expandUntil(reader: Reader, variables: Variables, mark: string, end: string | undefined): string {
  let text = ''
  while (reader.at < reader.word.length) {
    const letter = reader.word[reader.at]!
    if (letter === end) return text
    reader.at++
    if (letter === "'") text += literally(reader)
    else if (letter === '"') text += quoted(reader, variables, mark)
    else if (letter === mark) text += reader.word[reader.at++] ?? ''
    else if (letter === '$') text += variable(reader, variables, mark)
    else text += letter
  }
  if (end !== undefined) throw new BadWord(`a ${end} is missing`)
  return text
}

function literally(reader: Reader): string {
  const end = reader.word.indexOf("'", reader.at)
  if (end < 0) throw new BadWord("a ' is missing")
  const text = reader.word.slice(reader.at, end)
  reader.at = end + 1
  return text
}

function quoted(reader: Reader, variables: Variables, mark: string): string {
  let text = ''
  for (;;) {
    const letter = reader.word[reader.at++]
    if (letter === undefined) throw new BadWord('a " is missing')
    if (letter === '"') return text
    const next = reader.word[reader.at]
    if (letter === mark && (next === '"' || next === '$' || next === mark)) {
      text += next
      reader.at++
    } else if (letter === '$') text += variable(reader, variables, mark)
    else text += letter
  }
}

function variable(reader: Reader, variables: Variables, mark: string): string {
  const isBraced = reader.word[reader.at] === '{'
  if (isBraced) reader.at++
  const name = NAME.exec(reader.word.slice(reader.at))?.[0]
  if (name === undefined) {
    if (isBraced) throw new BadWord('${ needs the name of a variable')
    return '$'
  }
  reader.at += name.length
  const value = Object.hasOwn(variables, name) ? variables[name]! : undefined
  if (!isBraced) return value ?? ''
  const [operator = ''] = /^:?[-+]/.exec(reader.word.slice(reader.at)) ?? []
  reader.at += operator.length
  const other = operator === '' ? '' : expandUntil(reader, variables, mark, '}')
  if (reader.word[reader.at] !== '}')
    throw new BadWord(`\${${name}...}: only :-, :+, - and + may follow the name`)
  reader.at++
  const isSet = value !== undefined && !(operator.startsWith(':') && value === '')
  if (operator.endsWith('-')) return isSet ? value : other
  if (operator.endsWith('+')) return isSet ? other : ''
  return value ?? ''
}

/**
 * Splits at spaces that are neither quoted nor escaped; quotes stay.
 * @throws BadWord
 */
export function splitWords(text: string, mark = '\\'): string[] {
  const words: string[] = []
  let word = ''
  let isWord = false
  let quote: string | undefined
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!
    if (quote === undefined && /\s/.test(letter)) {
      if (isWord) words.push(word)
      word = ''
      isWord = false
      continue
    }
    isWord = true
    word += letter
    if (letter === mark && quote !== "'") word += text[++at] ?? ''
    else if (quote === undefined && (letter === "'" || letter === '"')) quote = letter
    else if (letter === quote) quote = undefined
  }
  if (quote !== undefined) throw new BadWord(`a ${quote} is missing`)
  if (isWord) words.push(word)
  return words
}
