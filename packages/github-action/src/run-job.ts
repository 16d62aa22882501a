import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { type ClientOptions, createClient, formatUsd, Sandbox } from '@coinrack/sdk/index.ts'
import { input, keepState, lines, mask, type Runner, setOutput, withoutCommands } from './runner.ts'

/** Where the workspace lies in the sandbox, below the home of its user. */
const WORKSPACE = 'workspace'
const ARCHIVE = '.coinrack-workspace.tgz'
const SCRIPT = '.coinrack-job.sh'
/** As `timeout` of coreutils ends when the time was over. */
const TIMED_OUT = 124
/** Beyond the time of the commands, for the copies. */
const SPARE_S = 600

/** The state that the end of the job knows the sandbox by. */
export const SANDBOX = 'sandbox'

/** The service and the token of the inputs; the log shows the token nowhere. */
export function serviceOf(runner: Runner): ClientOptions {
  const token = input(runner, 'token', true)
  mask(runner, token)
  return { url: input(runner, 'url', true), token }
}

/**
 * Does what the action is for: a sandbox, the workspace in it, the commands, and what they made back.
 * @param runner.stderr where the commands write what they write there
 * @returns the exit code of the commands
 */
export async function runJob(
  runner: Runner & { stderr: { write(text: string): unknown } },
  workspace: string,
): Promise<number> {
  const service = serviceOf(runner)
  const seconds = Number(input(runner, 'timeout'))
  if (!Number.isInteger(seconds) || seconds < 1) throw new Error('The input timeout is a number of seconds')
  const script = input(runner, 'run', true)
  const sandbox = await Sandbox.create(service, {
    template: input(runner, 'template'),
    tariff: input(runner, 'tariff') as 'standard',
    timeout: seconds + SPARE_S,
    idle_timeout: 0,
    ...(input(runner, 'network') === 'none' && { network: { allow_internet: false } }),
  })
  keepState(runner, SANDBOX, sandbox.id)
  setOutput(runner, 'sandbox-id', sandbox.id)
  await sandbox.exec(`mkdir -p ${WORKSPACE}`)
  if (input(runner, 'upload') !== 'false') await upload(sandbox, workspace)
  await sandbox.files.write(SCRIPT, `${script}\n`)
  const ended = await withoutCommands(runner, randomBytes(16).toString('hex'), () =>
    sandbox.exec(`cd ${WORKSPACE} && exec bash -eo pipefail ../${SCRIPT}`, {
      timeout: seconds,
      env: { CI: 'true', ...variables(lines(runner, 'env')) },
      onStdout: (text) => void runner.stdout.write(text),
      onStderr: (text) => void runner.stderr.write(text),
    }),
  )
  await download(sandbox, workspace, lines(runner, 'download'))
  const exitCode = ended.timed_out ? TIMED_OUT : (ended.exit_code ?? 1)
  const { cost } = await createClient(service).getSandbox({ sandbox_id: sandbox.id })
  setOutput(runner, 'exit-code', String(exitCode))
  setOutput(runner, 'cost', formatUsd(cost))
  return exitCode
}

function variables(texts: string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=')
      if (at < 1) throw new Error(`"${text}" in the input env is no NAME=VALUE`)
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}

/** As one archive, for a workspace has many small files. */
async function upload(sandbox: Sandbox, workspace: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-action-'))
  try {
    const archive = join(folder, 'workspace.tgz')
    await tar(['-czf', archive, '--exclude=./.git', '-C', workspace, '.'])
    const content = Readable.toWeb(createReadStream(archive)) as ReadableStream<Uint8Array>
    await sandbox.files.write(ARCHIVE, content)
    await done(sandbox, `tar -xzf ${ARCHIVE} -C ${WORKSPACE} --no-same-owner && rm ${ARCHIVE}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The sandbox may have put anything into the archive: tar keeps to the workspace, and follows no link out of it. */
async function download(sandbox: Sandbox, workspace: string, paths: string[]): Promise<void> {
  if (paths.length === 0) return
  const words = paths.map((path) => `'${path.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  await done(sandbox, `tar -czf ${ARCHIVE} -C ${WORKSPACE} -- ${words}`)
  const content = await sandbox.files.stream(ARCHIVE)
  await tar(
    ['-xzf', '-', '-C', workspace, '--no-same-owner', '--no-overwrite-dir'],
    Readable.fromWeb(content as NodeReadableStream),
  )
}

async function done(sandbox: Sandbox, command: string): Promise<void> {
  const { exit_code, stderr } = await sandbox.exec(command, { timeout: SPARE_S })
  if (exit_code !== 0) throw new Error(`In the sandbox, "${command}" failed: ${stderr.trim()}`)
}

/** Runs the runner's tar. */
async function tar(words: string[], stdin?: Readable): Promise<void> {
  const child = spawn('tar', words, { stdio: ['pipe', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`tar failed: ${said.trim()}`))))
  })
  if (stdin) await Promise.all([ended, pipeline(stdin, child.stdin)])
  else {
    child.stdin.end()
    await ended
  }
}
