import { spawn } from 'node:child_process'

const HEARTBEAT_SECONDS = 5

/**
 * Runs a program and shows under `title` that it goes on; its own output is shown only when it fails.
 * @param {string} title
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} [env] added to the environment
 * @returns {Promise<void>}
 */
export async function runWithProgress(title, command, args, env = {}) {
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  console.log(`${title} ...`)
  const heartbeat = setInterval(() => console.log(`  ${seconds()} s`), HEARTBEAT_SECONDS * 1000)
  try {
    await run(command, args, env)
    console.log(`  done in ${seconds()} s`)
  } finally {
    clearInterval(heartbeat)
  }
}

/**
 * Runs a program to its end.
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} [env] added to the environment
 * @returns {Promise<string>} what it wrote
 */
export function run(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
    child.on('error', (error) => reject(Object.assign(error, { output })))
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(output)
      const failure = `${command} ${args.join(' ')} ended with ${signal ?? code}:\n${output.slice(0, 4000)}`
      reject(Object.assign(new Error(failure), { output }))
    })
  })
}
