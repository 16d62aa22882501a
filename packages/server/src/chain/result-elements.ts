import { WrongAnswerError } from './wrong-answer.ts'

/** The most characters held at once: text that is not split into elements yet, such as a single element. */
const LARGEST_HELD = 8 * 1024 * 1024

/** A JSON-RPC 2.0 response; a `result` whose elements were taken is left empty. */
export interface Envelope {
  result?: unknown
  error?: unknown
}

/**
 * Takes the elements of the array `result` of a JSON-RPC response while it still arrives, so that a large response is
 * never held as a whole. Elements have to be objects. Text that cannot be split is held until the end and parsed then.
 * @param take receives the elements in batches as they arrive; all of them are void when `push` or `end` throws
 */
export function resultElements(take: (elements: unknown[]) => void) {
  /** The text that was not taken yet. */
  let rest = ''
  /** The text before the first element, once the array has begun. */
  let head: string | undefined
  let isHeld = false

  /** Takes all elements but the last one that has begun, whose end is not known yet. */
  function takeWhole() {
    const boundary = lastBoundary(rest)
    if (!boundary) return
    let elements: unknown[]
    try {
      elements = JSON.parse(`[${rest.slice(0, boundary.end)}]`)
    } catch {
      // Either this was no boundary or the text is no JSON, which only the end shows.
      isHeld = true
      return
    }
    rest = rest.slice(boundary.next)
    take(elements)
  }

  return {
    push(text: string): void {
      rest += text
      if (head === undefined) {
        const begin = /"result"\s*:\s*\[/.exec(rest)
        if (begin) {
          const first = begin.index + begin[0].length
          head = rest.slice(0, first)
          rest = rest.slice(first)
        }
      }
      if (head !== undefined && !isHeld) takeWhole()
      if (rest.length > LARGEST_HELD) throw new WrongAnswerError('it answered what is no list of logs')
    },

    /** Takes the remaining elements. @throws WrongAnswerError when the response was no JSON */
    end(): Envelope {
      try {
        if (head === undefined) return JSON.parse(rest)
        const close = closingBracket(rest)
        const elements = JSON.parse(`[${rest.slice(0, close)}]`)
        const envelope: Envelope = JSON.parse(head + rest.slice(close))
        if (!Array.isArray(envelope.result)) throw new SyntaxError('This was not its result')
        take(elements)
        return envelope
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
        throw new WrongAnswerError('it answered something that is no JSON')
      }
    },
  }
}

/** The position where the last of several objects begins, and that where the previous one ends. */
function lastBoundary(text: string): { end: number; next: number } | undefined {
  for (let next = text.lastIndexOf('{'); next > 0; next = text.lastIndexOf('{', next - 1)) {
    const comma = beforeSpace(text, next)
    if (text[comma - 1] !== ',') continue
    const end = beforeSpace(text, comma - 1)
    if (text[end - 1] === '}') return { end, next }
  }
  return undefined
}

function beforeSpace(text: string, from: number): number {
  let at = from
  while (/\s/.test(text[at - 1] ?? '')) at--
  return at
}

/** The position where the array ends that began before this text. */
function closingBracket(text: string): number {
  let depth = 0
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth++
    else if (token === ']' || token === '}') depth--
    if (depth < 0) return index
  }
  throw new SyntaxError('The array has no end')
}
