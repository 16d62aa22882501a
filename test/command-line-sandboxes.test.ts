import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { runProcess, startCommand } from './support/command-line.ts'
import { ok, startCustomersOfCommands } from './support/command-line-customers.ts'

/*
 * The command line of customers against a service with real database and chains, whose machines are fakes: sandboxes, and the shells that it is used in.
 */

vi.setConfig({ testTimeout: 120_000 })

type Shared = Awaited<ReturnType<typeof startCustomersOfCommands>>
let customer: Shared['customer']
let stop: Shared['stop']
beforeAll(async () => {
  ;({ customer, stop } = await startCustomersOfCommands())
}, 60_000)
afterAll(() => stop?.())

describe('sandboxes', () => {
  test('default: a script runs in a new one, with its words, input and exit code, and nothing is left', async () => {
    const { run, home: own } = await customer(1_000_000n)
    const script = join(own, 'add.py')
    await writeFile(script, 'import sys\nprint(sum(map(int, sys.argv[1:])), sys.stdin.read())\nsys.exit(5)\n')
    const ran = await run(['run', '-i', script, '20', '22'], { input: 'given' })
    expect(ran).toEqual({ exitCode: 5, stdout: '42 given\n', stderr: '' })
    const typed = await ok(
      run(['run', '--language', 'bash', '-e', 'NAME=Ada', '-'], { input: 'echo "hello $NAME"' }),
    )
    expect(typed.stdout).toBe('hello Ada\n')
    expect((await ok(run(['sandbox', 'list', '--json']))).stdout).toBe('[]\n')
    const asJson = JSON.parse((await run(['run', '--json', script, '1'])).stdout)
    expect(asJson).toMatchObject({ exit_code: 5, stdout: '1 \n', timed_out: false })
  })

  test('behavior: interrupted, a script ends and its sandbox with it', async () => {
    const { env, home: own, client } = await customer(1_000_000n)
    const script = join(own, 'wait.sh')
    await writeFile(script, 'echo begun\nsleep 60\n')
    const running = startCommand(['run', script], { env, input: '' })
    await running.until('begun')
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(130)
    expect((await client.listSandboxes()).items).toEqual([])
  })

  test('default: one is made, used, copied to and from, paused, resumed and killed', async () => {
    const { run, home: own } = await customer(1_000_000n)
    const id = (await ok(run(['sandbox', 'create', '--tariff', 'small', '--persistent']))).stdout.trim()
    await writeFile(join(own, 'a.txt'), 'carried')
    await ok(run(['cp', join(own, 'a.txt'), `${id}:data/`]))
    const outcome = await run(['exec', id, '--', 'cat data/a.txt; exit 6'])
    expect(outcome).toMatchObject({ exitCode: 6, stdout: 'carried' })
    await ok(run(['cp', `${id}:data/a.txt`, join(own, 'b.txt')]))
    expect(await readFile(join(own, 'b.txt'), 'utf8')).toBe('carried')
    expect((await ok(run(['sandbox', 'list']))).stdout).toContain(id)
    expect((await ok(run(['metrics', id]))).stdout).toContain('processes')
    expect((await ok(run(['shell', id], { input: 'echo piped\n' }))).stdout).toBe('piped\n')

    const background = await ok(
      run(['call', 'exec_command', `sandbox_id=${id}`, 'command="echo logged; sleep 1"', 'background=true']),
    )
    expect(JSON.parse(background.stdout).task_id).toMatch(/^tsk_/)
    expect((await ok(run(['logs', id, '--follow']))).stdout).toBe('logged\n')

    const short = id.slice(0, 20)
    expect((await ok(run(['sandbox', 'pause', short]))).stdout).toContain(`${id} is paused`)
    expect(await run(['exec', id, 'true'])).toMatchObject({
      exitCode: 125,
      stderr: expect.stringContaining('coinrack sandbox resume'),
    })
    expect((await ok(run(['sandbox', 'resume', short]))).stdout).toContain('is running')
    expect((await ok(run(['sandbox', 'show', short]))).stdout).toMatch(/tariff +small/)
    expect((await ok(run(['sandbox', 'kill', short]))).stdout).toContain('is ended')
  })

  test('default: a shell on a terminal, which is as it was afterwards', async () => {
    const { env, client } = await customer(1_000_000n)
    // `script` gives it a terminal.
    const inTerminal = `stty rows 40 cols 100; ${process.execPath} ${join(import.meta.dirname, '../packages/cli/src/coinrack.ts')} shell; echo "ended $?"; stty -a | grep -o -- '-\\?echo\\b'`
    const running = startCommand(['-qec', inTerminal, '/dev/null'], {
      env: { ...env, TERM: 'xterm' },
      program: ['script'],
    })
    await expect.poll(async () => (await client.listSandboxes()).items.length, { timeout: 20_000 }).toBe(1)
    running.child.stdin!.write('tty >/dev/null && echo "a $((40 + 2)) terminal"\n')
    await running.until('a 42 terminal')
    running.child.stdin!.write('exit 9\n')
    await running.until('ended 9')
    running.child.stdin!.end()
    const { stdout } = await running.ended
    expect(stdout).toMatch(/ended 9\r\necho\r\n/)
    expect((await client.listSandboxes()).items).toEqual([])
  })

  test('error: without money none is started', async () => {
    const { run, home: own } = await customer()
    await writeFile(join(own, 'a.py'), 'print(1)')
    expect(await run(['run', join(own, 'a.py')])).toMatchObject({
      exitCode: 125,
      stderr: expect.stringContaining('"coinrack topup"'),
    })
    expect(await run(['sandbox', 'create'])).toMatchObject({ exitCode: 4 })
    expect(await run(['run', join(own, 'a.rb')])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--language'),
    })
    expect(await run(['sandbox', 'show', 'sbx'])).toMatchObject({ exitCode: 5 })
  })
})

