import { TOOL_BINARY_BYTES, TOOL_OUTPUT_BYTES, TOOL_PICTURE_BYTES } from '../platform/fit-output.ts'
import { pictureType } from '../platform/pictures.ts'
import { fittingBytes } from '../platform/text-bytes.ts'
import { fileInJson } from './file-in-json.ts'

/** The most that is read of a file for a tool, whose caller asked for no length: all of a picture, or the beginning. */
const TOOL_READ_BYTES = (TOOL_PICTURE_BYTES / 4) * 3

/** How many bytes are read of a file for an answer. */
export const bytesToRead = (asTool: boolean, asked: number | undefined, most: number) =>
  asked ?? (asTool ? TOOL_READ_BYTES : most)

/**
 * A part of a file in an answer. As a tool, where no length was asked for, it is a picture as a whole, or as much as a
 * model can take.
 * @param bytes from `offset` on, of a file of `size`
 */
export function fileInAnswer(
  bytes: Uint8Array,
  { offset, size, isFitted }: { offset: number; size: number; isFitted: boolean },
) {
  const isWhole = offset === 0 && bytes.length === size
  const shown =
    isFitted && !(isWhole && pictureType(bytes) !== undefined) ? bytes.subarray(0, fitting(bytes)) : bytes
  return {
    size,
    offset,
    length: shown.length,
    eof: offset + shown.length >= size,
    ...fileInJson(shown),
  }
}

function fitting(bytes: Uint8Array): number {
  const fits = fittingBytes(bytes, TOOL_OUTPUT_BYTES)
  const isText = 'content' in fileInJson(bytes.subarray(0, fits))
  return isText ? fits : Math.min(bytes.length, TOOL_BINARY_BYTES)
}
