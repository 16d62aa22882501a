#!/usr/bin/env node
import module from 'node:module'

/*
 * `coinrack <command>`, here as `npm run coinrack -- <command>`.
 */

// What is loaded next is compiled once, where Node keeps that (from 22.1 on).
module.enableCompileCache?.()

// Whatever reads the output may stop reading, as `head` does.
for (const output of [process.stdout, process.stderr])
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })

const { runCommandLine } = await import('./run-command-line.ts')
const { realTerminal } = await import('./terminal.ts')
process.exitCode = await runCommandLine(process.argv.slice(2), realTerminal())
