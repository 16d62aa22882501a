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
} from './guest-shapes.ts'
import { listOperation, operation } from './operation.ts'
import { SandboxId, sandboxExample } from './sandboxes.ts'
import { paging, Timestamp } from './wire.ts'

/** The largest file that streams carry, either way. */
export const LARGEST_FILE_BYTES = 2 * 1024 ** 3

const Path = NoNul.min(1).max(4096)
const file = { sandbox_id: SandboxId, path: Path }
const work = { access: 'sandbox', rate: 'default', resource: 'sandbox' } as const
const inside = ['sandbox_not_running', 'sandbox_unreachable', 'sandboxes_unavailable'] as const
const errors = [...inside, 'file_refused'] as const
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
  output: z.object({ url: z.string(), method: z.enum(['GET', 'PUT']), expires_at: Timestamp }),
  errors: inside,
  example,
} as const

export const sandboxFiles = {
  writeFile: operation({
    ...work,
    method: 'PUT',
    path: '/sandboxes/{id}/files',
    summary: 'Write a file of a sandbox',
    description:
      'Replaces it as a whole, and makes the folders on the way. At most 5 MB (as a tool 700 kB): larger ones by get_upload_url. Relative paths are of /home/user.',
    onMachine: true,
    query: ['path'],
    bodyBytes: FILE_BODY_BYTES,
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
    summary: 'Read a file of a sandbox',
    description:
      'Up to 5 MB from offset on: as content when it is UTF-8 text, else as content_base64. Larger ones by get_download_url.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...file, ...filePart }),
    output: FileRead,
    errors,
    example,
  }),
  listFiles: listOperation({
    ...work,
    method: 'GET',
    path: '/sandboxes/{id}/files/list',
    summary: 'List a folder of a sandbox',
    description: 'Sorted by path; depth more than 1 goes into the folders in it.',
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
  deleteFile: operation({
    ...work,
    method: 'DELETE',
    path: '/sandboxes/{id}/files',
    summary: 'Delete a file or folder of a sandbox',
    description: 'A folder with all that is in it. One that is not there is fine.',
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
    summary: 'Get a link that one file of a sandbox is uploaded by',
    description: 'PUT the bytes to it, up to 2 GB: curl -T FILE URL. Whoever has the link needs no token.',
  }),
  getDownloadUrl: operation({
    ...link,
    path: '/sandboxes/{id}/download-url',
    summary: 'Get a link that one file of a sandbox is downloaded by',
    description: 'GET it; Range is understood. Whoever has the link needs no token.',
  }),
}
