import { type OperationName, operationList, operations } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import MiniSearch from 'minisearch'

/** Every operation by its name, by its name as a tool, and by the other names that it has as one. */
const names = new Map<string, OperationName>(
  operationList.flatMap(([name, op]) =>
    [name, toolName(name), ...(op.tools ?? [])].map((each) => [each, name] as const),
  ),
)

/** The operation of this name, if there is one. */
export const operationNamed = (name: string): OperationName | undefined => names.get(name)

/** Words that say nothing about what is wanted. */
const EMPTY_WORDS = new Set(
  'a an and are at be by do for from how i in is it my of on or that the this to with'.split(' '),
)

/** The singular of a word, without its possessive: lists are named in the plural and their items in the singular. */
const oneOf = (word: string) =>
  word
    .replace(/'s$/, '')
    .replace(/(?<=[^aeious])ies$/, 'y')
    .replace(/(?<=[^sui])s$/, '')

const termOf = (word: string) => {
  const term = word.toLowerCase()
  return term === '' || EMPTY_WORDS.has(term) ? null : oneOf(term)
}
const termsOf = (text: string) => new Set(text.split(BETWEEN_WORDS).flatMap((word) => termOf(word) ?? []))
const BETWEEN_WORDS = /[^\p{L}\p{N}']+/u

const index = new MiniSearch<{ id: OperationName }>({
  fields: ['name', 'title', 'subject', 'description', 'inputs'],
  tokenize: (text) => text.split(BETWEEN_WORDS),
  processTerm: termOf,
  searchOptions: {
    boost: { name: 4, title: 3, subject: 1.5 },
    prefix: (term) => term.length > 3,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  },
})
index.addAll(operationList.map(([name, op]) => ({ id: name, ...wordsOf(name, op) })))

function wordsOf(name: OperationName, op: Operation) {
  return {
    name: [toolName(name), ...(op.tools ?? [])].join(' ').replaceAll('_', ' '),
    title: op.summary,
    subject: operations[name].subject,
    description: op.description,
    inputs: Object.entries(op.input.shape)
      .map(([field, schema]) => `${field.replaceAll('_', ' ')} ${schema.description ?? ''}`)
      .join(' '),
  }
}

/** The operations that have to do with these words, the best first: the nearer a title is to them, the better. */
export function searchOperations(words: string): OperationName[] {
  const wanted = termsOf(words)
  const nearness = ({ summary }: Operation) => {
    const title = termsOf(summary)
    return wanted.intersection(title).size / wanted.union(title).size
  }
  return index
    .search(words)
    .map(({ id, score }: { id: OperationName; score: number }) => ({
      id,
      score: score * (1 + nearness(operations[id])),
    }))
    .sort((a, b) => b.score - a.score)
    .map(({ id }) => id)
}

/** Names of tools like this one, which no operation has, the closest first. */
export const closestTools = (name: string): string[] =>
  index
    .search(name.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' '), {
      fields: ['name'],
      fuzzy: 0.34,
    })
    .slice(0, 3)
    .map(({ id }) => toolName(id))
