import { expect, test } from 'vitest'
import { OperationError } from '../../platform/errors.ts'
import type { ContextEntry } from './context-entry.ts'
import { planBuild, type Step } from './plan-build.ts'

const base = { digest: 'base micro', env: {}, user: null, workdir: null }
const file = (path: string, content = path): ContextEntry => ({ path, type: 'file', mode: 0o644, content })
const context = [file('app.py'), file('src/a.py'), file('src/lib/b.py'), file('README.md')]
const plan = (text: string, args = {}, files = context) => planBuild(text, args, base, files)
const runs = (steps: Step[]) => steps.flatMap((step) => (step.kind === 'run' ? [step] : []))
const scripts = (text: string, args = {}) =>
  runs(plan(text, args).steps).map(({ run }) => ('script' in run ? run.script : run.program))

test('default: what people write', () => {
  const { steps, env, user, workdir, start } = plan(`# syntax=docker/dockerfile:1
FROM base
ARG VERSION=1.0
ENV APP_HOME=/app MODE="in use"
WORKDIR $APP_HOME
COPY app.py ./
RUN apt-get update && \\
    # What it needs
    apt-get install -y \\
      curl

RUN pip install probe==\${VERSION}
LABEL maintainer=me
EXPOSE 8000
USER user
CMD ["python3", "app.py"]
`)
  expect(steps.map(({ kind }) => kind)).toEqual(['folder', 'copy', 'run', 'run', 'note'])
  expect(scripts(`FROM base\nRUN a && \\\n  # c\n  b`)).toEqual(['a &&   b'])
  expect(runs(steps)[1]).toMatchObject({
    line: 12,
    run: { script: `pip install probe==\${VERSION}` },
    user: 'root',
    cwd: '/app',
    env: { VERSION: '1.0', APP_HOME: '/app', MODE: 'in use' },
  })
  expect(env).toEqual({ APP_HOME: '/app', MODE: 'in use' })
  expect({ user, workdir }).toEqual({ user: 'user', workdir: '/app' })
  expect(start).toEqual({ run: { program: ['python3', 'app.py'] }, user: 'user', cwd: '/app', env })
})

test('default: arguments are given, have values, or are declared before FROM', () => {
  const text = `ARG BASE=base\nARG OTHER=global\nFROM \${BASE}\nARG OTHER\nARG OWN=own\nRUN x`
  expect(runs(plan(text).steps)[0]!.env).toMatchObject({ OTHER: 'global', OWN: 'own' })
  expect(runs(plan(text, { OWN: 'given' }).steps)[0]!.env).toMatchObject({ OWN: 'given' })
})

test('default: here-documents are scripts, inputs of commands, and files', () => {
  expect(scripts('FROM base\nRUN <<EOF\necho 1\necho 2\nEOF')).toEqual(['echo 1\necho 2\n'])
  expect(scripts("FROM base\nRUN cat <<'X' > /f\na $b\nX\nRUN two")).toEqual([
    "cat <<'X' > /f\na $b\nX\n",
    'two',
  ])
  const [copy] = plan('FROM base\nENV A=one\nCOPY <<a.txt <<"b.txt" /d/\n$A\na.txt\n$A\nb.txt\n').steps
  expect(copy).toMatchObject({
    copy: {
      target: '/d',
      inline: [
        { name: 'a.txt', content: 'one\n' },
        { name: 'b.txt', content: '$A\n' },
      ],
    },
  })
})

test.each([
  ['COPY app.py /x', { target: '/x', intoFolder: false }],
  ['COPY app.py README.md /x', { target: '/x', intoFolder: true }],
  ['COPY *.py .', { target: '/', intoFolder: true }],
  ['WORKDIR /w\nCOPY app.py ./d/', { target: '/w/d', intoFolder: true }],
  ['COPY ["app.py", "/a b"]', { target: '/a b' }],
  ['COPY --chown=user:user --chmod=0755 app.py /x', { owner: 'user:user', mode: 0o755 }],
])('default: %s', (text, expected) => {
  expect(plan(`FROM base\n${text}`).steps.at(-1)).toMatchObject({ copy: expected })
})

test.each([
  ['CMD a b', { script: 'a b' }],
  ['ENTRYPOINT ["a"]\nCMD ["b"]', { program: ['a', 'b'] }],
  ['CMD ["b"]\nENTRYPOINT ["a"]', { program: ['a'] }],
  ['ENTRYPOINT a', { script: 'a' }],
  ['CMD ["a", 1]', { script: '["a", 1]' }],
])('default: %j starts %j', (text, run) => {
  expect(plan(`FROM base\n${text}`).start?.run).toEqual(run)
})

