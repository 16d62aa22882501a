import { OperationError } from '../../platform/errors.ts'
import { giveFolder, untilSucceeds } from './guest-scripts.ts'
import type { StartOfBuild, TemplateStep } from './shapes.ts'

/** What the first step of a build is carried out as. */
export interface BuildsOn {
  /** As FROM names it. */
  name: string
  user: string
  workdir: string
}

/** A build as our own builder takes it. */
export interface WrittenBuild {
  dockerfile: string
  /** What has to succeed before the program of the template counts as ready; null without a program. */
  ready: string | null
  /** The folders of the context that COPY reads. */
  folders: string[]
}

const HASH = /^[0-9a-f]{8,128}$/
const HOME = '/home/user'
/** How long a command may take to succeed that has no program to wait for. */
const READY_S = 120

/**
 * Writes the steps of a client as a Dockerfile. A comment before each says its place among them, from 1 on.
 * @throws OperationError `invalid_input`
 */
export function writeDockerfile(build: StartOfBuild, on: BuildsOn): WrittenBuild {
  const lines = [`FROM ${on.name}`, `USER ${on.user}`, `WORKDIR ${quoted(on.workdir)}`]
  const folders = new Set<string>()
  let { user } = on
  const asUser = (name: string, line: string) =>
    name === user ? [line] : [`USER ${oneWord(name)}`, line, `USER ${user}`]
  for (const [index, step] of build.steps.entries()) {
    lines.push(`${STEP}${index + 1}`)
    const [first = '', second = '', third = '', mode = ''] = step.args
    switch (step.type) {
      case 'RUN':
        lines.push(...asUser(second || user, `RUN ${byBash(first)}`))
        break
      case 'ENV':
        lines.push(...variables(step))
        break
      case 'USER':
        user = oneWord(first)
        lines.push(`USER ${user}`)
        break
      case 'WORKDIR':
        lines.push(`WORKDIR ${quoted(first)}`)
        // A new folder is root's, and the user of the template is to work in it.
        if (user !== 'root' && first !== HOME)
          lines.push('USER root', `RUN ${list('/bin/sh', '-c', giveFolder, 'sh', user)}`, `USER ${user}`)
        break
      case 'COPY': {
        const folder = step.filesHash ?? ''
        if (!HASH.test(folder)) throw bad(`step ${index + 1}, COPY: its files have no hash`)
        folders.add(folder)
        const flags = [`--chown=${oneWord(third || user)}`, ...(mode ? [`--chmod=${oneWord(mode)}`] : [])]
        lines.push(
          `COPY ${flags.join(' ')} ${list(literal(`${folder}/${first.replace(/^\.?\/+/, '')}`), literal(second))}`,
        )
        break
      }
      default:
        throw bad(
          `step ${index + 1}: there are RUN, COPY, ENV, USER and WORKDIR, and no ${step.type.slice(0, 40)}`,
        )
    }
  }
  const { startCmd, readyCmd } = build
  lines.push(FINAL)
  if (startCmd) lines.push(`CMD ${byBash(startCmd)}`)
  else if (readyCmd)
    lines.push(
      `RUN ${list('/usr/bin/timeout', String(READY_S), '/bin/bash', '-lc', untilSucceeds(readyCmd))}`,
    )
  return {
    dockerfile: `${lines.join('\n')}\n`,
    ready: startCmd && readyCmd ? `/bin/bash -l -c ${forShell(readyCmd)}` : null,
    folders: [...folders],
  }
}

const STEP = '# step '
const FINAL = '# final'

/**
 * The place of the step that a build failed at, as clients name it: its number, `base` before the first, `finalize` after the
 * last; undefined where the reason names no line.
 */
export function stepOf(dockerfile: string, reason: string): string | undefined {
  const line = /^Line (\d+),/.exec(reason)?.[1]
  if (line === undefined) return reason.startsWith('CMD') ? 'finalize' : undefined
  const before = dockerfile.split('\n').slice(0, Number(line))
  const mark = before.findLast((each) => each.startsWith(STEP) || each === FINAL)
  if (mark === undefined) return 'base'
  return mark === FINAL ? 'finalize' : mark.slice(STEP.length)
}

/** What a login shell does, in the form of a list: it has any text, on one line. */
const byBash = (command: string) => list('/bin/bash', '-l', '-c', command)

/** Without `<`, in which a parser of Dockerfiles sees the beginning of a here-document. */
const list = (...words: string[]) => JSON.stringify(words).replaceAll('<', '\\u003c')

/** Each by itself, so that the next may be made of it. */
function variables({ args }: TemplateStep): string[] {
  const pairs: string[] = []
  for (let at = 0; at < args.length; at += 2) {
    const [name = '', value = ''] = args.slice(at, at + 2)
    pairs.push(`ENV ${oneWord(name)}=${quoted(value)}`)
  }
  return pairs
}

/** A word in which variables are replaced and all else is as it stands. */
function quoted(text: string): string {
  if (/[\r\n]/.test(text)) throw bad('a value of several lines cannot be kept: write it to a file')
  return `"${text.replaceAll(/["\\]/g, (letter) => `\\${letter}`)}"`
}

/** A word in which nothing is replaced. */
const literal = (text: string) => text.replaceAll(/["'\\$]/g, (letter) => `\\${letter}`)

function oneWord(text: string): string {
  if (/^[\w.:-]{1,200}$/.test(text)) return text
  throw bad(`${text.slice(0, 60) || 'an empty text'} is no name here`)
}

const forShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const bad = (message: string) => new OperationError('invalid_input', `The template: ${message}`)
