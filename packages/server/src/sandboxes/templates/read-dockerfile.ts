import { Copy, DockerfileParser, Run } from 'dockerfile-ast'
import { OperationError } from '../../platform/errors.ts'
import { BadWord } from './expand-word.ts'

/** An instruction as it stands in the file, with nothing replaced yet. */
export interface Instruction {
  /** Where it begins, from 1 on. */
  line: number
  keyword: Keyword
  /** What follows the keyword and the flags, on one line; comments within are gone. */
  text: string
  /** The array of strings that `text` is, where it is one. */
  json: string[] | undefined
  flags: { name: string; value: string }[]
  heredocs: HereDocument[]
  /** The bodies of these with their ends, as they follow `text`. */
  bodies: string
}

export interface HereDocument {
  name: string
  content: string
  /** Its variables are replaced: its name is not quoted. */
  expands: boolean
}

export interface Dockerfile {
  /** The character that escapes others. */
  mark: string
  instructions: Instruction[]
}

const keywords = [
  'FROM',
  'ARG',
  'RUN',
  'COPY',
  'ENV',
  'WORKDIR',
  'USER',
  'CMD',
  'ENTRYPOINT',
  'EXPOSE',
  'LABEL',
] as const
export type Keyword = (typeof keywords)[number]
/** What else people write, and what to write here. */
const INSTEAD: Record<string, string> = {
  ADD: 'use COPY; what is on another host is fetched by RUN curl',
  HEALTHCHECK: 'the input "ready" says when its program is ready',
  MAINTAINER: 'leave it out',
  ONBUILD: 'leave it out',
  SHELL: 'give RUN and CMD a list: RUN ["bash", "-c", "..."]',
  STOPSIGNAL: 'leave it out',
  VOLUME: 'leave it out: the whole disk is kept',
}
/** The flags that an instruction may have. */
const FLAGS: Partial<Record<Keyword, string[]>> = { COPY: ['chown', 'chmod'] }
const MOST_INSTRUCTIONS = 200

/** The refusal of a Dockerfile, which names the line. */
export const badDockerfile = (line: number, instruction: string, why: string) =>
  new OperationError('dockerfile_invalid', `Line ${line}, ${instruction}: ${why}`, {
    fields: { line, instruction },
  })

/** Lets what goes wrong with a word name the instruction that it stands in. */
export function inInstruction<T>({ line, keyword }: Pick<Instruction, 'line' | 'keyword'>, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof BadWord) throw badDockerfile(line, keyword, error.message)
    throw error
  }
}

/**
 * Reads the instructions of a Dockerfile. What this service does not build is refused.
 * @throws OperationError `dockerfile_invalid`, with `line` and `instruction`
 */
export function readDockerfile(text: string): Dockerfile {
  const source = text.replaceAll('\r\n', '\n')
  const lines = source.split('\n')
  const parsed = DockerfileParser.parse(source)
  const mark = parsed.getEscapeCharacter()
  const found = parsed.getInstructions()
  if (found.length > MOST_INSTRUCTIONS)
    throw badDockerfile(
      found[MOST_INSTRUCTIONS]!.getRange().start.line + 1,
      found[MOST_INSTRUCTIONS]!.getKeyword(),
      `there are more than ${MOST_INSTRUCTIONS} instructions`,
    )
  const instructions = found.map((each): Instruction => {
    const { start, end } = each.getRange()
    const line = start.line + 1
    const keyword = each.getKeyword() as Keyword
    if (!keywords.includes(keyword))
      throw badDockerfile(
        line,
        keyword.slice(0, 40),
        INSTEAD[keyword] ?? `there is no such instruction here: ${keywords.join(', ')}`,
      )
    const heredocs = each instanceof Run || each instanceof Copy ? each.getHeredocs() : []
    const open = heredocs.find((heredoc) => !heredoc.getDelimiterRange())
    if (open) throw badDockerfile(line, keyword, `${open.getName()} does not end`)
    const first = Math.min(...heredocs.map((heredoc) => heredoc.getStartRange().end.line + 1), end.line + 1)
    const whole = joined(lines.slice(start.line, first), mark).trimStart().slice(keyword.length).trim()
    const { flags, rest } = withoutFlags(whole)
    const allowed = FLAGS[keyword] ?? []
    const wrong = flags.find(({ name }) => !allowed.includes(name))
    if (wrong)
      throw badDockerfile(
        line,
        keyword,
        `--${wrong.name.slice(0, 40)} is not understood${allowed.length > 0 ? `, only --${allowed.join(' and --')}` : ''}`,
      )
    if (rest === '') throw badDockerfile(line, keyword, 'something has to follow it')
    return {
      line,
      keyword,
      text: rest,
      json: listIn(rest),
      flags,
      heredocs: heredocs.map((heredoc) => contentOf(heredoc, lines)),
      bodies: heredocs.length > 0 ? lines.slice(first, end.line + 1).join('\n') : '',
    }
  })
  return { mark, instructions }
}

/** Lines as one: those that end in `mark` go on, and comments between them are left out. */
function joined(lines: readonly string[], mark: string): string {
  let text = ''
  for (const [index, line] of lines.entries()) {
    if (index > 0 && (/^\s*#/.test(line) || line.trim() === '')) continue
    const bare = line.trimEnd()
    text += bare.endsWith(mark) && index < lines.length - 1 ? bare.slice(0, -1) : line
  }
  return text
}

function withoutFlags(text: string): Pick<Instruction, 'flags'> & { rest: string } {
  const flags: Instruction['flags'] = []
  let rest = text
  for (;;) {
    const [whole, name, value] = /^--([a-z][a-z-]*)(?:=(\S*))?(?:\s+|$)/.exec(rest) ?? []
    if (whole === undefined) return { flags, rest }
    flags.push({ name: name!, value: value ?? '' })
    rest = rest.slice(whole.length)
  }
}

/** As in Docker, what is not a list of strings in JSON is text, whatever it looks like. */
function listIn(text: string): string[] | undefined {
  if (!text.startsWith('[')) return undefined
  try {
    const list: unknown = JSON.parse(text)
    if (Array.isArray(list) && list.every((each) => typeof each === 'string')) return list
  } catch {
    // Text.
  }
  return undefined
}

function contentOf(heredoc: ReturnType<Run['getHeredocs']>[number], lines: readonly string[]): HereDocument {
  const { start, end } = heredoc.getStartRange()
  const written = lines[start.line]!.slice(start.character, end.character)
  const last = heredoc.getDelimiterRange()!.start.line
  const content = heredoc.getContentRange()
  const own = content ? lines.slice(content.start.line, last) : []
  const bare = written.startsWith('<<-') ? own.map((line) => line.replace(/^\t+/, '')) : own
  return {
    name: heredoc.getName(),
    content: bare.map((line) => `${line}\n`).join(''),
    expands: !/["']/.test(written),
  }
}