test('behavior: a digest is that of all that came before, and of the copied files alone', () => {
  const digests = (text: string, files = context) => plan(text, {}, files).steps.map(({ digest }) => digest)
  const text = 'FROM base\nCOPY src /s\nRUN a\nRUN b'
  const before = digests(text)
  expect(digests(text)).toEqual(before)
  expect(digests(text, [file('app.py', 'other'), ...context.slice(1)])).toEqual(before)
  expect(digests(text, [file('src/a.py', 'other'), context[2]!])).not.toContain(before[0])
  expect(digests('FROM base\nCOPY src /s\nRUN a\nRUN c').map((each, at) => each === before[at])).toEqual([
    true,
    true,
    false,
  ])
  expect(digests('FROM base\nENV A=1\nCOPY src /s\nRUN a').map((each, at) => each === before[at])).toEqual([
    true,
    false,
  ])
})

test.each<[string, number, string, RegExp]>([
  ['', 1, 'FROM', /there is none/],
  ['RUN a', 1, 'FROM', /there is none/],
  ['RUN a\nFROM base', 1, 'RUN', /only ARG/],
  ['FROM base\nFROM base', 2, 'FROM', /one only/],
  ['FROM base b c', 1, 'FROM', /one template/],
  ['FROM base\nADD x /y', 2, 'ADD', /use COPY/],
  ['FROM base\n\n# hi\nVOLUME /x', 4, 'VOLUME', /whole disk/],
  ['FROM base\nHEALTHCHECK CMD true', 2, 'HEALTHCHECK', /ready/],
  ['FROM base\nSHELL ["bash"]', 2, 'SHELL', /list/],
  ['FROM base\nFOO bar', 2, 'FOO', /no such instruction/],
  ['FROM base\nRUN --mount=type=cache,target=/x a', 2, 'RUN', /--mount/],
  ['FROM --platform=linux/amd64 base', 1, 'FROM', /--platform/],
  ['FROM base\nCOPY --from=build /a /b', 2, 'COPY', /--from/],
  ['FROM base\nCOPY none.txt /x', 2, 'COPY', /no file of the context is none.txt/],
  ['FROM base\nCOPY ../x /x', 2, 'COPY', /no file/],
  ['FROM base\nCOPY app.py', 2, 'COPY', /sources and a target/],
  ['FROM base\nCOPY --chmod=rwx app.py /x', 2, 'COPY', /octal/],
  ['FROM base\nCOPY --chown=a:b:c app.py /x', 2, 'COPY', /user/],
  ['FROM base\nENV A', 2, 'ENV', /NAME=value/],
  ['FROM base\nENV 1A=b', 2, 'ENV', /1A/],
  ['FROM base\nENV A="b', 2, 'ENV', /" is missing/],
  [`FROM base\nENV A=\${B`, 2, 'ENV', /\$\{B/],
  ['FROM base\nUSER a b', 2, 'USER', /no name of a user/],
  ['FROM base\nUSER user:staff', 2, 'USER', /group/],
  ['FROM base\nWORKDIR $NONE', 2, 'WORKDIR', /empty/],
  ['FROM base\nRUN', 2, 'RUN', /has to follow/],
  ['FROM base\nRUN <<EOF\necho', 2, 'RUN', /EOF does not end/],
  ['FROM base\nCMD []', 2, 'CMD', /empty/],
  [`FROM base\nENV A=${'x'.repeat(17_000)}`, 2, 'ENV', /16 KiB/],
  [`FROM base\n${'RUN a\n'.repeat(200)}`, 201, 'RUN', /more than 200/],
])('error: %j', (text, line, instruction, why) => {
  const refusal = (() => {
    try {
      plan(text)
      return undefined
    } catch (error) {
      return error
    }
  })()
  expect(refusal).toBeInstanceOf(OperationError)
  const { code, message, options } = refusal as OperationError
  expect({ code, ...options.fields }).toEqual({ code: 'dockerfile_invalid', line, instruction })
  expect(message).toMatch(why)
})

test('error: a value for an argument that there is not', () => {
  expect(() => plan('FROM base', { NONE: '1' })).toThrow(/no ARG is named NONE/)
})

test('behavior: whatever is sent is read or refused', () => {
  const pieces = [
    'FROM base',
    'RUN',
    '<<E',
    'E',
    '\\',
    '#',
    '"',
    "'",
    `\${`,
    '}',
    '\n',
    '\t',
    ' ',
    '[',
    ']',
    'COPY',
    '\0',
    '`',
    '# escape=`',
  ]
  let seed = 1
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % below
  }
  for (let count = 0; count < 3_000; count++) {
    const text = Array.from({ length: next(12) }, () => pieces[next(pieces.length)]).join('')
    try {
      plan(text)
    } catch (error) {
      expect(error, JSON.stringify(text)).toBeInstanceOf(OperationError)
    }
  }
})
