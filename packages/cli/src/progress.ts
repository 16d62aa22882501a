/** Says what happens, each line with the seconds since the start. */
export interface Progress {
  /** Something was done; `detail` says what came of it. */
  done(what: string, detail: string): void
  /** Something is under way; said once while it stays the same. */
  note(text: string): void
}

const WHAT_WIDTH = 18

/**
 * @param now milliseconds of a clock that only goes forward
 * @param write takes one line
 */
export function createProgress(now: () => number, write: (line: string) => void): Progress {
  const start = now()
  let last = ''
  const line = (mark: string, text: string) => {
    const seconds = ((now() - start) / 1000).toFixed(1)
    write(`${seconds.padStart(6)} s  ${mark} ${text}`)
  }
  return {
    done(what, detail) {
      last = ''
      line('✓', `${what.padEnd(WHAT_WIDTH)} ${detail}`)
    },
    note(text) {
      if (text !== last) line('·', text)
      last = text
    },
  }
}
