import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'

type Code = Output<Operations['runCode']>

/** What a program does, once a test has said so: nothing runs in a mock. */
export interface Program {
  /** Pieces are written, and streamed, one after the other. */
  stdout?: string | string[]
  stderr?: string | string[]
  /** Default 0. */
  exit_code?: number
  /** How long it takes, on the mock's clock. */
  seconds?: number
  /** What code showed, and how it failed. */
  results?: Code['results']
  error?: Code['error']
  /** In the background it goes on, and this is what it writes when it is typed into; undefined ends it. */
  onInput?: (text: string) => string | undefined
}

/** What is run where. */
export interface Run {
  /** The command, or the code. */
  text: string
  /** For code. */
  language?: string
  /** The sandbox or VPS. */
  id: string
  input: string
  env: Record<string, string>
  /** The files there, by their absolute paths: a program may read and write them. */
  files: Map<string, Uint8Array>
}

/** A program of which nothing is said ends well, and writes nothing. */
export type Programs = (run: Run) => Program | undefined

export const pieces = (output: string | string[] | undefined) =>
  typeof output === 'string' ? [output] : (output ?? [])
