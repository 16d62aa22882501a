import type { SandboxChannel, TaskEnd } from '@coinrack/compute/ports/sandbox-channel.ts'
import { fitOutputs, TOOL_PICTURE_BYTES } from '../../platform/fit-output.ts'
import { isPictureType } from '../../platform/pictures.ts'
import { fittingBytes, textOf } from '../../platform/text-bytes.ts'
import { shownEnd } from './task-output.ts'

interface Cut {
  part: string
  bytes: number
  shown: number
  path: string | null
}

/** Where a sandbox keeps what an answer has no room for, below its root. */
const FOLDER = '/tmp/coinrack'

/** The part of an answer that is for results and errors of code, where there are any. */
const RESULTS_SHARE = 1 / 4

/** How much of an answer is left for the outputs. */
export const besideResults = (end: Partial<TaskEnd>, most: number | undefined) =>
  most !== undefined && (end.error || end.results?.length) ? most * (1 - RESULTS_SHARE) : most

/** Keeps a part of an answer as a file of the sandbox. */
export type Keep = (name: string, content: Uint8Array) => Promise<string | null>

/** @returns the path, or null where it could not be written: its disk may be full */
export const keepIn =
  ({ files }: SandboxChannel, id: string, taskId: string): Keep =>
  async (name, content) => {
    const path = `${FOLDER}/${taskId}.${name}`
    try {
      await files.write(id, path, one(content))
      return path
    } catch {
      return null
    }
  }

async function* one(content: Uint8Array) {
  yield content
}

/** The outputs of a task that has ended, as far as they fit into `most` bytes; undefined: whole. */
export async function fitEnded(
  outputs: { stdout: Uint8Array; stderr: Uint8Array },
  most: number | undefined,
  keep: Keep,
): Promise<{ stdout: string; stderr: string; cut: Cut[] }> {
  const shown =
    most === undefined
      ? { stdout: outputs.stdout.length, stderr: outputs.stderr.length }
      : fitOutputs(outputs, most)
  const cut: Cut[] = []
  for (const part of ['stdout', 'stderr'] as const) {
    const bytes = outputs[part].length
    if (shown[part] < bytes)
      cut.push({ part, bytes, shown: shown[part], path: await keep(part, outputs[part]) })
  }
  return {
    stdout: textOf(outputs.stdout.subarray(0, shown.stdout)),
    stderr: textOf(outputs.stderr.subarray(0, shown.stderr)),
    cut,
  }
}

/** The results of code, as far as they fit: pictures up to `TOOL_PICTURE_BYTES`, and other forms up to `most`. */
export async function fitResults(
  end: Partial<Pick<TaskEnd, 'results' | 'error'>>,
  most: number | undefined,
  keep: Keep,
) {
  const { results, error } = shownEnd(end)
  if (most === undefined) return { results, error, cut: [] }
  const left = { pictures: TOOL_PICTURE_BYTES, text: most * RESULTS_SHARE }
  const cut: Cut[] = []
  const fitted = []
  for (const [index, { data, is_main }] of results.entries()) {
    const forms: Record<string, string> = {}
    // The plain text comes first: it is what every client can show.
    const byUse = Object.entries(data).sort(
      ([a], [b]) => Number(b === 'text/plain') - Number(a === 'text/plain'),
    )
    for (const [type, content] of byUse) {
      const isPicture = isPictureType(type)
      const kind = isPicture ? 'pictures' : 'text'
      const bytes = isPicture ? Buffer.from(content, 'base64') : Buffer.from(content)
      const fits = isPicture
        ? content.length <= left.pictures
          ? bytes.length
          : 0
        : fittingBytes(bytes, left.text)
      const isWhole = fits === bytes.length
      // Half of a table in HTML is none: such forms are whole or not there.
      const shown = isWhole || type === 'text/plain' ? fits : 0
      if (shown > 0 || isWhole) forms[type] = isWhole ? content : textOf(bytes.subarray(0, shown))
      left[kind] -= isPicture ? (isWhole ? content.length : 0) : shown
      if (!isWhole) {
        const name = `${index}.${type.replace(/[^a-z0-9]+/gi, '.')}`
        cut.push({
          part: `results.${index} ${type}`,
          bytes: bytes.length,
          shown,
          path: await keep(name, bytes),
        })
      }
    }
    fitted.push({ data: forms, is_main })
  }
  return { results: fitted, error: error && fitError(error, left.text / 2), cut }
}

/** A traceback tells most at its end. */
function fitError(error: NonNullable<TaskEnd['error']>, most: number) {
  const shorten = (text: string) => {
    const bytes = Buffer.from(text)
    const fits = fittingBytes(bytes, most)
    return fits === bytes.length
      ? text
      : `${textOf(bytes.subarray(0, fits >> 1))}\n...\n${text.slice(-(fits >> 2) || text.length)}`
  }
  return { name: error.name, value: shorten(error.value), traceback: shorten(error.traceback) }
}

/** In an answer, nothing is said of cuts where there are none. */
export const orNone = (cut: Cut[]) => (cut.length === 0 ? {} : { cut })