describe('pipes and shells', () => {
  test('behavior: a reader that stops ends it, without a word', async () => {
    const { env } = await customer()
    const coinrack = `${process.execPath} ${join(import.meta.dirname, '../packages/cli/src/coinrack.ts')}`
    const piped = await runProcess(['-c', `${coinrack} plans | head -n 1; echo "\${PIPESTATUS[0]}"`], {
      env,
      program: ['bash'],
    })
    expect(piped).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^PLAN .*\n0\n$/) })
  })

  test.each(['bash', 'zsh', 'fish'])(
    'default: the completion of %s',
    async (shell) => {
      const { env, run, home: own } = await customer(20_000_000n)
      await ok(run(['order', 'nano', '--name', 'webserver', '--no-wait']))
      await ok(run(['list']))
      await mkdir(join(own, 'bin'))
      const program = join(import.meta.dirname, '../packages/cli/src/coinrack.ts')
      await writeFile(join(own, 'bin/coinrack'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, {
        mode: 0o755,
      })
      await writeFile(join(own, 'script.py'), '')
      const script = join(own, `completion.${shell}`)
      await writeFile(script, (await ok(run(['completion', shell]))).stdout)
      const words = { bash: inBash, zsh: inZsh, fish: inFish }[shell]!
      const path = `${join(own, 'bin')}:${process.env.PATH}`
      const shows = async (line: string, wanted: string) => {
        const running = startCommand(words(script, line), {
          env: { ...env, PATH: path, TERM: 'xterm' },
          input: '',
          program: [shell],
        })
        const plain = () => running.output().replace(/\u001b\[[0-9;?]*[a-zA-Z]/g, '')
        try {
          await expect.poll(plain, { timeout: 20_000 }).toContain(wanted)
        } finally {
          running.child.kill('SIGKILL')
          await running.ended
        }
      }
      await shows('coinrack topu', 'topup')
      await shows('coinrack ssh webs', 'webserver')
      await shows('coinrack metrics webserver --range 2', '24h')
      await shows(`coinrack run ${own}/scri`, 'pt.py')
    },
    90_000,
  )
})

/** The words of a shell that says what its completion of a line is. */
const inBash = (script: string, line: string) => [
  '--norc',
  '-c',
  `source ${script}
   COMP_LINE='${line}'; read -ra COMP_WORDS <<< "$COMP_LINE"; COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
   _coinrack; printf '%s\\n' "\${COMPREPLY[@]}"`,
]
/** It completes only in a terminal of its own, which `zpty` gives it. */
const inZsh = (script: string, line: string) => [
  '-fc',
  `zmodload zsh/zpty
   zpty shell zsh -f
   zpty -w shell 'PS1=; autoload -Uz compinit; compinit -u -D; source ${script}; LISTMAX=1000; echo rea""dy'
   zpty -r -m shell out '*ready*'
   zpty -w -n shell $'${line}\\t'
   while :; do zpty -rt shell out && print -rn -- "$out"; sleep 0.05; done`,
]
const inFish = (script: string, line: string) => [
  '--no-config',
  '-c',
  `source ${script}; complete --do-complete '${line}'`,
]
