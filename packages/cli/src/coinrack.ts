#!/usr/bin/env node
import { runCommandLine } from './run-command-line.ts'

/*
 * `coinrack <command>`, here as `npm run coinrack -- <command>`.
 */

const { exitCode, stdout, stderr } = await runCommandLine(process.argv.slice(2))
if (stdout) console.log(stdout)
if (stderr) console.error(stderr)
process.exitCode = exitCode
