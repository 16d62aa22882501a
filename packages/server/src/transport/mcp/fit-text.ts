import type { Operation } from '@coinrack/contract/operation.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import { TOOL_OUTPUT_BYTES } from '../../platform/fit-output.ts'
import { fittingBytes, jsonBytes, textOf } from '../../platform/text-bytes.ts'

type Body = Record<string, unknown>

/** Output that stands in the structured content too is in the text from its beginning so far, and from its end. */
const HEAD_BYTES = 12_000
const TAIL_BYTES = 4_000

/** A text of at most so many bytes of JSON. @param whole says where all of it is */
export function fitText(text: string, most: number, whole: string): string {
  if (jsonBytes(text) <= most) return text
  const bytes = Buffer.from(text)
  const shown = fittingBytes(bytes, most)
  return `${textOf(bytes.subarray(0, shown))}\n[${shown} of ${bytes.length} bytes are shown; ${whole}]`
}

/** An answer for the text beside structured content that has all of it: long outputs without their middle. */
export function withoutMiddle(answer: Body): Body {
  const shorter: Body = { ...answer }
  for (const name of ['stdout', 'stderr', 'content', 'content_base64']) {
    const value = answer[name]
    if (typeof value !== 'string' || jsonBytes(value) <= HEAD_BYTES + TAIL_BYTES) continue
    const bytes = Buffer.from(value)
    const head = textOf(bytes.subarray(0, fittingBytes(bytes, HEAD_BYTES)))
    const tail = value.slice(-TAIL_BYTES / 4)
    const left = bytes.length - Buffer.byteLength(head) - Buffer.byteLength(tail)
    shorter[name] = `${head}\n[${left} bytes in between are in the structured content alone]\n${tail}`
  }
  return shorter
}

/** As many items of a page as an answer has room for, and how to get the others. */
export function fitItems(
  op: Operation,
  data: Body,
  { tool, input }: { tool: string; input: Body },
): { page: Body; more: NextStep[] } {
  const items = data.items as unknown[] | undefined
  if (!op.list || !items || !('limit' in op.input.shape)) return { page: data, more: [] }
  let [count, bytes] = [0, 0]
  for (const item of items) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1
    if (bytes > TOOL_OUTPUT_BYTES && count > 0) break
    count++
  }
  if (count === items.length) return { page: data, more: [] }
  const why = `${items.length - count} more items of this page have no room here: repeat with this limit, and go on with its next_cursor`
  return {
    page: { items: items.slice(0, count) },
    more: [{ tool, why, arguments: { ...input, limit: count } }],
  }
}
