import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { type ContextEntry, matching } from './context-entry.ts'
import { BadWord, expandWord, splitWords } from './expand-word.ts'
import { isPattern } from './fit-pattern.ts'
import {
  badDockerfile,
  type Dockerfile,
  type Instruction,
  inInstruction,
  readDockerfile,
} from './read-dockerfile.ts'

/** The state that a build begins in. */
export interface BuildBase {
  /** Stands for all that is in it. */
  digest: string
  env: Record<string, string>
  user: string | null
  workdir: string | null
}

/** Something to do in the sandbox of a build, with all variables replaced. */
export type Step = { line: number; title: string; digest: string } & (
  | { kind: 'run'; run: Program; user: string; cwd: string; env: Record<string, string> }
  | { kind: 'copy'; copy: CopyWish }
  | { kind: 'folder'; path: string }
  | { kind: 'note'; text: string }
)

/** A program with its arguments, or what a shell does. */
export type Program = { program: string[] } | { script: string }

export interface CopyWish {
  line: number
  /** Patterns in the context. */
  sources: string[]
  /** Files that stand in the Dockerfile itself. */
  inline: { name: string; content: string }[]
  /** Absolute. */
  target: string
  /** The target is a folder, whatever is there. */
  intoFolder: boolean
  owner: string | undefined
  mode: number | undefined
}

