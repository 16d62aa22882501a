/** What a list says of a tool. */
export interface ListedTool {
  name: string
  title?: string
  description?: string
  inputSchema: { properties?: Record<string, { description?: string }>; required?: string[] }
}

const EMPTY = new Set('a an and are at by for in is it its of on or that the to with'.split(' '))
const wordsOf = (text: string) =>
  (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).filter((word) => !EMPTY.has(word)).map(stem)
const stem = (word: string) => word.replace(/(?<=[^s])s$/, '')

/**
 * The tool of a list that a wish is about: of those that have all of its words, the one whose name and title have least
 * beside them.
 * @returns undefined where no tool has all of them
 */
export function chooseTool(tools: ListedTool[], want: string): ListedTool | undefined {
  const words = new Set(wordsOf(want))
  const scored = tools.flatMap((tool) => {
    const label = new Set(wordsOf(`${tool.name.replaceAll('_', ' ')} ${tool.title ?? ''}`))
    const found = [...words].filter((word) => label.has(word)).length
    return found === words.size ? [{ tool, score: found / label.size }] : []
  })
  return scored.sort((a, b) => b.score - a.score)[0]?.tool
}
