import { once } from 'node:events'
import type { Output } from './terminal.ts'

/** Writes, and waits while the reader is behind. */
export async function writeTo(output: Output, text: string): Promise<void> {
  if (text !== '' && !output.write(text)) await once(output, 'drain')
}