export interface BuildPlan {
  steps: Step[]
  /** What sandboxes of the template begin with. */
  env: Record<string, string>
  user: string | null
  workdir: string | null
  /** The program that runs in them. */
  start: { run: Program; user: string; cwd: string; env: Record<string, string> } | null
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const MOST_ENV_BYTES = 16_384
const TITLE = 200

/** What a Dockerfile is built on, with the values of its arguments in place. @throws OperationError `dockerfile_invalid` */
export function baseOf(
  file: Dockerfile,
  args: Readonly<Record<string, string>>,
): { name: string; line: number } {
  const globals = globalArgs(file, args)
  const from = file.instructions.find(({ keyword }) => keyword === 'FROM')
  if (!from) throw badDockerfile(1, 'FROM', 'there is none')
  const another = file.instructions.find((each) => each.keyword === 'FROM' && each !== from)
  if (another) throw badDockerfile(another.line, 'FROM', 'there can be one only: builds have one stage')
  const early = file.instructions.find(
    ({ keyword, line }) => line < from.line && keyword !== 'ARG' && keyword !== 'FROM',
  )
  if (early) throw badDockerfile(early.line, early.keyword, 'only ARG may stand before FROM')
  const [name = '', as, stage] = words(from, globals, file.mark)
  if (as !== undefined && (as.toLowerCase() !== 'as' || stage === undefined))
    throw badDockerfile(from.line, 'FROM', 'the name of one template has to follow it')
  return { name, line: from.line }
}

/** The values of the arguments that stand before FROM. */
function globalArgs({ instructions, mark }: Dockerfile, args: Readonly<Record<string, string>>) {
  const known: Record<string, string> = {}
  for (const each of instructions) {
    if (each.keyword === 'FROM') return known
    if (each.keyword === 'ARG')
      for (const { name, value } of assigned(each, known, mark)) known[name] = args[name] ?? value ?? ''
  }
  return known
}

/**
 * Says what has to be done for a Dockerfile. Each step has a digest of all that the state after it is the result of: base,
 * instructions, values and copied files.
 * @param text the Dockerfile
 * @param args the values of its arguments
 * @param context the files that it may copy
 * @throws OperationError `dockerfile_invalid`, with `line` and `instruction`
 */
export function planBuild(
  text: string,
  args: Readonly<Record<string, string>>,
  base: BuildBase,
  context: readonly ContextEntry[],
): BuildPlan {
  const file = readDockerfile(text)
  const { mark } = file
  baseOf(file, args)
  const globals = globalArgs(file, args)
  const env: Record<string, string> = { PATH, ...base.env }
  const own: Record<string, string> = {}
  let user = base.user
  let cwd = base.workdir ?? '/'
  let workdir = base.workdir
  let command: Program | undefined
  let entrypoint: Program | undefined
  let digest = base.digest
  const steps: Step[] = []
  const used = new Set(Object.keys(globals))
  const variables = () => ({ ...own, ...env })
  const add = (instruction: Instruction, does: object, facts: unknown) => {
    digest = createHash('sha256')
      .update(JSON.stringify([digest, facts]))
      .digest('hex')
    const { line } = instruction
    steps.push({ line, title: titleOf(instruction), digest, ...does } as Step)
  }
  const asUser = () => user ?? 'root'

  for (const each of file.instructions) {
    const { line, keyword } = each
    switch (keyword) {
      case 'FROM':
        break
      case 'ARG':
        if (line < file.instructions.find((other) => other.keyword === 'FROM')!.line) break
        for (const { name, value } of assigned(each, variables(), mark)) {
          used.add(name)
          const given = args[name] ?? value ?? globals[name]
          if (given !== undefined) own[name] = given
        }
        break
      case 'ENV':
        for (const { name, value } of assigned(each, variables(), mark)) env[name] = value ?? ''
        if (Buffer.byteLength(JSON.stringify(env)) > MOST_ENV_BYTES)
          throw badDockerfile(line, keyword, 'the variables are more than 16 KiB')
        break
      case 'WORKDIR':
        cwd = posix.resolve(cwd, word(each, variables(), mark))
        workdir = cwd
        add(each, { kind: 'folder', path: cwd }, ['folder', cwd])
        break
      case 'USER':
        user = userIn(each, word(each, variables(), mark))
        break
      case 'RUN': {
        const run = programOf(each)
        const all = withoutUsualPath({ ...own, ...env })
        add(each, { kind: 'run', run, user: asUser(), cwd, env: all }, [
          'run',
          run,
          asUser(),
          cwd,
          sorted(all),
        ])
        break
      }
      case 'COPY': {
        const copy = copyOf(each, variables(), mark, cwd)
        const files = copy.sources.map((source) => matching(context, source))
        for (const [index, found] of files.entries())
          if (found.length === 0)
            throw badDockerfile(
              line,
              keyword,
              `no file of the context is ${copy.sources[index]!.slice(0, 200)}`,
            )
        add(each, { kind: 'copy', copy }, ['copy', { ...copy, line: 0 }, files])
        break
      }
      case 'CMD':
        command = programOf(each)
        break
      case 'ENTRYPOINT':
        entrypoint = programOf(each)
        command = undefined
        break
      case 'EXPOSE':
        add(each, { kind: 'note', text: 'ports of a sandbox are opened by expose_port' }, ['note'])
        break
      case 'LABEL':
        break
    }
  }
  const unknown = Object.keys(args).find((name) => !used.has(name))
  if (unknown !== undefined) throw badDockerfile(1, 'ARG', `no ARG is named ${unknown}`)
  const kept = withoutUsualPath(env)
  const run = joinPrograms(entrypoint, command)
  return {
    steps,
    env: kept,
    user,
    workdir,
    start: run ? { run, user: asUser(), cwd, env: kept } : null,
  }
}

/** A program finds its own user's commands too, unless the file says where commands are. */
function withoutUsualPath({ PATH: path, ...rest }: Record<string, string>): Record<string, string> {
  return path === undefined || path === PATH ? rest : { PATH: path, ...rest }
}

/** As Docker does: what is run is ENTRYPOINT with CMD as its arguments, where both are lists. */
export function joinPrograms(entrypoint: Program | undefined, command: Program | undefined): Program | null {
  if (!entrypoint) return command ?? null
  if ('script' in entrypoint || !command) return entrypoint
  return {
    program: [
      ...entrypoint.program,
      ...('program' in command ? command.program : ['/bin/sh', '-c', command.script]),
    ],
  }
}

/** NAME=value words, or the older form `NAME value`. */
function assigned(
  instruction: Instruction,
  variables: Record<string, string>,
  mark: string,
): { name: string; value: string | undefined }[] {
  const { keyword, text, line } = instruction
  return inInstruction(instruction, () => {
    const old = keyword === 'ENV' ? /^([^\s=]+)\s+(.*)$/.exec(text) : null
    const pairs = old
      ? [{ name: old[1]!, value: expandWord(old[2]!, variables, mark) }]
      : splitWords(text, mark).map((each) => {
          const at = each.indexOf('=')
          if (at < 0 && keyword === 'ENV') throw new BadWord('expected NAME=value')
          return at < 0
            ? { name: each, value: undefined }
            : { name: each.slice(0, at), value: expandWord(each.slice(at + 1), variables, mark) }
        })
    const wrong = pairs.find(({ name }) => !/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name))
    if (wrong)
      throw badDockerfile(line, keyword, `${wrong.name.slice(0, 60)} cannot be the name of a variable`)
    return pairs
  })
}

