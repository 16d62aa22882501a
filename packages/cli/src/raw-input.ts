import { StringDecoder } from 'node:string_decoder'
import type { Terminal } from './terminal.ts'

/** Hands on each key as it is typed, Ctrl-C too, until something has ended; the terminal is then as it was. */
export async function withRawInput<T>(
  { stdin }: Terminal,
  onText: (text: string) => void,
  ended: Promise<T>,
): Promise<T> {
  const decoder = new StringDecoder('utf8')
  const onData = (bytes: Buffer) => {
    const text = decoder.write(bytes)
    if (text !== '') onText(text)
  }
  stdin.setRawMode?.(true)
  stdin.on('data', onData)
  stdin.resume()
  try {
    return await ended
  } finally {
    stdin.off('data', onData)
    stdin.pause()
    stdin.setRawMode?.(false)
  }
}
