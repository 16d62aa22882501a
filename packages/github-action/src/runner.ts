import { appendFileSync } from 'node:fs'

/*
 * The runner of GitHub as an action sees it: inputs and the names of files in its environment, commands on its standard output
 * (docs.github.com, "Workflow commands for GitHub Actions").
 */

export interface Runner {
  env: Record<string, string | undefined>
  stdout: { write(text: string): unknown }
}

/** An input, or its default in action.yml, which the runner fills in. @throws Error when a required one is empty */
export function input({ env }: Runner, name: string, isRequired = false): string {
  const value = (env[`INPUT_${name.replaceAll(' ', '_').toUpperCase()}`] ?? '').trim()
  if (isRequired && value === '') throw new Error(`The input ${name} is required`)
  return value
}

/** The lines of an input, without empty ones. */
export const lines = (runner: Runner, name: string): string[] =>
  input(runner, name)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** From now on the log shows stars in its place. */
export const mask = ({ stdout }: Runner, secret: string) => command(stdout, 'add-mask', secret)

/** An error that the run shows beside its log. */
export const reportError = ({ stdout }: Runner, message: string) => command(stdout, 'error', message)

export const setOutput = (runner: Runner, name: string, value: string) =>
  toFile(runner, 'GITHUB_OUTPUT', name, value)

/** Keeps a value for the end of the job. */
export const keepState = (runner: Runner, name: string, value: string) =>
  toFile(runner, 'GITHUB_STATE', name, value)

/** A value that was kept. */
export const keptState = ({ env }: Runner, name: string) => env[`STATE_${name}`] ?? ''

/**
 * Writes what a program says, in which no line can be a command to the runner.
 * @param stopToken a word that the program cannot know
 */
export async function withoutCommands<T>(
  { stdout }: Runner,
  stopToken: string,
  run: () => Promise<T>,
): Promise<T> {
  stdout.write(`::stop-commands::${stopToken}\n`)
  try {
    return await run()
  } finally {
    stdout.write(`\n::${stopToken}::\n`)
  }
}

const command = (stdout: Runner['stdout'], name: string, value: string) =>
  void stdout.write(
    `::${name}::${value.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}\n`,
  )

function toFile({ env }: Runner, variable: string, name: string, value: string): void {
  const path = env[variable]
  if (path === undefined || path === '')
    throw new Error(`${variable} is not set: this is no runner of GitHub`)
  appendFileSync(path, `${name}=${value.replaceAll(/[\r\n]+/g, ' ')}\n`)
}