const words = (instruction: Instruction, variables: Record<string, string>, mark: string) =>
  inInstruction(instruction, () =>
    splitWords(instruction.text, mark).map((each) => expandWord(each, variables, mark)),
  )

/** The only word. */
function word(instruction: Instruction, variables: Record<string, string>, mark: string): string {
  const text = inInstruction(instruction, () => expandWord(instruction.text, variables, mark)).trim()
  if (text === '' || text.includes('\0'))
    throw badDockerfile(instruction.line, instruction.keyword, 'it is empty')
  return text
}

function userIn({ line, keyword }: Instruction, text: string): string {
  const [name = '', group] = text.split(':')
  if (!/^([a-z_][a-z0-9_-]{0,31}|\d{1,9})$/.test(name))
    throw badDockerfile(line, keyword, `${text.slice(0, 40)} is no name of a user`)
  if (group !== undefined && group !== name)
    throw badDockerfile(line, keyword, 'a group cannot be chosen: programs have the groups of their user')
  return name
}

/** The shell form as a script, and the other as it is; a here-document alone is the script itself. */
function programOf({ line, keyword, text, json, heredocs, bodies }: Instruction): Program {
  if (json) {
    if (json.length === 0 || json[0] === '') throw badDockerfile(line, keyword, 'the list is empty')
    return { program: json }
  }
  if (heredocs.length === 0) return { script: text }
  if (heredocs.length === 1 && /^<<-?\s*["']?\w+["']?$/.test(text)) return { script: heredocs[0]!.content }
  return { script: `${text}\n${bodies}\n` }
}

function copyOf(
  instruction: Instruction,
  variables: Record<string, string>,
  mark: string,
  cwd: string,
): CopyWish {
  const { line, keyword, json, heredocs, flags } = instruction
  const all = json
    ? inInstruction(instruction, () => json.map((each) => expandWord(each, variables, mark)))
    : words(instruction, variables, mark)
  const inline = heredocs.map(({ name, content, expands }) => ({
    name,
    content: expands ? inInstruction(instruction, () => expandText(content, variables, mark)) : content,
  }))
  const target = all.at(-1)
  const sources = all.slice(0, -1).filter((source) => !source.startsWith('<<'))
  if (target === undefined || target.startsWith('<<') || sources.length + inline.length === 0)
    throw badDockerfile(line, keyword, 'expected sources and a target')
  const flag = (name: string) => {
    const found = flags.find((each) => each.name === name)
    return found && inInstruction(instruction, () => expandWord(found.value, variables, mark))
  }
  const owner = flag('chown')
  if (owner !== undefined && !/^[\w-]{1,32}(:[\w-]{1,32})?$/.test(owner))
    throw badDockerfile(line, keyword, `--chown=${owner.slice(0, 60)}: expected user or user:group`)
  const mode = flag('chmod')
  if (mode !== undefined && !/^0?[0-7]{3,4}$/.test(mode))
    throw badDockerfile(line, keyword, `--chmod=${mode.slice(0, 60)}: expected octal digits`)
  const several = sources.length + inline.length > 1 || sources.some(isPattern)
  return {
    line,
    sources,
    inline,
    target: posix.resolve(cwd, target),
    intoFolder: several || /(^|\/)\.{0,2}$/.test(target),
    owner,
    mode: mode === undefined ? undefined : Number.parseInt(mode, 8),
  }
}

/** A text in which variables are replaced and quotes are letters like any other. */
function expandText(text: string, variables: Record<string, string>, mark: string): string {
  const plain = text.replaceAll(/["']/g, (quote) => `${mark}${quote}`)
  return expandWord(plain, variables, mark)
}

const titleOf = ({ keyword, text }: Instruction) => {
  const title = `${keyword} ${text}`
  return title.length > TITLE ? `${title.slice(0, TITLE)}...` : title
}

const sorted = (values: Record<string, string>) =>
  Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1))
