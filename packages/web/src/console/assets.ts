import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file that a console page needs, under a name that changes with its content: it can be kept for ever. */
export interface ConsoleAsset {
  path: `/assets/${string}`
  type: string
  body: Buffer
}

/** Where the parts of the pages are. */
export interface ConsoleParts {
  style: string
  terminalStyle: string
  serialScript: string
  screenScript: string
  terminal: string
  fit: string
  screen: string
}

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
}
const endingOf = (name: string) => name.slice(name.lastIndexOf('.') + 1)
const typeOf = (name: string) => TYPES[endingOf(name)]!

/** The folder of an npm package, which holds the file that it exports one below. */
const packageOf = (name: string) => fileURLToPath(new URL('..', import.meta.resolve(name)))

function hashed(folder: string, name: string): ConsoleAsset {
  const body = readFileSync(join(folder, name))
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12)
  const base = name.slice(name.lastIndexOf('/') + 1, name.lastIndexOf('.'))
  return { path: `/assets/${base}-${hash}.${endingOf(name)}`, type: typeOf(name), body }
}

/** Modules that import each other by relative names, below a name that changes with the version. */
function versioned(name: string, folders: string[]): ConsoleAsset[] {
  const home = packageOf(name)
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string }
  return folders
    .flatMap((folder) =>
      readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(folder, file),
      ),
    )
    .filter((file) => file.endsWith('.js'))
    .map((file) => ({
      path: `/assets/${name.replace(/.*\//, '')}-${version}/${file}`,
      type: typeOf(file),
      body: readFileSync(join(home, file)),
    }))
}

const style = hashed(import.meta.dirname, 'console.css')
const serialScript = hashed(import.meta.dirname, 'serial.js')
const screenScript = hashed(import.meta.dirname, 'screen.js')
const terminal = hashed(packageOf('@xterm/xterm'), 'lib/xterm.mjs')
const terminalStyle = hashed(packageOf('@xterm/xterm'), 'css/xterm.css')
const fit = hashed(packageOf('@xterm/addon-fit'), 'lib/addon-fit.mjs')
const screen = versioned('@novnc/novnc', ['core', 'vendor'])

export const consoleAssets: ConsoleAsset[] = [
  style,
  serialScript,
  screenScript,
  terminal,
  terminalStyle,
  fit,
  ...screen,
]

export const consoleParts: ConsoleParts = {
  style: style.path,
  terminalStyle: terminalStyle.path,
  serialScript: serialScript.path,
  screenScript: screenScript.path,
  terminal: terminal.path,
  fit: fit.path,
  screen: screen.find(({ path }) => path.endsWith('/core/rfb.js'))!.path,
}
