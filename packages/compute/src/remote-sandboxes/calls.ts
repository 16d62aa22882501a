import type { z } from 'zod'
import type { HostControl } from '../ports/host-control.ts'
import type { SandboxArtifacts } from '../ports/sandbox-artifacts.ts'
import type { CodeContexts, SandboxChannel, SandboxFiles, SandboxTasks } from '../ports/sandbox-channel.ts'
import type { SandboxRuntime } from '../ports/sandbox-runtime.ts'
import * as shape from './shapes.ts'

/*
 * The calls that a service makes of a remote host, a row each: the parameters of the port's function, what it returns, and
 * how long an answer may take. Both halves are made from these rows.
 */

/** The functions of the ports that are asked and answer; what streams is beside them. */
export interface Answering {
  runtime: SandboxRuntime
  tasks: SandboxTasks
  contexts: CodeContexts
  files: Omit<SandboxFiles, 'read' | 'write' | 'watch'>
  channel: Pick<SandboxChannel, 'metrics' | 'history'>
  artifacts: Omit<SandboxArtifacts, 'read' | 'write'>
  control: HostControl
}

export interface CallShape {
  input: readonly z.ZodType[]
  output: z.ZodType
  /** Milliseconds until an answer is given up; from the parameters where they name a time to wait. */
  limitMs: number | ((input: readonly unknown[]) => number)
}

type Rows = { [P in keyof Answering]: { [M in keyof Answering[P]]: CallShape } }

const QUICK_MS = 30_000
/** A busy host makes, saves and wakes machines one after the other. */
const SLOW_MS = 5 * 60_000
/** A task may run to its end: the service lets none be waited for longer. */
const TASK_MS = 120_000

const call = (input: readonly z.ZodType[], output: z.ZodType, limitMs: CallShape['limitMs'] = QUICK_MS) => ({
  input,
  output,
  limitMs,
})

/** @param at the place of the options among the parameters */
const untilRead = (at: number) => (input: readonly unknown[]) => {
  const { waitMs = 0, untilEnd = false } = (input[at] ?? {}) as { waitMs?: number; untilEnd?: boolean }
  return QUICK_MS + (untilEnd ? TASK_MS : Math.min(waitMs, TASK_MS))
}

const { Id, Nothing, Path, Spec } = shape

export const calls: Rows = {
  runtime: {
    ensure: call([Spec], Nothing, SLOW_MS),
    observe: call([], shape.Observed),
    destroy: call([Id], shape.End, SLOW_MS),
    pause: call([Id], Nothing, SLOW_MS),
    resume: call([Id], Nothing, SLOW_MS),
    fork: call([Id, Spec], Nothing, SLOW_MS),
    takeSnapshot: call([Id, Id], shape.Snapshot, SLOW_MS),
    removeSnapshot: call([Id], Nothing),
    keepWarm: call([Id], Nothing, SLOW_MS),
    snapshots: call([], shape.Snapshot.array()),
    applyNetwork: call([Id, shape.Network], Nothing, SLOW_MS),
    hasNetworks: call([], shape.Flag),
    templates: call([], shape.Templates),
    capacity: call([], shape.Capacity),
  },
  tasks: {
    start: call([Id, Id, shape.Request], shape.Started),
    run: call([Id, Id, shape.Request, shape.Reading], shape.Output, untilRead(3)),
    read: call([Id, Id, shape.Offsets, shape.Reading], shape.Output, untilRead(3)),
    write: call([Id, Id, shape.Input, shape.Writing], Nothing, SLOW_MS),
    signal: call([Id, Id, shape.Signal], Nothing),
    resize: call([Id, Id, shape.Terminal], Nothing),
    list: call([Id], shape.Tasks),
    remove: call([Id, Id], Nothing),
  },
  contexts: {
    create: call([Id, Id, shape.NewContext], Nothing),
    list: call([Id], shape.Contexts),
    restart: call([Id, Id], Nothing),
    remove: call([Id, Id], Nothing),
  },
  files: {
    stat: call([Id, Path, shape.AsUser], shape.File),
    list: call([Id, Path, shape.Listing], shape.Files),
    makeFolder: call([Id, Path, shape.AsUser], shape.Made),
    move: call([Id, Path, Path, shape.AsUser], Nothing),
    remove: call([Id, Path, shape.AsUser], Nothing),
  },
  channel: {
    metrics: call([Id], shape.Metrics),
    history: call([Id, shape.Between], shape.Samples),
  },
  artifacts: {
    list: call([], shape.ArtifactIds),
    describe: call([shape.ArtifactId], shape.Artifact, SLOW_MS),
    complete: call([shape.Artifact], Nothing, SLOW_MS),
  },
  control: {
    about: call([], shape.About),
    requestCertificate: call([], shape.Pem),
    installCertificate: call([shape.Pem], Nothing),
    setServices: call([shape.Addresses], Nothing),
  },
}

/** The parameters of what streams, which go before it. */
export const streams = {
  'files/read': [Id, Path, shape.FileReading],
  'files/write': [Id, Path, shape.FileWriting],
  'files/watch': [Id, Path, shape.Watching],
  'channel/connect': [Id, shape.Port],
  'artifacts/read': [shape.ArtifactId, shape.FileName],
  'artifacts/write': [shape.ArtifactId, shape.ArtifactFile],
} satisfies Record<string, readonly z.ZodType[]>

export type StreamName = keyof typeof streams

/**
 * The parameters as they were given, checked one by one; what was left out at the end is undefined.
 * @throws ZodError, RangeError
 */
export function checkInput(shapes: readonly z.ZodType[], given: unknown): unknown[] {
  if (!Array.isArray(given) || given.length > shapes.length)
    throw new RangeError('Other parameters than these')
  return shapes.map((each, index) => each.parse(given[index] ?? undefined))
}
