import { fittingBytes } from './text-bytes.ts'

/** The bytes of JSON that the output of one tool call takes, unless its caller asks for more: with what is said of it, 32 kB. */
export const TOOL_OUTPUT_BYTES = 31_000
/** Bytes that are no text help a model little: so many come as base64. */
export const TOOL_BINARY_BYTES = 1_500
/** The pictures of one answer, in bytes of base64: as much as models take of one, and the transport of all. */
export const TOOL_PICTURE_BYTES = 1_000_000

/** How much of the outputs an answer has; undefined: all. */
export const outputLimit = (asTool: boolean, asked: number | undefined) =>
  asked ?? (asTool ? TOOL_OUTPUT_BYTES : undefined)

/**
 * How many bytes of each output are shown in `most` bytes of JSON together: a quarter is for the errors, and what one does
 * not need the other has.
 */
export function fitOutputs(
  { stdout, stderr }: { stdout: Uint8Array; stderr: Uint8Array },
  most: number,
): { stdout: number; stderr: number } {
  const errors = fittingBytes(stderr, most / 4)
  const shown = fittingBytes(stdout, most - errors)
  return { stdout: shown, stderr: fittingBytes(stderr, most - shown) }
}
