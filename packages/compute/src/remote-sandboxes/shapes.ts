import { z } from 'zod'
import { sandboxErrorCodes } from '../ports/sandbox-runtime.ts'

/*
 * The values that go over the connection, as either side checks them: the other one may be of another version, broken,
 * or taken over.
 */

const Count = z.number().nonnegative()
const Text = z.string().max(64 * 1024)
export const Path = z.string().max(16 * 1024)
export const Id = z.string().max(200)
const Bytes = z.instanceof(Uint8Array)
const Time = z.iso.datetime().transform((text) => new Date(text))
export const Nothing = z.undefined()
export const Flag = z.boolean()
const CodeLanguage = z.enum(['python', 'node', 'bash'])

export const Failure = z.object({
  code: z.enum(sandboxErrorCodes),
  message: z.string().max(4_000),
})

const Size = { vcpus: Count, memoryMb: Count, diskGb: Count }
export const Network = z.object({
  allowInternet: z.boolean(),
  allowOut: z.array(Text).max(1_000),
  denyOut: z.array(Text).max(1_000),
})
export const Spec = z.object({
  id: Id,
  template: Id,
  ...Size,
  env: z.record(z.string(), z.string()).optional(),
  network: Network.optional(),
})
export const Observed = z
  .array(
    z.tuple([
      Id,
      z.object({ state: z.enum(['running', 'paused', 'ended']), reason: Text.optional(), ranMs: Count }),
    ]),
  )
  .transform((entries) => new Map(entries))
export const End = z.object({ ranMs: Count.optional() })
export const Snapshot = z.object({ id: Id, size: z.object(Size), bytes: Count })
export const Templates = z
  .array(
    z.object({
      name: Id,
      state: z.enum(['missing', 'building', 'ready', 'failed']),
      detail: Text.optional(),
    }),
  )
  .max(1_000)
export const Capacity = z.object({ ...Size, load: Count })

const Terminal = z.object({ columns: Count, rows: Count })
export const Request = z.object({
  run: z.union([
    z.object({ command: z.string() }),
    z.object({ program: z.array(z.string()) }),
    z.object({
      code: z.string(),
      language: CodeLanguage,
      context: Id.optional(),
      data: z.boolean().optional(),
      quiet: z.boolean().optional(),
    }),
  ]),
  cwd: Path.optional(),
  env: z.record(z.string(), z.string()).optional(),
  user: Id.optional(),
  timeoutMs: Count.optional(),
  terminal: Terminal.optional(),
  stdin: z.boolean().optional(),
  overflow: z.enum(['wait', 'drop', 'follow']).optional(),
})
export const Started = z.object({ pid: Count.optional() }).default({})
export const Made = z.boolean().default(false)
export const Reading = z
  .object({ waitMs: Count.optional(), untilEnd: z.boolean().optional(), reader: Id.optional() })
  .optional()
export const Offsets = z.object({ stdout: Count, stderr: Count, results: Count.optional() })
const Results = z.array(z.object({ data: z.record(z.string(), z.string()), isMain: z.boolean() }))
export const Input = Bytes
export const Writing = z.object({ end: z.boolean().optional() }).optional()
export const Signal = z.enum(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'])
export { Terminal }
export const Output = z.object({
  stdout: Bytes,
  stderr: Bytes,
  from: Offsets,
  next: Offsets,
  results: Results.optional(),
  end: z
    .object({
      exitCode: z.number().optional(),
      signal: Id.optional(),
      timedOut: z.boolean(),
      durationMs: Count,
      results: Results,
      error: z.object({ name: z.string(), value: z.string(), traceback: z.string() }).optional(),
      count: Count.optional(),
    })
    .optional(),
})
export const Tasks = z.array(
  z.object({
    taskId: Id,
    title: z.string(),
    isRunning: z.boolean(),
    pid: Count.optional(),
    startedAt: Time,
    // A host of an earlier version does not say these.
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
    cwd: Path.optional(),
    hasTerminal: z.boolean().default(false),
  }),
)
export const NewContext = z.object({ language: CodeLanguage, cwd: Path.optional() })
export const Contexts = z.array(z.object({ contextId: Id, language: CodeLanguage, cwd: Path }))

export const AsUser = z.object({ user: Id.optional() }).optional()
export const Listing = z.object({ user: Id.optional(), depth: Count.optional() }).optional()
export const FileReading = z
  .object({ user: Id.optional(), offset: Count.optional(), length: Count.optional() })
  .optional()
export const FileWriting = z.object({ user: Id.optional(), mode: Count.optional() }).optional()
export const Watching = z.object({ user: Id.optional(), recursive: z.boolean().optional() })
export const File = z.object({
  path: Path,
  type: z.enum(['file', 'folder', 'link', 'other']),
  size: Count,
  mode: Count,
  user: Id,
  group: Id,
  modifiedAt: Time,
  target: Path.optional(),
})
export const Files = z.array(File).max(10_000)
export const FileChange = z.object({
  type: z.enum(['created', 'written', 'removed', 'renamed', 'mode', 'overflow']),
  path: Path,
})
export const Port = z.int().min(1).max(65_535)
const Measured = z.object({
  cpuSeconds: Count,
  vcpus: Count,
  memoryUsedBytes: Count,
  memoryTotalBytes: Count,
  diskUsedBytes: Count,
  diskTotalBytes: Count,
})
export const Metrics = Measured.extend({ processes: Count })
export const Samples = z
  .array(Measured.extend({ at: Time, cpuPercent: Count, memoryCacheBytes: Count }))
  .max(2_000)
const Moment = z.union([z.date(), Time]).optional()
export const Between = z.object({ since: Moment, until: Moment }).optional()

const ArtifactId = z.string().regex(/^(image|snapshot):[a-zA-Z0-9_.-]{1,100}$/)
const FileName = z.string().regex(/^[a-z][a-z0-9.]{0,40}$/)
const ArtifactFile = z.object({
  name: FileName,
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
const Artifact = z.object({
  id: ArtifactId,
  files: z.array(ArtifactFile).max(10),
  needs: z.array(ArtifactId).max(10),
})

export { Artifact, ArtifactFile, ArtifactId, FileName }
export const ArtifactIds = z.array(ArtifactId).max(100_000)

export const Pem = z.string().max(16 * 1024)
export const About = z.object({ version: Id })
export const Addresses = z.array(z.string().max(300)).max(100)
