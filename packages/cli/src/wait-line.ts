import { hasColours, type Terminal } from './terminal.ts'

/** Says on standard error how far something is: on a terminal in one line that counts the seconds, elsewhere in a line for each change. */
export interface WaitLine {
  note(text: string): void
  /** Takes the line away, or says what came of it. */
  end(text?: string): void
}

const TICK_MS = 1000
const CLEAR = '\r\u001b[K'

/** @param isQuiet says nothing, as with `--json` */
export function createWaitLine(terminal: Terminal, what: string, isQuiet: boolean): WaitLine {
  const { stderr, now } = terminal
  const isLive = stderr.isTTY === true && terminal.env.TERM !== 'dumb'
  const begun = now()
  const seconds = () => `${Math.round((now() - begun) / 1000)} s`
  let last: string | undefined
  if (isQuiet) return { note() {}, end() {} }
  const draw = () =>
    void stderr.write(`${CLEAR}${fit(`${what}: ${last ?? '…'} (${seconds()})`, stderr.columns)}`)
  const timer = isLive ? setInterval(draw, TICK_MS) : undefined
  if (isLive) draw()
  return {
    note(text) {
      if (text === last) return
      last = text
      if (isLive) draw()
      else stderr.write(`${what}: ${text} (${seconds()})\n`)
    },
    end(text) {
      clearInterval(timer)
      if (isLive) stderr.write(CLEAR)
      if (text === undefined) return
      const mark = hasColours(terminal, stderr) ? '\u001b[32m✓\u001b[0m ' : ''
      stderr.write(`${mark}${text} (${seconds()})\n`)
    },
  }
}

/** What is longer than the terminal is wide would stay behind, line by line. */
const fit = (text: string, columns = 80) => (text.length < columns ? text : `${text.slice(0, columns - 2)}…`)
