import { z } from 'zod'

/*
 * The shapes of commands and files inside a machine, the same for a VPS and for a sandbox.
 */

/** The most that one call reads or writes of a file, in bytes. */
export const FILE_BYTES = 5_000_000
/** A request that carries as much, in base64. */
export const FILE_BODY_BYTES = 8 * 1024 * 1024

/** Text that a program of the guest can be handed: it ends at the first NUL. */
export const NoNul = z.string().regex(/^[^\u0000]*$/, 'NUL characters are not allowed')

export const AbsolutePath = z
  .string()
  .max(4096)
  .regex(/^\/[^\u0000]*$/, 'Expected an absolute path')

export const Environment = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/), NoNul.max(16_384))
  .refine((env) => JSON.stringify(env).length <= 65_536, 'Expected at most 64 KiB in all')

/** The answer about a program that has ended. */
export const ended = {
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.number().int().nullable().describe('Null when it was ended by the timeout'),
  timed_out: z.boolean(),
  truncated: z.boolean().describe('An output was longer than 1 MiB'),
  duration_ms: z.number().int(),
}

/** A part of an answer that would be longer than a model can take. */
const Cut = z.object({
  part: z.string().describe('stdout, stderr, or a result with its media type'),
  bytes: z.number().int().describe('All of it'),
  shown: z.number().int().describe('In this answer, from its beginning on'),
  path: z.string().nullable().describe('File inside that has all of it'),
})
export const cut = { cut: z.array(Cut).optional() }

/** How much of the outputs an answer has. */
export const maxOutput = {
  max_output: z.coerce
    .number()
    .int()
    .min(1000)
    .max(1_000_000)
    .optional()
    .describe('Bytes of output to answer; as a tool 31000'),
}

/** Which part of a file is read. */
export const filePart = {
  offset: z.coerce.number().int().min(0).default(0),
  length: z.coerce
    .number()
    .int()
    .min(1)
    .max(FILE_BYTES)
    .optional()
    .describe('Bytes; default 5 MB, as a tool 31000'),
}

export const FileRead = z.object({
  path: z.string(),
  size: z.number().int().describe('Size of the whole file, in bytes'),
  offset: z.number().int(),
  length: z.number().int().describe('Bytes in this answer'),
  eof: z.boolean(),
  download_url: z.string().optional().describe('As a tool, where this is not all of it: for an hour'),
  content: z.string().optional(),
  content_base64: z.string().optional(),
})

interface Place {
  sandbox_id?: unknown
  service_id?: unknown
}
type ReadingTool = 'read_file' | 'read_vps_file'

/** The call that goes on reading a file where an answer ended. */
export const readFileOn = (tool: ReadingTool, answer: Record<string, unknown>, place: Place) => {
  const { eof, path, offset, length } = answer as Partial<z.input<typeof FileRead>>
  return eof === false
    ? [{ tool, why: 'Read on', arguments: { ...place, path, offset: offset! + length! } }]
    : []
}

/** The calls that go on reading what an answer cut. */
export const readCutOn = (tool: ReadingTool, answer: Record<string, unknown>, place: Place) =>
  ((answer.cut ?? []) as z.input<typeof Cut>[]).flatMap(({ part, shown, path }) =>
    path === null
      ? []
      : part.includes('image/')
        ? [{ tool: 'get_download_url', why: `Get ${part}`, arguments: { ...place, path } }]
        : [{ tool, why: `Read on in ${part}`, arguments: { ...place, path, offset: shown } }],
  )

/** The content that is written: one of the two. */
export const fileContent = {
  content: z.string().max(FILE_BYTES).optional().describe('Text'),
  content_base64: z
    .base64()
    .max(Math.ceil(FILE_BYTES / 3) * 4)
    .optional(),
}

interface Content {
  content?: string | undefined
  content_base64?: string | undefined
}

/** For `refine`: whether exactly one of the two is there, and what is said otherwise. */
export const isOneContent = ({ content, content_base64 }: Content) =>
  (content === undefined) !== (content_base64 === undefined)
export const ONE_CONTENT = 'Expected either content or content_base64'

/** For `refine`: whether a text is no longer in bytes than a call may carry. */
export const isInFileBytes = ({ content = '' }: Content) =>
  new TextEncoder().encode(content).length <= FILE_BYTES
export const IN_FILE_BYTES = 'Expected at most 5 MB'

export const FileWritten = z.object({
  path: z.string(),
  size: z.number().int().describe('Size of the file now, in bytes'),
})
