import { stripTypeScriptTypes } from 'node:module'
import { parentPort } from 'node:worker_threads'

/*
 * Takes the types out of TypeScript, one text after the other. The parser is compiled code, which customers' programs can
 * bring down for good: so it runs here, and its thread is given up after anything else than a clean answer.
 */

/** The answer to one text. */
export type Stripped = { code: string } | { refused: string } | { broken: string }

/** The errors that are about the program and not about the parser. */
const ABOUT_PROGRAM = ['ERR_INVALID_TYPESCRIPT_SYNTAX', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX']

parentPort!.on('message', (text: string) => parentPort!.postMessage(strip(text)))

function strip(text: string): Stripped {
  try {
    return { code: stripTypeScriptTypes(text, { mode: 'strip' }) }
  } catch (error) {
    const { code, message, stack } = error as Error & { code?: string }
    if (!ABOUT_PROGRAM.includes(code ?? '')) return { broken: message }
    const line = LINE.exec(stack ?? '')?.[1]
    return { refused: line === undefined ? message : `line ${line}: ${message}` }
  }
}

/** The line that Node.js puts before the error. */
const LINE = /^\S*:(\d+)\n/
