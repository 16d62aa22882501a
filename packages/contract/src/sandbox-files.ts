import { z } from 'zod'
import {
  FILE_BODY_BYTES,
  FileRead,
  FileWritten,
  fileContent,
  filePart,
  IN_FILE_BYTES,
  isInFileBytes,
  isOneContent,
  NoNul,
  ONE_CONTENT,
  readFileOn,
} from './guest-shapes.ts'
import { listOperation, operation } from './operation.ts'
import { SandboxId, sandboxExample } from './sandboxes.ts'
import { Flag, paging, Timestamp, WaitSeconds } from './wire.ts'

/** The largest file that streams carry, either way. */
export const LARGEST_FILE_BYTES = 2 * 1024 ** 3

const Path = NoNul.min(1).max(4096).describe('Absolute, or relative to /home/user')
const file = { sandbox_id: SandboxId, path: Path }
const work = { access: 'sandbox', rate: 'default', resource: 'sandbox' } as const
const inside = ['sandbox_not_running', 'sandbox_unreachable', 'sandboxes_unavailable'] as const
const errors = [...inside, 'file_not_found', 'file_refused'] as const
const example = { ...sandboxExample, path: 'hello.txt' }
const link = {
  ...work,
  method: 'POST',
  effect: 'write',
  idempotent: true,
  input: z.strictObject({
    ...file,
    expires_in: z.number().int().min(1).max(86_400).default(3600).describe('Seconds'),
  }),
  output: z.object({
    url: z.string(),
    method: z.enum(['GET', 'PUT']),
    expires_at: Timestamp,
    size: z.number().int().optional().describe('As a tool, of a file that is there'),
  }),
  errors: inside,
  example,
} as const

export const sandboxFiles = {
  writeFile: operation({
    ...work,
    method: 'PUT',
    path: '/sandboxes/{id}/files',
    everyday: true,
    summary: 'Write a file of a sandbox',
    description:
      'Writes a file of a sandbox as a whole, and makes the folders on the way. A tool call carries up to 700 kB and a REST call up to 5 MB: larger ones go by get_upload_url.',
    onMachine: true,
    query: ['path'],
    bodyBytes: FILE_BODY_BYTES,
    anyText: ['content'],
    effect: 'destructive',
    idempotent: true,
    input: z
      .strictObject({ ...file, ...fileContent })
      .refine(isOneContent, ONE_CONTENT)
      .refine(isInFileBytes, IN_FILE_BYTES),
    output: FileWritten,
    errors,
    example: { ...example, content: 'Hello\n' },
  }),
  readFile: operation({
    ...work,
    method: 'GET',
    path: '/sandboxes/{id}/files',
    everyday: true,
    summary: 'Read a file of a sandbox',
    description:
      'Reads up to 5 MB of a file of a sandbox from offset on. UTF-8 text comes as content, and anything else as content_base64. Read larger files by get_download_url.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...file, ...filePart }),
    shows: 'output',
    output: FileRead,
    errors,
    example,
    next: (answer, { sandbox_id }) => readFileOn('read_file', answer, { sandbox_id }),
  }),
  listFiles: listOperation({
    ...work,
    method: 'GET',
    path: '/sandboxes/{id}/files/list',
    summary: 'List a folder of a sandbox',
    description:
      'Lists a folder of a sandbox, sorted by path. With a depth of more than 1 the folders in it are listed too.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      ...file,
      path: Path.default('.'),
      depth: z.coerce.number().int().min(1).max(20).default(1),
      ...paging,
    }),
    output: z.object({
      path: z.string(),
      type: z.enum(['file', 'folder', 'link', 'other']),
      size: z.number().int(),
      mode: z.string().describe('Octal, as 0644'),
      user: z.string(),
      group: z.string(),
      modified_at: Timestamp,
      target: z.string().nullable(),
    }),
    errors,
    example: { ...sandboxExample, path: '.' },
  }),
  makeFolder: operation({
    ...work,
    method: 'PUT',
    path: '/sandboxes/{id}/folders',
    summary: 'Make a folder in a sandbox',
    description:
      'Makes a folder in a sandbox, with those on the way to it. One that is there already is no error.',
    onMachine: true,
    query: ['path'],
    effect: 'write',
    idempotent: true,
    input: z.strictObject(file),
    output: z.object({ path: z.string(), created: z.boolean().describe('It was not there before') }),
    errors,
    example: { ...sandboxExample, path: 'data/new' },
  }),
  moveFile: operation({
    ...work,
    method: 'POST',
    path: '/sandboxes/{id}/files/move',
    summary: 'Move a file of a sandbox',
    description:
      'Renames or moves a file or a folder of a sandbox, and makes the folders on the way. A file that is at the new path is replaced.',
    onMachine: true,
    effect: 'destructive',
    idempotent: false,
    input: z.strictObject({ ...file, to: Path }),
    output: z.object({ path: z.string() }),
    errors,
    example: { ...example, to: 'old/hello.txt' },
  }),
  watchFolder: operation({
    ...work,
    method: 'GET',
    path: '/sandboxes/{id}/folders/changes',
    streams: true,
    summary: 'Watch a folder of a sandbox',
    description:
      'Shows what changes in a folder of a sandbox from the call on: it answers with the first changes, or with none after timeout seconds. By REST with Accept: text/event-stream the event watching says from when on, and each change is streamed until the caller hangs up.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      ...file,
      path: Path.default('.'),
      recursive: Flag.default(false),
      timeout: WaitSeconds.default(30),
    }),
    output: z.object({
      changes: z.array(
        z.object({
          type: z
            .enum(['created', 'written', 'removed', 'renamed', 'mode', 'overflow'])
            .describe('overflow: there were too many to tell'),
          path: z.string().describe('Below the folder'),
        }),
      ),
    }),
    errors,
    example: { ...sandboxExample, path: '.', timeout: 1 },
  }),
  deleteFile: operation({
    ...work,
    method: 'DELETE',
    path: '/sandboxes/{id}/files',
    summary: 'Delete a file of a sandbox',
    description:
      'Deletes a file of a sandbox, or a folder with all that is in it. A path that is not there is no error.',
    onMachine: true,
    query: ['path'],
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject(file),
    output: z.object({ deleted: z.string() }),
    errors,
    example: { ...example, path: 'old' },
  }),
  getUploadUrl: operation({
    ...link,
    path: '/sandboxes/{id}/upload-url',
    summary: 'Get an upload link for a sandbox',
    description:
      'Creates a link by which one file of a sandbox is uploaded without a token. PUT up to 2 GB to it: curl -T FILE URL.',
  }),
  getDownloadUrl: operation({
    ...link,
    path: '/sandboxes/{id}/download-url',
    summary: 'Get a download link of a sandbox',
    description:
      'Creates a link by which one file of a sandbox is downloaded without a token. GET it; Range is understood.',
  }),
}
