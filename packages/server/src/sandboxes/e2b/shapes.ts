import { z } from 'zod'
import { OperationError } from '../../platform/errors.ts'

/*
 * The bodies that E2B's clients send, as far as they are read here. What is not named is left unread: clients of other
 * versions send more.
 */

const Texts = z.record(z.string(), z.string())
const Seconds = z.number().nonnegative()

/** https://github.com/e2b-dev/E2B/blob/main/spec/openapi.yml: `NewSandbox`, and `NewSandboxV2` of later clients. */
export const NewSandbox = z.object({
  templateID: z.string().min(1).max(200),
  timeout: Seconds.optional(),
  metadata: Texts.nullish(),
  envVars: Texts.nullish(),
  autoPause: z.boolean().nullish(),
  autoPauseMemory: z.boolean().nullish(),
  autoResume: z.object({ enabled: z.boolean().nullish() }).nullish(),
  allow_internet_access: z.boolean().nullish(),
  network: z
    .object({
      allowOut: z.array(z.string()).nullish(),
      denyOut: z.array(z.string()).nullish(),
      allowPublicTraffic: z.boolean().nullish(),
      rules: z.record(z.string(), z.unknown()).nullish(),
      egressProxy: z.unknown().optional(),
      maskRequestHost: z.unknown().optional(),
      httpsPorts: z.array(z.unknown()).nullish(),
    })
    .nullish(),
  mcp: z.unknown().optional(),
  iam: z.unknown().optional(),
  volumeMounts: z.array(z.unknown()).nullish(),
})
export type NewSandbox = z.output<typeof NewSandbox>

export const Connecting = z.object({ timeout: Seconds.nullish(), memory: z.boolean().nullish() })
export const NewTimeout = z.object({ timeout: Seconds })
export const Pausing = z.object({ memory: z.boolean().nullish() })
export const Forking = z.object({ timeout: Seconds.nullish(), count: z.number().int().min(1).nullish() })
export const NewSnapshot = z.object({ name: z.string().nullish() })
export const NetworkRules = z.object({
  allowOut: z.array(z.string()).nullish(),
  denyOut: z.array(z.string()).nullish(),
  allow_internet_access: z.boolean().nullish(),
  rules: z.record(z.string(), z.unknown()).nullish(),
  egressProxy: z.unknown().optional(),
})

/** `TemplateBuildRequestV3` and `TemplateBuildStartV2` of the same. Clients before 2.6 name a template by `alias`. */
export const NewTemplate = z.object({
  name: z.string().max(200).nullish(),
  alias: z.string().max(200).nullish(),
  tags: z.array(z.string()).nullish(),
  cpuCount: z.number().positive().nullish(),
  memoryMB: z.number().positive().nullish(),
  minFreeDiskMb: z.number().nonnegative().nullish(),
})
export type NewTemplate = z.output<typeof NewTemplate>
export const TemplateStep = z.object({
  type: z.string(),
  args: z.array(z.string()).default([]),
  filesHash: z.string().nullish(),
  force: z.boolean().nullish(),
})
export type TemplateStep = z.output<typeof TemplateStep>
export const StartOfBuild = z.object({
  fromImage: z.string().nullish(),
  fromTemplate: z.string().nullish(),
  fromImageRegistry: z.unknown().optional(),
  steps: z.array(TemplateStep).default([]),
  startCmd: z.string().nullish(),
  readyCmd: z.string().nullish(),
  force: z.boolean().nullish(),
})
export type StartOfBuild = z.output<typeof StartOfBuild>

const Size = z.object({ cols: z.number().int().positive(), rows: z.number().int().positive() })
/** The process that is meant; names of fields as protobuf's JSON has them. */
const Selected = z.object({ pid: z.number().int().optional(), tag: z.string().optional() })

/** https://github.com/e2b-dev/E2B/blob/main/spec/envd/process/process.proto */
export const Start = z.object({
  process: z.object({
    cmd: z.string().min(1),
    args: z.array(z.string()).default([]),
    envs: Texts.default({}),
    cwd: z.string().optional(),
  }),
  pty: z.object({ size: Size }).optional(),
  stdin: z.boolean().default(true),
})
export const Connect = z.object({ process: Selected })
export const SendInput = z.object({
  process: Selected,
  input: z.object({ stdin: z.base64().optional(), pty: z.base64().optional() }),
})
export const SendSignal = z.object({
  process: Selected,
  signal: z.union([z.literal(['SIGNAL_SIGKILL', 9]), z.literal(['SIGNAL_SIGTERM', 15])]),
})
export const Update = z.object({ process: Selected, pty: z.object({ size: Size }).optional() })

/** https://github.com/e2b-dev/E2B/blob/main/spec/envd/filesystem/filesystem.proto */
export const AtPath = z.object({ path: z.string().default('') })
export const Move = z.object({ source: z.string(), destination: z.string() })
export const ListDir = z.object({
  path: z.string().default(''),
  depth: z.number().int().nonnegative().default(1),
})
export const Watch = z.object({ path: z.string().default(''), recursive: z.boolean().default(false) })
export const OfWatcher = z.object({ watcherId: z.string() })

/** https://github.com/e2b-dev/code-interpreter, template/server/api/models */
export const Execute = z.object({
  code: z.string(),
  context_id: z.string().nullish(),
  language: z.string().nullish(),
  env_vars: Texts.nullish(),
})
export const NewContext = z.object({ language: z.string().nullish(), cwd: z.string().nullish() })

/** @throws OperationError `malformed_json`, `invalid_input` */
export function readJson<T extends z.ZodType>(shape: T, text: string): z.output<T> {
  let value: unknown
  try {
    value = text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    throw new OperationError('malformed_json', 'The body is not JSON')
  }
  const read = shape.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new OperationError('invalid_input', `${issue!.path.join('.') || 'body'}: ${issue!.message}`)
}
