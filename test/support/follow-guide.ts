import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { root } from './sources.ts'

interface Step {
  command: string
  /** The lines that the guide shows below it. */
  shown: string[]
}

/**
 * Types what a guide says after `$`, one line after the other in one shell, and compares what is answered with what the guide shows. There `…`
 * stands for anything, and alone on a line for any number of lines.
 * @param options.replace what is typed in place of what stands there, asked before each line
 * @returns how many lines were typed
 */
export async function followGuide(
  path: string,
  options: { folder: string; env: Record<string, string>; replace: (line: string) => string },
): Promise<number> {
  const steps = stepsOf(await readFile(join(root, path), 'utf8'))
  const shell = spawn('bash', ['-uo', 'pipefail'], {
    cwd: options.folder,
    env: options.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  let look = () => {}
  let fail = () => {}
  shell.once('close', () => fail())
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    look()
  })
  try {
    for (const [index, { command, shown }] of steps.entries()) {
      const mark = `\u0001${index}\n`
      output = ''
      const answered = new Promise<void>((resolve, reject) => {
        look = () => output.endsWith(mark) && resolve()
        fail = () => reject(new Error(`The shell ended at: ${command}`))
      })
      shell.stdin.write(`{ ${options.replace(command)}\n} 2>&1 </dev/null; printf '\\001${index}\\n'\n`)
      await answered
      const answer = output.slice(0, -mark.length)
      expect(answer, `${command}\nanswered\n${answer}`).toMatch(patternOf(shown.map(options.replace)))
    }
    return steps.length
  } finally {
    shell.kill('SIGKILL')
  }
}

/** The steps of all blocks of the kind `console`. */
function stepsOf(text: string): Step[] {
  const steps: Step[] = []
  for (const [, block] of text.matchAll(/^```console\n([\s\S]*?)^```$/gm))
    for (const line of block!.trimEnd().split('\n')) {
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), shown: [] })
      else steps.at(-1)!.shown.push(line)
    }
  return steps
}

function patternOf(shown: string[]): RegExp {
  const lines = shown.map((line) =>
    line === '…'
      ? '(?:.*\n)*'
      : `${line
          .split('…')
          .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/ +/g, ' +'))
          .join('.*')} *\n`,
  )
  return new RegExp(`^${lines.join('')}$`)
}
