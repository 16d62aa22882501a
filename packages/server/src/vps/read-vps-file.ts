import type { Handler } from '../handler.ts'
import { askForFile } from './ask-guest.ts'

export const readVpsFile: Handler<'readVpsFile'> = async ({ input, resource, services, fail }) => {
  const { path, offset, length } = input
  const { content, size } = await askForFile(resource.status, fail, () =>
    services.guests.readFile(input.service_id, path, { offset, length }),
  )
  return {
    path,
    size,
    offset,
    length: content.length,
    eof: offset + content.length >= size,
    ...inJson(content),
  }
}

function inJson(content: Uint8Array): { content: string } | { content_base64: string } {
  try {
    return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content) }
  } catch {
    return { content_base64: Buffer.from(content).toString('base64') }
  }
}
